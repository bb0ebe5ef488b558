import { tableOf } from '../../os/records.ts'
import { type Each, rows, run, type Statement, sql, type Work } from '../sql.ts'
import type { HeldClaim } from '../store.ts'
import { each, forEach } from './each.ts'
import type { MailInside } from './inside.ts'
import { QUEUE_NAMES, QUEUES, type QueueName } from './queue-tables.ts'

/** What ends a lease without a result. */
export interface LeaseStatements {
  queue: QueueName
  release: Each<HeldClaim & { dueAt: number }, { key: string }>
  /** Claims of a worker, with the numbers of their rows as JSON. */
  claims: Statement<{ numbers: string }>
  removeClaims: Statement
  idsOf: Each<Held, { number: number; id: string }>
  end: Each<Held & { now: number }, { key: string; at: number }>
}

interface Held {
  number: number
  worker: string
}

/** `pauseMs`: wait after a lost attempt before the row, `d`, is due again. `lastAttempt`: when the last recorded one began,
 *  for a row that was not attempted. */
function leasesOn(
  queue: QueueName,
  { pauseMs, lastAttempt }: { pauseMs: string; lastAttempt: string } = { pauseMs: '0', lastAttempt: '' },
): LeaseStatements {
  const { table, key } = QUEUES[queue]
  const held = {
    number: ['bigint', ({ number }: Held) => number],
    worker: ['text', ({ worker }: Held) => worker],
  } as const
  return {
    queue,
    release: each<HeldClaim & { dueAt: number }, { key: string }>(
      {
        id: ['text', ({ id }) => id],
        worker: ['text', ({ worker }) => worker],
        attempt: ['int', ({ attempt }) => attempt],
        due_at: ['bigint', ({ dueAt }) => dueAt],
      },
      `update ${table} as d set attempts = d.attempts - 1, worker = null, next_attempt_at = r.due_at${lastAttempt}
      from rows r where d.id = r.id and d.worker = r.worker and d.attempts = r.attempt returning ${key} as key`,
    ),
    claims: sql(`select numbers from claims where worker = $1 and queue = '${table}'`),
    removeClaims: sql(`delete from claims where worker = $1 and queue = '${table}'`),
    idsOf: each(
      held,
      `select d.number::float8 as number, d.id from rows r, ${table} d where d.number = r.number and d.worker = r.worker`,
    ),
    end: each(
      { ...held, now: ['bigint', ({ now }: Held & { now: number }) => now] },
      `update ${table} as d set worker = null, next_attempt_at = r.now + ${pauseMs}
      from rows r where d.number = r.number and d.worker = r.worker
      returning ${key} as key, next_attempt_at::float8 as at`,
    ),
  }
}

/** As ClaimQueue.release. */
export function* releaseAll(
  inside: MailInside,
  { queue, release }: LeaseStatements,
  claims: readonly HeldClaim[],
  dueAt: number,
): Work<void> {
  const released = yield* forEach(
    release,
    claims.map((claim) => ({ ...claim, dueAt })),
  )
  for (const { key } of released) inside.offer(queue, key, dueAt)
}

/** As ClaimQueue.endLeases. */
export function* endLeases(
  inside: MailInside,
  { queue, claims, removeClaims, idsOf, end }: LeaseStatements,
  { worker, underWay, now }: { worker: string; underWay: ReadonlySet<string>; now: number },
): Work<number> {
  const claimed = (yield* rows(claims, worker)).flatMap(({ numbers }): number[] => JSON.parse(numbers)) // of ADD_CLAIM
  // In the order of their numbers, and each once: a row may have been claimed again.
  let held = [...new Set(claimed)].sort((one, other) => one - other).map((number) => ({ number, worker, now }))
  if (underWay.size > 0) {
    const idle = (yield* forEach(idsOf, held)).filter(({ id }) => !underWay.has(id))
    held = idle.map(({ number }) => ({ number, worker, now }))
  }
  const ended = yield* forEach(end, held)
  for (const { key, at } of ended) inside.offer(queue, key, at)
  if (underWay.size === 0) yield* run(removeClaims, worker)
  return ended.length
}

// An attempt that was counted but has no record ended with its process. After the first two the delivery is retried at
// once; from the third on it waits 5 s, 20 s, 45 s, so that a message that crashes the process lets the server run in
// between.
const LOST = '(d.attempts - (select count(*) from attempts a where a.delivery_number = d.number) - 2)'

export const DELIVERY_LEASES = leasesOn('deliveries', {
  pauseMs: `5000 * greatest(0, ${LOST}) * greatest(0, ${LOST})`,
  lastAttempt: `,
    last_attempt_at = (select max(a.started_at) from attempts a where a.delivery_number = d.number)`,
})
export const POST_LEASES = leasesOn('webhookDeliveries')
export const INBOUND_LEASES = leasesOn('inboundDeliveries')

/** Goes from key to key along the due index: the cost is that of the keys, however many rows wait behind each. */
function dueTimesOf({ table, key }: (typeof QUEUES)[QueueName]) {
  const next = (after: string) =>
    `(select min(${key}) from ${table} where next_attempt_at is not null and ${key} > ${after})`
  return sql<{ key: string; at: number | null }>(`with recursive keys (key, nth) as (
      select ${next('$1')}, 1
      union all
      select ${next('keys.key')}, nth + 1 from keys where keys.key is not null and nth < $2::int)
    select key, (select min(next_attempt_at) from ${table} d where d.${key} = keys.key and next_attempt_at is not null
      and worker is null)::float8 as at
    from keys where key is not null`)
}

const DUE_TIMES = tableOf(QUEUE_NAMES, (queue) => dueTimesOf(QUEUES[queue]))
const ALL = 2 ** 31 - 1

/** The first keys behind `after` with what waits, at most `most`, and when the first row of each is due; null while all are
 *  attempted. */
export const dueTimes = (queue: QueueName, after = '', most = ALL): Work<{ key: string; at: number | null }[]> =>
  rows(DUE_TIMES[queue], after, most)
