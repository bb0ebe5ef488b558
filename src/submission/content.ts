import { dateTime } from '../mail/compose.ts'
import { packContent } from '../mail/content.ts'
import { packMime } from '../mail/mime-content.ts'
import { fixContent, messageIdOf } from './draft.ts'
import type { Recipient } from './recipients.ts'
import type { FinishedMail, SubmissionRequest } from './request.ts'
import { requireSize, requireWhole } from './requirements.ts'

/** What is stored of a request, and what its record says of it. */
export interface StoredContent {
  /** As mail/content.ts or mail/mime-content.ts packs it. */
  packed: Uint8Array
  /** As handed in, with the fields that were missing. */
  sizeBytes: number
  /** With its angle brackets. */
  messageId: string
  /** Null = there is none; absent for an author's finished mail, which has to be read for it. */
  html?: string | null
}

/** Message id and request → the mail as it is kept, fields to be composed or what the author finished. Refuses with
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

/** RFC 6409 §8.2, §8.3: the two fields a submission server may add. */
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
