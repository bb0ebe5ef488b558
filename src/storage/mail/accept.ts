import { queueOf } from '../../model/delivery.ts'
import { acceptedEvent } from '../../model/on-demand-event.ts'
import { messageStoredBytes } from '../../model/stored-bytes.ts'
import { type Suppression, suppressionKey } from '../../model/suppression.ts'
import { createSenderAddress, packRecipients } from '../message-rows.ts'
import type { Work } from '../sql.ts'
import type { AcceptedMessage, NewDelivery, Remember } from '../store.ts'
import { ADD_ATTEMPTS, type NewAttempt } from './attempts.ts'
import { firstPart, isLong, ownAll } from './contents.ts'
import { insertInto, writeAll, writing } from './each.ts'
import { appendAll, isNamed, type NewEvent } from './events.ts'
import type { MailInside, NewText } from './inside.ts'
import { type Acceptance, isLimited, needsOf, type Refusal, readLimits } from './limits.ts'
import { forgetAll, rememberAll } from './remember.ts'
import { suppressAll } from './suppress.ts'

/** `repeated`: another request with the same idempotency key was first. */
export type Accepted = { kind: 'accepted' } | { kind: 'repeated' } | Refusal

interface MessageRow {
  number: number
  message: AcceptedMessage['message']
  metadata: string
  storedBytes: number
}

const senderAddressOf = createSenderAddress()

const addMessages = insertInto<MessageRow>('messages', {
  number: ['bigint', ({ number }) => number],
  id: ['text', ({ message }) => message.id],
  organization_id: ['text', ({ message }) => message.organizationId],
  domain_id: ['text', ({ message }) => message.domainId],
  key_id: ['text', ({ message }) => message.keyId],
  mode: ['text', ({ message }) => message.mode],
  source: ['text', ({ message }) => message.source],
  status: ['text', ({ message }) => message.status],
  sender: ['text', ({ message }) => message.from],
  sender_address: ['text', ({ message }) => senderAddressOf(message.from)],
  recipients: ['text', ({ message }) => packRecipients(message)],
  subject: ['text', ({ message }) => message.subject],
  tags: ['text', ({ message }) => JSON.stringify(message.tags)],
  metadata: ['text', ({ metadata }) => metadata],
  template_id: ['text', ({ message }) => message.templateId],
  size_bytes: ['bigint', ({ message }) => message.sizeBytes],
  message_id_header: ['text', ({ message }) => message.messageIdHeader],
  created_at: ['bigint', ({ message }) => message.createdAt],
  scheduled_at: ['bigint', ({ message }) => message.scheduledAt],
  expires_at: ['bigint', ({ message }) => message.expiresAt],
  require_tls: ['boolean', ({ message }) => message.requireTls],
  unsubscribe: ['boolean', ({ message }) => message.unsubscribe],
  track_opens: ['boolean', ({ message }) => message.trackOpens],
  track_clicks: ['boolean', ({ message }) => message.trackClicks],
  stored_bytes: ['bigint', ({ storedBytes }) => storedBytes],
  stream: ['text', ({ message }) => message.stream],
})
const addContents = insertInto<{ number: number; content: Uint8Array }>('message_contents', {
  message_number: ['bigint', ({ number }) => number],
  content: ['bytea', ({ content }) => firstPart(content)],
})
const addTags = insertInto<{ organizationId: string; tag: string; number: number }>(
  'message_tags',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    tag: ['text', ({ tag }) => tag],
    message_number: ['bigint', ({ number }) => number],
  },
  'on conflict do nothing',
)
const addRedactions = insertInto<{ number: number; afterMs: number; dueAt: number }>('content_redactions', {
  message_number: ['bigint', ({ number }) => number],
  after_ms: ['bigint', ({ afterMs }) => afterMs],
  due_at: ['bigint', ({ dueAt }) => dueAt],
})

interface DeliveryRow {
  number: number
  messageNumber: number
  part: NewDelivery
  queue: string
}

const addDeliveries = insertInto<DeliveryRow>('deliveries', {
  number: ['bigint', ({ number }) => number],
  id: ['text', ({ part }) => part.id],
  message_number: ['bigint', ({ messageNumber }) => messageNumber],
  position: ['int', ({ part }) => part.position],
  email: ['text', ({ part }) => part.email],
  address: ['text', ({ part }) => suppressionKey(part.email)],
  type: ['text', ({ part }) => part.type],
  queue: ['text', ({ queue }) => queue],
  status: ['text', ({ part }) => part.status],
  attempts: ['int', ({ part }) => part.attempts],
  last_attempt_at: ['bigint', ({ part }) => part.lastAttemptAt],
  next_attempt_at: ['bigint', ({ part }) => part.nextAttemptAt],
  delivered_at: ['bigint', ({ part }) => part.deliveredAt],
  smtp_response: ['text', ({ part }) => part.smtpResponse],
  bounce_type: ['text', ({ part }) => part.bounceType],
  bounce_code: ['text', ({ part }) => part.bounceCode],
  opens: ['int', ({ part }) => part.opens],
  clicks: ['int', ({ part }) => part.clicks],
})

