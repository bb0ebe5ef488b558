import type { ParsedMail } from '../../mail/inbound-content.ts'
import { isLikeReplyAddress } from '../../mail/reply-address.ts'
import { iso } from '../../model/event.ts'
import type { AnsweredMessage, InboundMessage } from '../../model/inbound-message.ts'

/** An inbound mail to post, as the store has it. */
export interface InboundPost {
  message: InboundMessage
  replies: ReplyFields
  /** Packed by mail/inbound-content.ts, as is `raw`. */
  parsed: Uint8Array
  /** The mail with its attachments. `absent`: the route does not request them. `unreadable`: reading them failed. */
  raw: Uint8Array | 'absent' | 'unreadable'
}

/** The message that the mail answers; `left_out`: the route does not want the fields about replies. */
export type ReplyFields = { answered: AnsweredMessage | null } | 'left_out'

/** Makes the body of a post outside the main thread: `inboundBody`, alone in its buffer or nearly so. Resolves with
 *  null if its attachments cannot be read, or if the readers stop. Rejects if the stored mail is damaged, or if no
 *  reader starts. */
export type MakeInboundBody = (post: InboundPost) => Promise<Uint8Array | null>

/** Inbound mail → the JSON for its route's endpoint in UTF-8: flat, without an envelope, in the order of the
 *  documentation. The same mail gives the same bytes at every attempt, as long as the route's settings stay the same.
 *
 *  `contents`: null if the route does not request attachments; then `attachments_data` is absent. Otherwise the bytes
 *  of each attachment, in order. If their number differs, they could not be read: `attachments_data` is then an
 *  empty array, `attachments` still lists them, and the raw mail contains everything (`GET …/raw`).
 *
 *  The fields about replies come last.
 *
 *  `from` and `message_id` are empty if the mail has none, as are `text_body` and `html_body`. Never throws. */
export function inboundBody(
  message: InboundMessage,
  parsed: ParsedMail,
  contents: readonly Uint8Array[] | null,
  replies: ReplyFields,
): Uint8Array<ArrayBuffer> {
  const { verdicts } = message
  const start = JSON.stringify({
    event: 'inbound',
    timestamp: iso(message.receivedAt),
    from: message.from,
    to: message.to,
    subject: message.subject,
    message_id: message.messageIdHeader,
    text_body: parsed.textBody,
    html_body: parsed.htmlBody,
    headers: parsed.headers,
    attachments: attachmentList(parsed),
  })
  const end = JSON.stringify({
    spf_result: verdicts.spf,
    dkim_result: verdicts.dkim,
    dmarc_result: verdicts.dmarc,
    sender_ip: message.senderIp,
    ...(replies !== 'left_out' && replyFields(message, parsed, replies.answered)),
  })
  const data = contents === null ? [] : [',"attachments_data":[', ...attachmentsData(parsed, contents), ']']
  return joined([start.slice(0, -1), ...data, `,${end.slice(1)}`])
}

/** What a post and a record say about an answer. A message that was erased or removed is null. The mail was read once for
 *  all its recipients: that another organization got it at a reply address is nothing that this one may see. */
export function replyFields(
  { autoSubmitted, to }: Pick<InboundMessage, 'autoSubmitted' | 'to'>,
  parsed: Pick<ParsedMail, 'replyText' | 'replyHtml' | 'headers'> | null,
  answered: AnsweredMessage | null,
) {
  const namesAnother = parsed !== null && NAMES_OF_OTHERS.some((name) => parsed.headers[name]?.includes('<'))
  const reply = namesAnother || to.some(isLikeReplyAddress) ? parsed : null
  return {
    reply_text: reply?.replyText ?? null,
    reply_html: reply?.replyHtml ?? null,
    in_reply_to: answered && {
      message_id: answered.id,
      to: answered.to,
      subject: answered.subject,
      tags: answered.tags,
      metadata: answered.metadata,
      sent_at: iso(answered.sentAt),
    },
    auto_submitted: autoSubmitted,
  }
}

/** Header fields that name the mails that a mail answers. */
const NAMES_OF_OTHERS = ['in-reply-to', 'references']

/** Attachments of a mail without their content, as the webhook of a route gets them. `size` is in bytes, decoded. */
export function attachmentList({ attachments }: ParsedMail) {
  return attachments.map(({ filename, contentType, sizeBytes }) => ({
    filename,
    content_type: contentType,
    size: sizeBytes,
  }))
}

/** A part of the JSON: text, or bytes to insert in base64. */
type Piece = string | Uint8Array

/** The entries of `attachments_data`, each an object with `filename`, `content_type` and `content`. */
function attachmentsData({ attachments }: ParsedMail, contents: readonly Uint8Array[]): Piece[] {
  if (contents.length !== attachments.length) return []
  return attachments.flatMap(({ filename, contentType }, at): Piece[] => {
    const head = JSON.stringify({ filename, content_type: contentType }).slice(0, -1)
    return [`${at === 0 ? '' : ','}${head},"content":"`, contents[at]!, '"}'] // as many as attachments
  })
}

/** One buffer of the exact size, filled piece by piece: as one string, a large mail would be in memory several times. */
function joined(pieces: readonly Piece[]): Uint8Array<ArrayBuffer> {
  const sizeBytes = pieces.reduce((sum, piece) => sum + sizeOf(piece), 0)
  const whole = Buffer.from(new ArrayBuffer(sizeBytes))
  let at = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') at += whole.write(piece, at)
    else at = writeBase64(piece, whole, at)
  }
  return whole
}

function writeBase64({ buffer, byteOffset, byteLength }: Uint8Array, whole: Buffer, start: number): number {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  let at = start
  for (let from = 0; from < byteLength; from += SLICE_BYTES) {
    at += whole.write(bytes.toString('base64', from, Math.min(from + SLICE_BYTES, byteLength)), at, 'latin1')
  }
  return at
}

const sizeOf = (piece: Piece) =>
  typeof piece === 'string' ? Buffer.byteLength(piece) : Math.ceil(piece.byteLength / 3) * 4

/** A multiple of three, so that only the last slice has padding. RFC 4648 §4 */
const SLICE_BYTES = 3 * 2 ** 18
