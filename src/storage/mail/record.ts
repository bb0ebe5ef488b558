import type { Event } from '../../model/event.ts'
import { type DeliveryStatus, type Message, messageStatus } from '../../model/message.ts'
import type { Suppression } from '../../model/suppression.ts'
import { tlsOf } from '../message-rows.ts'
import type { HeldClaim } from '../roles/claims.ts'
import type { DeliveryRecord } from '../roles/deliveries.ts'
import type { Work } from '../sql.ts'
import { ADD_ATTEMPTS, HAS_HOST, hostIn, type NewAttempt } from './attempts.ts'
import { each, forEach, writeAll, writeEach, writing } from './each.ts'
import { appendAll, type NewEvent } from './events.ts'
import type { MailInside } from './inside.ts'
import { IS_ONLY_RECIPIENT } from './rows.ts'
import { suppressAll } from './suppress.ts'
import { NUMBER } from './take.ts'

interface HeldRow {
  /** Of the claim in the list. */
  place: number
  number: number
  messageNumber: number
  queue: string
  before: DeliveryStatus
  isOnlyRecipient: boolean
  /** Host of the last attempt; null if it found none. */
  lastHost: string | null
  /** Then the newest attempt that found one (attempts.ts). */
  earlierFacts: string | null
}

// Locked in the order of IDs, as everybody who locks several.
const HELD = each<{ place: number; claim: HeldClaim }, HeldRow>(
  {
    place: ['int', ({ place }) => place],
    id: ['text', ({ claim }) => claim.id],
    worker: ['text', ({ claim }) => claim.worker],
    attempt: ['int', ({ claim }) => claim.attempt],
  },
  `select r.place as place, d.number::float8 as number, d.message_number::float8 as "messageNumber", d.queue,
    d.status as before, d.mx_host as "lastHost", case when d.mx_host is null and d.attempts > 1 then (
      select a.facts from attempts a where a.delivery_number = d.number and ${HAS_HOST}
      order by a.number desc limit 1) end as "earlierFacts", ${IS_ONLY_RECIPIENT}
  from rows r, deliveries d where d.id = r.id and d.worker = r.worker and d.attempts = r.attempt
  order by d.id for update of d`,
)

interface Settled {
  number: number
  record: DeliveryRecord
}

const SETTLE = each<Settled>(
  {
    number: ['bigint', ({ number }) => number],
    status: ['text', ({ record }) => record.status],
    next_attempt_at: ['bigint', ({ record }) => record.nextAttemptAt],
    delivered_at: ['bigint', ({ record }) => (record.status === 'delivered' ? record.now : null)],
    smtp_response: ['text', ({ record }) => record.smtpResponse],
    bounce_type: ['text', ({ record: { outcome } }) => (outcome.kind === 'bounced' ? outcome.bounceType : null)],
    bounce_code: ['text', ({ record: { outcome } }) => (outcome.kind === 'bounced' ? outcome.code : null)],
    mx_host: ['text', ({ record }) => record.attempt.mxHost],
    tls: ['text', ({ record }) => tlsOf(record.attempt)],
    reported: ['int', ({ record }) => Number(record.isSoftBounceReported)],
    opens: ['int', ({ record }) => record.opens ?? 0],
    clicks: ['int', ({ record }) => record.clicks ?? 0],
  },
  `update deliveries as d set status = r.status, worker = null, next_attempt_at = r.next_attempt_at,
    delivered_at = r.delivered_at, smtp_response = r.smtp_response, bounce_type = r.bounce_type,
    bounce_code = r.bounce_code, mx_host = r.mx_host, tls = r.tls,
    soft_bounce_told = greatest(soft_bounce_told, r.reported), opens = d.opens + r.opens, clicks = d.clicks + r.clicks
  from rows r where d.number = r.number`,
)
// In the order of their numbers, as everybody who locks several.
const LOCK_MESSAGES = each<
  { messageNumber: number },
  { number: number; organizationId: string; status: Message['status'] }
>(
  { number: ['bigint', ({ messageNumber }) => messageNumber] },
  `select m.number::float8 as number, m.organization_id as "organizationId", m.status
  from rows r, messages m where m.number = r.number for no key update of m`,
)
const STATUSES = each<{ messageNumber: number }, { messageNumber: number; status: DeliveryStatus }>(
  { number: ['bigint', ({ messageNumber }) => messageNumber] },
  `select d.message_number::float8 as "messageNumber", d.status from rows r, deliveries d
    where d.message_number = r.number`,
)
const SET_STATUS = each<{ messageNumber: number; status: Message['status'] }>(
  { number: ['bigint', ({ messageNumber }) => messageNumber], status: ['text', ({ status }) => status] },
  'update messages as m set status = r.status from rows r where m.number = r.number and m.status <> r.status',
)

/** Claims → the rows of those that are still held, each once: a second result of the same claim finds it recorded. */
function* lockHeld(claims: readonly HeldClaim[]): Work<HeldRow[]> {
  const asked = claims.map((claim, place) => ({ place, claim }))
  const found = yield* forEach(HELD, asked)
  if (found.length < 2) return found
  const numbers = new Set<number>()
  return found.filter(({ number }) => !numbers.has(number) && numbers.add(number))
}

/** Host of the last attempt that found one; null if none did. */
const hostBeforeOf = ({ lastHost, earlierFacts }: HeldRow): string | null =>
  lastHost ?? (earlierFacts === null ? null : hostIn(earlierFacts))

