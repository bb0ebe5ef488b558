import type { ParsedMail } from '../mail/inbound-content.ts'
import { iso } from '../model/event.ts'
import type { InboundMessage } from '../model/inbound-message.ts'

/** A mail that came in → the JSON that its route's endpoint is posted: flat, without an envelope, in the order of the
 *  document. The same mail gives the same bytes at every attempt, as long as the route asks for the same.
 *
 *  `contents`: null when the route does not ask for attachments, and `attachments_data` is not there then. Else base64
 *  of each attachment, in their order. Anything but one for each means that they could not be read: `attachments_data`
 *  is an empty array then, `attachments` still tells what came, and the raw mail has it all (`GET …/raw`).
 *
 *  `from` and `message_id` are empty when the mail has none, and so are `text_body` and `html_body`. Throws nothing. */
export function inboundPayload(
  message: InboundMessage,
  parsed: ParsedMail,
  contents: readonly string[] | null,
): string {
  const { verdicts } = message
  return JSON.stringify({
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
    ...(contents === null ? {} : { attachments_data: attachmentContents(parsed, contents) }),
    spf_result: verdicts.spf,
    dkim_result: verdicts.dkim,
    dmarc_result: verdicts.dmarc,
    sender_ip: message.senderIp,
  })
}

/** What a mail brought along, without the content. `size` is in bytes, decoded. */
export function attachmentList({ attachments }: ParsedMail) {
  return attachments.map(({ filename, contentType, sizeBytes }) => ({
    filename,
    content_type: contentType,
    size: sizeBytes,
  }))
}

function attachmentContents({ attachments }: ParsedMail, contents: readonly string[]) {
  if (contents.length !== attachments.length) return []
  return attachments.map(({ filename, contentType }, at) => ({
    filename,
    content_type: contentType,
    content: contents[at],
  }))
}