/** Writes accepted messages with everything that belongs to them → the answer to each call, in order. */
export function* acceptAll(inside: MailInside, calls: readonly Acceptance[]): Work<Accepted[]> {
  // A mail that is accepted alone pays for each step, also for one that does nothing.
  const refusalOf = calls.some((call) => isLimited(inside, call)) ? yield* readLimits(inside, calls) : null
  const records: Remember[] = []
  for (const { record } of calls) if (record !== undefined) records.push(record)
  const remembered = records.length === 0 ? NONE : yield* rememberAll(inside, records)
  const refused: Remember[] = []
  const taken: AcceptedMessage[] = []
  const answers = calls.map((call): Accepted => {
    const { accepted, volume, record } = call
    // Deleted: a second call with the same record is a repeated one.
    if (record !== undefined && !remembered.delete(record)) return { kind: 'repeated' }
    const refusal = refusalOf === null ? null : refusalOf(call)
    if (refusal !== null) {
      if (record !== undefined) refused.push(record)
      return refusal
    }
    const { organizationId, month, count } = volume
    if (count > 0) inside.use(organizationId, 'volume', count, month)
    const { tests } = needsOf(accepted)
    if (tests > 0) inside.use(organizationId, 'test_messages', tests, month)
    for (const each of accepted) taken.push(each)
    return { kind: 'accepted' }
  })
  if (refused.length > 0) yield* forgetAll(inside, refused) // this work wrote them
  yield* addAll(inside, taken)
  return answers
}

const NONE = new Set<Remember>()

/** Writes messages that no limit is asked about, or that passed them. */
export function* addAll(inside: MailInside, taken: readonly AcceptedMessage[]): Work<void> {
  const messages: MessageRow[] = []
  const texts: NewText[] = []
  const contents: { number: number; content: Uint8Array }[] = []
  const deliveries: DeliveryRow[] = []
  const tags: { organizationId: string; tag: string; number: number }[] = []
  const redactions: { number: number; afterMs: number; dueAt: number }[] = []
  const attempts: NewAttempt[] = []
  const events: NewEvent[] = []
  const suppressions: Suppression[] = []
  for (const accepted of taken) {
    const { message, content, deliveries: parts, redactAfterMs: afterMs } = accepted
    const { organizationId } = message
    const isAcceptanceNamed = isNamed(inside, organizationId, 'message.accepted')
    const metadata = JSON.stringify(message.metadata)
    const storedBytes = messageStoredBytes(
      message.sizeBytes,
      parts.length,
      metadata,
      message.subject,
      isAcceptanceNamed ? 2 : 1,
    )
    const number = inside.next('messages')
    messages.push({ number, message, metadata, storedBytes })
    if (inside.words !== null) texts.push({ number, message, emails: parts.map(({ email }) => email) })
    contents.push({ number, content })
    inside.stored('messages', number, organizationId, storedBytes)
    if (message.status === 'scheduled') inside.use(organizationId, 'scheduled_messages', 1, '')
    for (const tag of message.tags) tags.push({ organizationId, tag, number })
    if (afterMs !== undefined)
      redactions.push({ number, afterMs, dueAt: (message.scheduledAt ?? message.createdAt) + afterMs })
    const sender = { stream: message.stream, pool: accepted.pool, domain: accepted.relayedDomain }
    for (const part of parts) {
      const queue = queueOf(part.destination, organizationId, sender)
      const deliveryNumber = inside.next('deliveries')
      deliveries.push({ number: deliveryNumber, messageNumber: number, part, queue })
      if (part.nextAttemptAt !== null) inside.offer('deliveries', queue, part.nextAttemptAt)
      for (const { deliveryId, attempt } of accepted.attempts)
        if (deliveryId === part.id) attempts.push({ deliveryNumber, attempt })
    }
    inside.counts.accepted(message, parts)
    if (isAcceptanceNamed) for (const part of parts) events.push({ offered: acceptedEvent(message, part) })
    const how = { templateId: message.templateId }
    for (const event of accepted.events) events.push({ event, how })
    for (const suppression of accepted.suppressions) suppressions.push(suppression)
  }
  yield* writeAll(
    writing(addMessages, messages),
    writing(addContents, contents),
    writing(addDeliveries, deliveries),
    writing(addTags, tags),
    writing(addRedactions, redactions),
    writing(ADD_ATTEMPTS, attempts),
  )
  if (inside.words !== null) yield* inside.words.add(texts, inside.afterCommit)
  if (contents.some(isLong)) yield* ownAll(inside, 'content', contents)
  if (events.length > 0) yield* appendAll(inside, events)
  if (suppressions.length > 0) yield* suppressAll(inside, suppressions)
}
