import { type Each, row, rows, type Statement, sql, type Work } from '../sql.ts'
import { each, forEach } from './each.ts'
import type { MailInside } from './inside.ts'
import { QUEUES, type QueueName } from './queue-tables.ts'

/** A row of the due index. */
interface Place {
  key: string
  at: number
  number: number
}

export const BEFORE_ALL: Place = { key: '', at: 0, number: 0 }

/** What ends waits that began while the clock was ahead. */
export interface FutureWaits {
  queue: QueueName
  /** Rows of a slice behind a place that wait although their last attempt, or acceptance, lies after a time. */
  wrong: Statement<{ number: number }>
  /** The last row of that slice. */
  last: Statement<Place>
  end: Each<{ number: number; now: number }, { key: string }>
}

/** Rows of a slice: one or two milliseconds. */
const SLICE = 2000

/** `waitsSince`: time of the last attempt, or of the acceptance, of the row `d`. `isDated`: rows that keep their date. */
function waitsOn(queue: QueueName, { waitsSince, isDated }: { waitsSince: string; isDated: string }): FutureWaits {
  const { table, key } = QUEUES[queue]
  const behind = `from ${table} where next_attempt_at is not null and (${key}, next_attempt_at, number) >
    ($1::text, $2::bigint, $3::bigint) order by ${key}, next_attempt_at, number`
  const isFuture = (now: string) => `d.worker is null and not ${isDated} and ${waitsSince} > ${now}`
  return {
    queue,
    wrong: sql(`select d.number::float8 as number from ${table} d where d.number in (select s.number from
      (select number, next_attempt_at as at ${behind} limit ${SLICE}) s where s.at > $4::bigint)
      and ${isFuture('$4::bigint')}`),
    last: sql(`select ${key} as key, next_attempt_at::float8 as at, number::float8 as number
      ${behind} limit 1 offset ${SLICE - 1}`),
    end: each(
      { number: ['bigint', ({ number }) => number], now: ['bigint', ({ now }) => now] },
      // Whether it still waits: it may have been attempted since it was found, and be final.
      `update ${table} as d set next_attempt_at = r.now from rows r
      where d.number = r.number and d.next_attempt_at > r.now and ${isFuture('r.now')} returning ${key} as key`,
    ),
  }
}

export const DELIVERY_WAITS = waitsOn('deliveries', {
  waitsSince: 'coalesce(d.last_attempt_at, (select m.created_at from messages m where m.number = d.message_number))',
  isDated: `d.status = 'scheduled'`,
})
const sincePost = (attempts: string) => ({
  waitsSince: `coalesce((select a.at from ${attempts} a where a.delivery_number = d.number
    order by a.number desc limit 1), d.created_at)`,
  isDated: 'false',
})
export const POST_WAITS = waitsOn('webhookDeliveries', sincePost('webhook_attempts'))
export const INBOUND_WAITS = waitsOn('inboundDeliveries', sincePost('inbound_attempts'))

/** Looks at a slice of what waits, behind a place → rows whose wait began after `now`, and the end of the slice; null: of
 *  the queue. */
export function* waitsAfter(
  { wrong, last }: FutureWaits,
  { key, at, number }: Place,
  now: number,
): Work<{ numbers: number[]; next: Place | null }> {
  const found = yield* rows(wrong, key, at, number, now)
  const next = yield* row(last, key, at, number)
  return { numbers: found.map((one) => one.number), next }
}

/** Makes rows due at `now` whose wait began later. */
export function* endWaits(
  inside: MailInside,
  { queue, end }: FutureWaits,
  numbers: readonly number[],
  now: number,
): Work<void> {
  const sorted = numbers.toSorted((one, other) => one - other)
  const ended = yield* forEach(
    end,
    sorted.map((number) => ({ number, now })),
  )
  for (const { key } of ended) inside.offer(queue, key, now)
}
