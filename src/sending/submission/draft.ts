import { dateTime } from '../../mail/compose.ts'
import { type MailContent, packContent } from '../../mail/content.ts'
import { packMime } from '../../mail/mime-content.ts'
import { type RecipientType, SANDBOX, UNTRIED } from '../../model/delivery.ts'
import type { Domain } from '../../model/domain.ts'
import { type Event, messageEvent, suppressedEvent } from '../../model/event.ts'
import { type DeliveryStatus, type Message, type ReplyRoute, senderFieldsOf } from '../../model/message.ts'
import type { MintId } from '../../os/ids.ts'
import type { NewDelivery, SuppressedAddresses } from '../../storage/store.ts'
import { MAX_EXPIRES_SECONDS } from './checks.ts'
import type { Recipient } from './recipients.ts'
import type { Author, FinishedMail, SubmissionRequest } from './request.ts'
import { requireSize, requireWhole } from './requirements.ts'

/** A permitted request → its stored mail and its records. All functions are pure except for ids. */

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

/** Message id and request → the mail, with everything variable fixed (Date, Message-ID, boundaries, derived text), so
 *  that every attempt gives the same bytes. Scheduled mail carries its due date. */
export function fixContent(id: string, request: SubmissionRequest, recipients: Recipient[], now: number): MailContent {
  const ofType = (type: RecipientType) => recipients.filter((each) => each.type === type).map((each) => each.mailbox)
  const { from, html } = request
  return {
    from: from.mailbox,
    to: ofType('to'),
    cc: ofType('cc'),
    replyTo: request.replyTo?.mailboxes ?? [],
    subject: request.subject,
    dateAt: futureOf(request, now) ?? now,
    messageId: messageIdOf(id, from.mailbox.domain),
    html,
    text: request.text,
    headers: request.headers,
    attachments: request.attachments,
    boundarySeed: id,
  }
}

/** Message id and author domain → Message-ID. RFC 5322 §3.6.4 */
export function messageIdOf(id: string, domain: string): string {
  return `<${id.slice('msg_'.length)}@${domain}>`
}

/** What decides about a message beside its request: tracking of the sending domain, `unsubscribe` of the stream, and where
 *  answers go. */
interface MessageSettings extends Pick<Domain, 'tracking'> {
  unsubscribe: boolean
  replies: ReplyRoute | null
}

/** Author, request, stored content and settings → the message record. */
export function describe(
  id: string,
  author: Author,
  request: SubmissionRequest,
  { messageId, sizeBytes }: { messageId: string; sizeBytes: number },
  { tracking, unsubscribe, replies }: MessageSettings,
  now: number,
): Message {
  const scheduledAt = futureOf(request, now)
  const expiresInSeconds = request.expiresInSeconds && Math.min(request.expiresInSeconds, MAX_EXPIRES_SECONDS)
  return {
    id,
    organizationId: author.key.organizationId,
    domainId: author.key.domainId,
    keyId: author.key.id,
    mode: author.key.mode,
    source: author.source,
    ...senderFieldsOf(request),
    status: scheduledAt === null ? 'queued' : 'scheduled',
    from: request.from.asSent,
    to: request.to.asSent,
    cc: request.cc?.asSent ?? null,
    bcc: request.bcc?.asSent ?? null,
    replyTo: request.replyTo?.asSent ?? null,
    replies,
    subject: request.subject,
    templateId: request.template !== null && 'id' in request.template ? request.template.id : null,
    sizeBytes,
    messageIdHeader: messageId,
    createdAt: now,
    scheduledAt,
    expiresAt: expiresInSeconds === null ? null : (scheduledAt ?? now) + expiresInSeconds * 1000,
    unsubscribe: request.unsubscribe ?? (unsubscribe || tracking.unsubscribe),
    trackOpens: request.trackOpens ?? tracking.opens,
    trackClicks: request.trackClicks ?? tracking.clicks,
  }
}

/** Message and recipients → one delivery each, in order, due with the message; suppressed ones are never due. */
export function plannedDeliveries(
  message: Message,
  recipients: readonly Recipient[],
  suppressed: SuppressedAddresses,
  mintId: MintId,
): NewDelivery[] {
  const dueAt = message.scheduledAt ?? message.createdAt
  const open: DeliveryStatus = message.scheduledAt === null ? 'queued' : 'scheduled'
  return recipients.map(({ mailbox, type, folded }, position): NewDelivery => {
    const isSuppressed = suppressed.has(folded)
    return {
      ...UNTRIED,
      id: mintId('dlv'),
      position,
      email: mailbox.address,
      type,
      destination: message.mode === 'test' ? SANDBOX : mailbox.domain,
      status: isSuppressed ? 'suppressed' : open,
      nextAttemptAt: isSuppressed ? null : dueAt,
    }
  })
}

/** Message and its suppressed recipients → one event for each of them, at the time of acceptance, in order. */
export function suppressedEvents(
  message: Message,
  recipients: readonly Recipient[],
  suppressed: SuppressedAddresses,
  mintId: MintId,
): Event[] {
  if (suppressed.size === 0) return []
  const at = message.createdAt
  const found = recipients.flatMap(({ mailbox, folded }) => {
    const why = suppressed.get(folded)
    return why === undefined ? [] : [{ to: mailbox.address, ...suppressedEvent(at, why) }]
  })
  // Ids of one millisecond are unordered; sorting keeps the events in order for clients that sort by id.
  const ids = found.map(() => mintId('evt')).sort()
  return found.map(({ type, to, fields }, i) => messageEvent(ids[i]!, type, message, to, at, fields))
}

/** The scheduled time, if it is in the future. */
function futureOf({ scheduledAt }: SubmissionRequest, now: number): number | null {
  return scheduledAt !== null && scheduledAt > now ? scheduledAt : null
}
