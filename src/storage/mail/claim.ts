import { createAllocation } from '../allocation.ts'
import type { DueIndex } from '../due-index.ts'
import type { ClaimRequest } from '../roles/claims.ts'
import { type Each, run, type Statement, sql, type Work } from '../sql.ts'
import { type Candidate, choose, isAnyShared, putBack } from './choose.ts'
import { each, forEach, insertInto, stepFor, together, writing } from './each.ts'
import type { MailInside } from './inside.ts'
import { QUEUES, type QueueName } from './queue-tables.ts'

/** A key, as its rows are looked for. */
interface Asked {
  place: number
  key: string
  since: number
  until: number
  most: number
}

type Next = Pick<Asked, 'place' | 'key' | 'since'>

interface NextTime {
  place: number
  at: number | null
}

interface Lease {
  number: number
  worker: string
  now: number
}

/** What one claim leased, so that the leases of a worker that ended are found by their numbers: an index of workers would
 *  make PostgreSQL write an entry of every index for every lease. */
interface Claim {
  number: number
  queue: string
  worker: string
  /** As MailInside.writer: tells whether the process of the worker has ended. */
  writer: number
  numbers: readonly number[]
}

const ADD_CLAIM = insertInto<Claim>('claims', {
  number: ['bigint', ({ number }) => number],
  queue: ['text', ({ queue }) => queue],
  worker: ['text', ({ worker }) => worker],
  writer: ['int', ({ writer }) => writer],
  numbers: ['text', ({ numbers }) => JSON.stringify(numbers)],
})

/** Every so many claims of a queue, those that are over are removed: a millisecond or two. */
const PRUNE_EVERY = 16

/** The statements of a queue. */
export interface Queue {
  table: string
  /** Removes claims of a worker that has no more lease of them. */
  prune: Statement
  /** How many claims each writer made. Their numbers do not tell: others have those between them, perhaps regularly. */
  made: WeakMap<MailInside, number>
  candidates: Each<Asked, Candidate>
  nextTimes: Each<Next, NextTime>
  lease: Each<Lease, never>
}

/** `onLease`: further assignments when a row is leased. */
export function queueOn(name: QueueName, onLease = ''): Queue {
  const { table, key } = QUEUES[name]
  const next = {
    place: ['int', ({ place }: Next) => place],
    key: ['text', ({ key }: Next) => key],
    since: ['bigint', ({ since }: Next) => since],
  } as const
  const asked = {
    ...next,
    until: ['bigint', ({ until }: Asked) => until],
    most: ['int', ({ most }: Asked) => most],
  } as const
  // What was claimed before `since` is passed over: without this bound, a transaction that stays open lets claims read
  // everything that was ever claimed.
  const due = `from ${table} d where d.${key} = r.key and d.next_attempt_at >= r.since and d.next_attempt_at <= r.until
    and d.worker is null order by d.next_attempt_at limit r.most`
  return {
    table,
    // A join could read the whole table for each claim: a plan made while the table was small does.
    prune: sql(`delete from claims where worker = $1 and queue = '${table}' and not exists (
      select 1 from json_array_elements(numbers::json) v
      where (select d.worker from ${table} d where d.number = v.value::text::bigint) = $1)`),
    made: new WeakMap(),
    candidates: each<Asked, Candidate>(
      asked,
      `select r.place, f.number::float8 as number, f.at::float8 as at from rows r
        cross join lateral (select d.number, d.next_attempt_at as at ${due} for update skip locked) f limit $most`,
      `select r.place as place, d.number as number, d.next_attempt_at as at ${due}`, // one writer, which locks all
    ),
    nextTimes: each<Next, NextTime>(
      next,
      `select r.place as place, (select min(d.next_attempt_at) from ${table} d where d.${key} = r.key
        and d.next_attempt_at >= r.since and d.worker is null)::float8 as at from rows r`,
    ),
    lease: each<Lease>(
      {
        number: ['bigint', ({ number }) => number],
        worker: ['text', ({ worker }) => worker],
        now: ['bigint', ({ now }) => now],
      },
      `update ${table} as d set attempts = attempts + 1, worker = r.worker${onLease} from rows r
        where d.number = r.number`,
    ),
  }
}

/** Leases rows by the plan of a request → those, in the order of the plan, as `detail` reads them then. Every key of the
 *  plan is on the due index again once the transaction is committed. */
export function* claimBy<Detail extends { number: number }>(
  inside: MailInside,
  { queue, dueIndex }: { queue: Queue; dueIndex: DueIndex },
  { now, limit, worker, plan }: Pick<ClaimRequest, 'now' | 'limit' | 'worker' | 'plan'>,
  detail: Each<{ number: number }, Detail>,
): Work<Detail[]> {
  const whole = createAllocation(limit)
  const asked = plan.map(({ key, dueAt: since, dueUntil: until = now, quotas }, place): Asked => {
    return { place, key, since, until, most: Math.max(0, whole.capacityFor(quotas)) }
  })
  // Keys that share a quota bring too many rows.
  const found = yield* forEach(queue.candidates, asked, isAnyShared(plan) ? 2 * limit : limit)
  const chosen = choose(plan, limit, found)
  const reached: Next[] = []
  // From the time of the plan on, not from the last leased row: candidates pass over rows that another transaction has
  // locked, and it may end without a change of them.
  for (const { planned, place, isReached, blocker } of chosen.keys)
    if (isReached && blocker === null) reached.push({ place, key: planned.key, since: planned.dueAt })
  const { leased, times } = yield* leaseAll(inside, queue, { rows: chosen.rows, worker, now, reached }, detail)
  inside.afterCommit(() => {
    const next = new Map(times.map(({ place, at }) => [place, at]))
    putBack(dueIndex, chosen, { now, next })
  })
  return leased
}

interface Taken {
  rows: readonly { number: number }[]
  worker: string
  now: number
  /** Keys whose next rows matter. */
  reached?: readonly Next[]
}

/** Leases rows to a worker → what `detail` reads of them then, in their order, and when the next
 *  rows of the keys are due. */
export function* leaseAll<Detail extends { number: number }>(
  inside: MailInside,
  queue: Queue,
  { rows, worker, now, reached = [] }: Taken,
  detail: Each<{ number: number }, Detail>,
): Work<{ leased: Detail[]; times: NextTime[] }> {
  const numbers = rows.map(({ number }) => number)
  const leases = numbers.map((number) => ({ number, worker, now }))
  const claims = rows.length === 0 ? [] : [yield* newClaim(inside, queue, worker, numbers)]
  const [, , details, times] = yield* together<[never[], never[], Detail[], NextTime[]]>(
    writing(ADD_CLAIM, claims),
    writing(queue.lease, leases),
    stepFor(detail, rows),
    stepFor(queue.nextTimes, reached), // after the lease, which it passes over
  )
  const byNumber = new Map(details.map((row) => [row.number, row]))
  const leased = numbers.map((number) => {
    const row = byNumber.get(number)
    if (row === undefined) throw new Error(`row ${number} of ${queue.table} waits without what belongs to it`)
    return row
  })
  return { leased, times }
}

/** The claim of these rows. Now and then, it removes those that are over. */
function* newClaim(
  inside: MailInside,
  { table, prune, made }: Queue,
  worker: string,
  numbers: readonly number[],
): Work<Claim> {
  const number = inside.next('claims')
  const count = (made.get(inside) ?? 0) + 1
  made.set(inside, count) // higher when the work is repeated, which is harmless
  if (count % PRUNE_EVERY === 0) yield* run(prune, worker)
  return { number, queue: table, worker, writer: inside.writer(), numbers }
}