type Answer = 'recorded' | 'lease_lost'

/** Writes the results of claims → `lease_lost` where the row is no longer at that attempt of that worker. */
export function* recordAll(inside: MailInside, records: readonly DeliveryRecord[]): Work<Answer[]> {
  const claims = records.map(({ deliveryId, worker, attempt }) => ({ id: deliveryId, worker, attempt: attempt.number }))
  const answers: Answer[] = records.map(() => 'lease_lost')
  const settled: Settled[] = []
  const attempts: NewAttempt[] = []
  const changed: Changed[] = []
  const events: NewEvent[] = []
  const suppressions: Suppression[] = []
  for (const held of yield* lockHeld(claims)) {
    const { place, number, queue, messageNumber, before, isOnlyRecipient } = held
    const record = records[place]! // of this claim
    answers[place] = 'recorded'
    settled.push({ number, record })
    attempts.push({ deliveryNumber: number, attempt: record.attempt })
    changed.push({ messageNumber, isOnlyRecipient, before, status: record.status })
    const hostBefore = hostBeforeOf(held)
    // Statistics leave a recipient with its provider when DNS fails later, or its time is over.
    const mxHost = record.attempt.mxHost ?? hostBefore
    const how = { mxHost, templateId: record.templateId }
    for (const event of record.events) events.push({ event, how })
    const [event] = record.events
    const isReached = hostBefore === null && (mxHost !== null || record.nextAttemptAt === null)
    if (event !== undefined && isReached) inside.counts.reached(event, mxHost, record.now)
    if (record.suppression !== null) suppressions.push(record.suppression)
    if (record.nextAttemptAt !== null) inside.offer('deliveries', queue, record.nextAttemptAt)
  }
  if (settled.length === 0) return answers
  yield* writeAll(writing(SETTLE, settled), writing(ADD_ATTEMPTS, attempts))
  yield* settleMessages(inside, changed)
  yield* appendAll(inside, events)
  if (suppressions.length > 0) yield* suppressAll(inside, suppressions)
  return answers
}

/** A claim that ends because its recipient is suppressed by now, with the event that says so. */
export interface SuppressedClaim {
  claim: HeldClaim
  event: Event
}

const SUPPRESS = each<HeldRow>(
  NUMBER,
  `update deliveries as d set status = 'suppressed', worker = null, next_attempt_at = null, attempts = d.attempts - 1,
    last_attempt_at = (select max(a.started_at) from attempts a where a.delivery_number = d.number)
  from rows r where d.number = r.number`,
)

/** As Deliveries.recordSuppressed, for several. */
export function* suppressClaims(inside: MailInside, ended: readonly SuppressedClaim[]): Work<Answer[]> {
  const answers: Answer[] = ended.map(() => 'lease_lost')
  const held = yield* lockHeld(ended.map(({ claim }) => claim))
  const events: NewEvent[] = []
  for (const { place } of held) {
    answers[place] = 'recorded'
    events.push({ event: ended[place]!.event }) // of this claim
  }
  yield* writeEach(SUPPRESS, held)
  yield* settleMessages(
    inside,
    held.map((row) => ({ ...row, status: 'suppressed' })),
  )
  yield* appendAll(inside, events)
  return answers
}

/** A delivery whose status changed. */
export interface Changed {
  messageNumber: number
  isOnlyRecipient: boolean
  before: DeliveryStatus
  status: DeliveryStatus
}

/** Sets the status of the messages of deliveries that changed. */
export function* settleMessages(inside: MailInside, settled: readonly Changed[]): Work<void> {
  const changed: { messageNumber: number; status: Message['status'] }[] = []
  const several = new Set<number>()
  const scheduled: number[] = []
  for (const { messageNumber, isOnlyRecipient, before, status } of settled) {
    if (!isOnlyRecipient) several.add(messageNumber)
    else {
      changed.push({ messageNumber, status })
      if (before === 'scheduled') scheduled.push(messageNumber)
    }
  }
  const isCounted = several.size + scheduled.length > 0
  const locked = isCounted ? yield* forEach(LOCK_MESSAGES, inOrder([...several, ...scheduled])) : []
  if (several.size > 0) {
    const all = Map.groupBy(yield* forEach(STATUSES, inOrder(several)), ({ messageNumber }) => messageNumber)
    for (const [messageNumber, of] of all)
      changed.push({ messageNumber, status: messageStatus(of.map(({ status }) => status)) })
  }
  if (locked.length > 0) {
    const now = new Map(changed.map(({ messageNumber, status }) => [messageNumber, status]))
    for (const { number, organizationId, status } of locked)
      countScheduled(inside, organizationId, status, now.get(number) ?? status)
  }
  yield* writeEach(SET_STATUS, changed.length > 1 ? changed.sort(byNumber) : changed)
}

/** Counts a message whose status changes towards the scheduled ones of its organization. */
export function countScheduled(
  inside: MailInside,
  organizationId: string,
  before: Message['status'],
  status: Message['status'],
): void {
  const by = Number(status === 'scheduled') - Number(before === 'scheduled')
  if (by !== 0) inside.use(organizationId, 'scheduled_messages', by, '')
}

const byNumber = (one: { messageNumber: number }, other: { messageNumber: number }) =>
  one.messageNumber - other.messageNumber

const inOrder = (numbers: Iterable<number>) =>
  [...numbers].sort((one, other) => one - other).map((messageNumber) => ({ messageNumber }))
