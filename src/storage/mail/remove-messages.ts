import { type DeliveryStatus, isFinal, type MessageStatus } from '../../model/message.ts'
import type { Columns, Work } from '../sql.ts'
import { letGo } from './contents.ts'
import { each, forEach, writeAll, writeEach, writing } from './each.ts'
import type { MailInside } from './inside.ts'
import { countScheduled } from './record.ts'

/** Not named as a column of a table, so that neither database needs an alias. */
export const GONE: Columns<{ number: number }> = { gone: ['bigint', ({ number }) => number] }

/** Table and column with the number of what its rows belong to → what deletes those of removed ones. */
export const removalOf = (table: string, column: string) =>
  each<{ number: number }>(GONE, `delete from ${table} using rows r where ${column} = r.gone`)

/** A delivery of a message that is about to be removed or changed. */
export interface LockedDelivery {
  number: number
  id: string
  messageNumber: number
  email: string
  address: string
  status: DeliveryStatus
  /** Null: nobody attempts it. */
  worker: string | null
  /** Number of deliveries of its message. */
  ofMessage: number
}

// What a report or an opening adds is there when they are locked, or finds the delivery gone. Nothing waits: a transaction
// that has claimed some may wait for others. The positions of a message's deliveries count up from 0.
const LOCK_DELIVERIES = each<{ number: number }, LockedDelivery>(
  GONE,
  `select d.number::float8 as number, d.id, d.message_number::float8 as "messageNumber", d.email, d.address, d.status,
    d.worker, (select max(o.position) + 1 from deliveries o where o.message_number = r.gone) as "ofMessage"
  from rows r, deliveries d where d.message_number = r.gone for update of d skip locked`,
)
const KEEP_UNSUBSCRIBABLES = each<{ number: number; since: number }>(
  { ...GONE, since: ['bigint', ({ since }: { since: number }) => since] },
  `insert into unsubscribables (delivery_id, organization_id, domain_id, message_id, sender, email, sent_at, stream)
  select d.id, m.organization_id, m.domain_id, m.id, m.sender, d.email, d.last_attempt_at, m.stream
  from rows r, messages m, deliveries d where m.number = r.gone and m.unsubscribe and m.mode = 'live'
    and d.message_number = m.number and d.unsubscribed_at is null and d.last_attempt_at >= r.since
  on conflict do nothing`,
)

const REMOVE_HELD = removalOf('held_deliveries', 'number')
export const REMOVE_ATTEMPTS_AND_REPORTS = [
  removalOf('attempts', 'delivery_number'),
  removalOf('reports', 'delivery_number'),
]
const OF_DELIVERY = [...REMOVE_ATTEMPTS_AND_REPORTS, removalOf('deliveries', 'number')]

const UNTAG = each<{ number: number; organizationId: string; tag: string }>(
  {
    ...GONE,
    organization: ['text', ({ organizationId }: { organizationId: string }) => organizationId],
    tagged: ['text', ({ tag }: { tag: string }) => tag],
  },
  'delete from message_tags using rows r where organization_id = r.organization and tag = r.tagged and message_number = r.gone',
)
// Contents first: whoever removes one meanwhile holds its row, and has noted it afterwards.
const OF_MESSAGE = ['message_contents', 'removed_contents', 'content_redactions'].map((table) =>
  removalOf(table, 'message_number'),
)
const REMOVE_MESSAGES = each<
  { number: number },
  { number: number; organizationId: string; status: MessageStatus; storedBytes: number }
>(
  GONE,
  `delete from messages using rows r where number = r.gone returning number::float8 as number,
    organization_id as "organizationId", status, stored_bytes::float8 as "storedBytes"`,
)

/** A message as its removal needs it. */
export interface RemovedMessage {
  number: number
  organizationId: string
  /** JSON. */
  tags: string
}

/** Messages → those whose deliveries nobody else has locked, and these deliveries, which are locked now. */
export function* lockMessages<Message extends { number: number }>(
  messages: readonly Message[],
): Work<{ locked: Message[]; deliveries: LockedDelivery[] }> {
  const deliveries = yield* forEach(LOCK_DELIVERIES, messages)
  const own = Map.groupBy(deliveries, ({ messageNumber }) => messageNumber)
  const isWhole = (number: number) => own.get(number)?.[0]?.ofMessage === own.get(number)?.length
  return {
    locked: messages.filter(({ number }) => own.has(number) && isWhole(number)),
    deliveries: deliveries.filter(({ messageNumber }) => isWhole(messageNumber)),
  }
}

/** Removes what a restore notes of deliveries. One that has ended has none. */
export function removeHeld(deliveries: readonly { number: number; status: DeliveryStatus }[]): Work<void> {
  return writeEach(
    REMOVE_HELD,
    deliveries.filter(({ status }) => !isFinal(status)),
  )
}

/** Keeps what unsubscribe requests need of live mail that was sent at `since` or later, ms UTC. */
export function keepUnsubscribables(messages: readonly { number: number }[], since: number): Work<void> {
  return writeEach(
    KEEP_UNSUBSCRIBABLES,
    messages.map(({ number }) => ({ number, since })),
  )
}

/** Removes messages that are locked, and their deliveries, with everything that belongs to them, except their events. */
export function* removeMessages(
  inside: MailInside,
  messages: readonly RemovedMessage[],
  deliveries: readonly LockedDelivery[],
): Work<void> {
  const tagged = messages.flatMap(({ tags, ...message }) => {
    const all: string[] = JSON.parse(tags) // of accept.ts
    return all.map((tag) => ({ ...message, tag }))
  })
  yield* removeHeld(deliveries)
  yield* writeAll(
    ...OF_DELIVERY.map((statement) => writing(statement, deliveries)),
    writing(UNTAG, tagged),
    ...OF_MESSAGE.map((statement) => writing(statement, messages)),
  )
  yield* letGo('content', messages)
  yield* inside.outdated(messages)
  for (const { number, organizationId, status, storedBytes } of yield* forEach(REMOVE_MESSAGES, messages)) {
    inside.stored('messages', number, organizationId, -storedBytes)
    countScheduled(inside, organizationId, status, 'cancelled')
  }
}
