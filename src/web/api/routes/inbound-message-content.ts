import { attachmentList, replyFields } from '../../../events/webhooks/inbound-payload.ts'
import { type ParsedMail, unpackParsed } from '../../../mail/inbound-content.ts'
import type { AnsweredMessage, InboundMessage } from '../../../model/inbound-message.ts'

/** What the record of a single inbound message has beside the content of the mail. */
export interface InboundFacts {
  /** The fields of lists (inboundRecord). */
  record: Readonly<Record<string, unknown>>
  message: Pick<InboundMessage, 'autoSubmitted' | 'to'>
  /** The message that it answers, if the caller may read it. */
  answered: AnsweredMessage | null
}

/** Returns the JSON of wholeInboundRecord for `owner` in UTF-8, made in a separate thread where available: strangers send
 *  25 MB of text. Rejects on damaged content. */
export type MakeInboundRecord = (packed: Uint8Array, facts: InboundFacts, owner: string) => Promise<Uint8Array>

/** Facts and parsed mail, packed by mail/inbound-content.ts → the record of a single message. Null, after the retention
 *  period: all fields of the content are null. Throws on damaged content. */
export function wholeInboundRecord({ record, message, answered }: InboundFacts, packed: Uint8Array | null) {
  const parsed = packed === null ? null : unpackParsed(packed)
  return { ...record, ...inboundContent(parsed), ...replyFields(message, parsed, answered) }
}

/** Fields named as in the webhook payload. */
function inboundContent(parsed: ParsedMail | null) {
  return {
    text_body: parsed?.textBody ?? null,
    html_body: parsed?.htmlBody ?? null,
    headers: parsed?.headers ?? null,
    attachments: parsed === null ? null : identified(parsed),
  }
}

function identified(parsed: ParsedMail) {
  return attachmentList(parsed).map((each, at) => ({ ...each, content_id: parsed.attachments[at]?.contentId ?? null }))
}
