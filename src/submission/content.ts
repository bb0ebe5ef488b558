import { dateTime } from '../mail/compose.ts'
import { packContent } from '../mail/content.ts'
import { packMime } from '../mail/mime-content.ts'
import { fixContent, messageIdOf } from './draft.ts'
import type { Recipient } from './recipients.ts'
import type { FinishedMail, SubmissionRequest } from './request.ts'
import { requireSize, requireWhole } from './requirements.ts'

/** The stored form of a request and the facts for its record. */
export interface StoredContent {
  /** Packed by mail/content.ts or mail/mime-content.ts. */
  packed: Uint8Array
  /** As submitted, plus added fields. */
  sizeBytes: number
  /** With angle brackets. */
  messageId: string
  /** Null if there is none; undefined for a finished mail, which must be parsed for it. */
  html?: string | null
}

/** Message id and request → the stored mail: fields to compose, or the finished mail. Refuses with
 *  payload_too_large. */
export function storedContent(
  id: string,
  request: SubmissionRequest,
  recipients: Recipient[],
  settings: { messageBytes: number },
  now: number,
): StoredContent {
  if (request.mime !== null) return finishedContent(id, request.mime, request.from.mailbox.domain, settings, now)
  const content = fixContent(id, request, recipients, now)
  const sizeBytes = requireSize(content, settings)
  return { packed: packContent(content), sizeBytes, messageId: content.messageId, html: content.html }
}

/** The two fields that a submission server may add. RFC 6409 §8.2, §8.3 */
function finishedContent(
  id: string,
  mime: FinishedMail,
  domain: string,
  settings: { messageBytes: number },
  now: number,
): StoredContent {
  const messageId = mime.messageId ?? messageIdOf(id, domain)
  const date = mime.hasDate ? '' : `Date: ${dateTime(now)}\r\n`
  const missing = date + (mime.messageId === null ? `Message-ID: ${messageId}\r\n` : '')
  const bytes = missing === '' ? mime.bytes : Buffer.concat([Buffer.from(missing), mime.bytes])
  const sizeBytes = requireWhole(bytes.byteLength, settings)
  return { packed: packMime(bytes), sizeBytes, messageId }
}
