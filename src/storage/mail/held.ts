import type { DeliveryStatus } from '../../model/message.ts'
import { cancelledEvent } from '../../model/on-demand-event.ts'
import { type Columns, type Each, rows, run, type Statement, sql, type Work } from '../sql.ts'
import { each, forEach, writeEach } from './each.ts'
import { appendAll } from './events.ts'
import type { MailInside } from './inside.ts'
import { QUEUES, type QueueName } from './queue-tables.ts'
import { settleMessages } from './record.ts'
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  deliveryOf,
  IS_ONLY_RECIPIENT,
  MESSAGE_COLUMNS,
  type MessageRow,
  messageOf,
} from './rows.ts'

/** A queue whose deliveries can be on hold: then they have no time at which they are due, and a row in a table beside the
 *  queue has the one that they had. So claims do not read them. */
export interface Holding {
  name: QueueName
  /** Deliveries that wait, in the order of the due index, from a place on. */
  waiting: Statement<Waiting>
  hold: Statement
  stop: Statement
  /** Deliveries on hold, in the order of their numbers. */
  held: Statement<{ number: number; dueAt: number }>
  release: Each<Released, { key: string; at: number }>
  discard: Each<{ number: number }, { number: number }>
  forget: Statement
  count: Statement<{ count: number }>
  /** What follows for discarded ones. */
  discarded: (inside: MailInside, deliveries: readonly { number: number }[], now: number) => Work<void>
}

interface Waiting {
  number: number
  key: string
  at: number
}

interface Released {
  number: number
  dueAt: number
}

const HELD: Columns<{ number: number }> = { held: ['bigint', ({ number }) => number] }

/** `isOpen`: condition of deliveries that have not ended. `discarded`: status of one that ends without an attempt. */
function holding({
  name,
  isOpen,
  status,
  discarded,
}: Pick<Holding, 'name' | 'discarded'> & { isOpen: string; status: string }): Holding {
  const { table, key } = QUEUES[name]
  // A delivery that was asked for by its ID meanwhile has a time again, and a cancelled one is final: neither is changed.
  const isHeld = `number = r.held and next_attempt_at is null and worker is null and ${isOpen}`
  return {
    name,
    discarded,
    waiting: sql(`select number::float8 as number, ${key} as key, next_attempt_at::float8 as at from ${table}
      where next_attempt_at is not null and (${key}, next_attempt_at) >= ($1, $2::bigint)
      order by ${key}, next_attempt_at limit $3`),
    // A leased row was due. One that was held before waits again since somebody asked for it.
    hold: sql(`insert into held_${table} (number, due_at)
      select number, case when worker is null then next_attempt_at else 0 end from ${table}
      where number = any($1::bigint[]) on conflict (number) do update set due_at = excluded.due_at`),
    stop: sql(`update ${table} set next_attempt_at = null, worker = null where number = any($1::bigint[])`),
    held: sql(`select number::float8 as number, due_at::float8 as "dueAt" from held_${table}
      where number > $1::bigint and due_at > $2::bigint order by held_${table}.number limit $3 for update`),
    release: each<Released, { key: string; at: number }>(
      { ...HELD, due_at: ['bigint', ({ dueAt }: Released) => dueAt] },
      `update ${table} set next_attempt_at = r.due_at from rows r where ${isHeld}
      returning ${key} as key, next_attempt_at::float8 as at`,
    ),
    discard: each(
      HELD,
      `update ${table} set status = '${status}' from rows r where ${isHeld} returning number::float8 as number`,
    ),
    forget: sql(`delete from held_${table} where number = any($1::bigint[])`),
    count: sql(`select count(*)::int as count from held_${table}`),
  }
}

const DISCARDED = each<{ number: number }, DeliveryRow & MessageRow & { isOnlyRecipient: boolean }>(
  HELD,
  `select ${DELIVERY_COLUMNS}, ${MESSAGE_COLUMNS}, ${IS_ONLY_RECIPIENT}
  from rows r, deliveries d, messages m where d.number = r.held and m.number = d.message_number`,
)
const FAIL_INBOUND = each<{ number: number }>(
  HELD,
  `update inbound_messages set delivery_status = 'failed' from rows r
    where number = (select d.message_number from inbound_deliveries d where d.number = r.held)`,
)

const OPEN: readonly DeliveryStatus[] = ['scheduled', 'queued', 'deferred']

export const HOLDINGS: readonly Holding[] = [
  holding({
    name: 'deliveries',
    isOpen: `status in (${OPEN.map((status) => `'${status}'`).join(', ')})`,
    status: 'cancelled',
    discarded: cancelled,
  }),
  holding({
    name: 'webhookDeliveries',
    isOpen: `status = 'pending'`,
    status: 'failed',
    discarded: function* () {},
  }),
  holding({
    name: 'inboundDeliveries',
    isOpen: `status = 'pending'`,
    status: 'failed',
    discarded: (_, deliveries) => writeEach(FAIL_INBOUND, deliveries),
  }),
]

/** The messages of cancelled deliveries follow, and webhooks learn of it. */
function* cancelled(inside: MailInside, deliveries: readonly { number: number }[], now: number): Work<void> {
  const found = yield* forEach(DISCARDED, deliveries)
  yield* settleMessages(
    inside,
    found.map(({ messageNumber, isOnlyRecipient }) => ({
      ...{ messageNumber, isOnlyRecipient },
      before: 'scheduled', // the message says whether it was
      status: 'cancelled',
    })),
  )
  yield* appendAll(
    inside,
    found.map((row) => ({ offered: cancelledEvent(messageOf(row), deliveryOf(row), now) })),
  )
}

/** Puts the next deliveries on hold, from a place of the due index on → the last of them; null if there are no more. */
export function* holdSome({ waiting, hold, stop }: Holding, from: Place, most: number): Work<Place | null> {
  const found = yield* rows(waiting, from.key, from.at, most)
  const numbers = found.map(({ number }) => number)
  yield* run(hold, numbers)
  yield* run(stop, numbers)
  return found.at(-1) ?? null
}

export interface Place {
  key: string
  at: number
}

/** Some deliveries that are decided about. */
export interface Decided {
  /** Number of the last one that was looked at; null if there are no more. */
  last: number | null
  decided: number
}

/** Returns the next deliveries behind `after` to their queue, each at its time and not before `now`; with `dueAfter` only
 *  those due later. */
export function* releaseSome(
  inside: MailInside,
  { name, held, release, forget }: Holding,
  { after, dueAfter, now, most }: { after: number; dueAfter: number | null; now: number; most: number },
): Work<Decided> {
  const found = yield* rows(held, after, dueAfter ?? Number.MIN_SAFE_INTEGER, most)
  const released = yield* forEach(
    release,
    found.map(({ number, dueAt }) => ({ number, dueAt: Math.max(dueAt, now) })),
  )
  for (const { key, at } of released) inside.offer(name, key, at)
  yield* run(
    forget,
    found.map(({ number }) => number),
  )
  return { last: found.at(-1)?.number ?? null, decided: released.length }
}

/** Ends the next deliveries on hold without an attempt. */
export function* discardSome(inside: MailInside, holding: Holding, now: number, most: number): Work<Decided> {
  const found = yield* rows(holding.held, -1, Number.MIN_SAFE_INTEGER, most)
  const ended = yield* forEach(holding.discard, found)
  yield* holding.discarded(inside, ended, now)
  yield* run(
    holding.forget,
    found.map(({ number }) => number),
  )
  return { last: found.at(-1)?.number ?? null, decided: ended.length }
}
