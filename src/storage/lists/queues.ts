import { tableOf } from '../../os/records.ts'
import { dueTimes } from '../mail/leases.ts'
import { QUEUE_NAMES, QUEUES, type QueueName } from '../mail/queue-tables.ts'
import { type NamedQuery, named } from '../named.ts'
import type { Queues, Waiting } from '../roles/queues.ts'
import type { Work } from '../sql.ts'

/** Counts the entries of a due index, which contains only what waits: a tenth of a second for a million with SQLite. */
function counted(table: string): NamedQuery<{ total: number; due: number }> {
  const text = (from: string) => `select count(*) as total, count(case when next_attempt_at <= :now then 1 end) as due
    from ${from} where next_attempt_at is not null`
  return named({ text: text(table), sqlite: text(`${table} indexed by ${table}_due`) })
}

/** Leased rows keep their times, and are found by their claims, since the index does not name them. Each by its number: a
 *  join could read the whole table for each claim. */
function leased(table: string): NamedQuery<{ due: number }> {
  return named(`select count(distinct v.value::text) as due from claims c, json_array_elements(c.numbers::json) v
    where c.queue = '${table}' and (select d.worker from ${table} d
      where d.number = v.value::text::bigint and d.next_attempt_at <= :now) = c.worker`)
}

const COUNTS = tableOf(QUEUE_NAMES, (queue) => {
  const { table } = QUEUES[queue]
  return { counted: counted(table), leased: leased(table) }
})

/** Queues.waiting. */
export function* countWaiting(now: number): Work<Awaited<ReturnType<Queues['waiting']>>> {
  return {
    deliveries: yield* waitingIn('deliveries', now),
    webhookDeliveries: yield* waitingIn('webhookDeliveries', now),
    inboundDeliveries: yield* waitingIn('inboundDeliveries', now),
  }
}

function* waitingIn(queue: QueueName, now: number): Work<Waiting> {
  const { counted, leased } = COUNTS[queue]
  const [all = { total: 0, due: 0 }] = yield* counted({ now })
  // What ends between the two counts of PostgreSQL is missing in one of them.
  const due = Math.max(0, all.due - ((yield* leased({ now }))[0]?.due ?? 0))
  if (due === 0) return { due, later: all.total, oldestDueAt: null }
  let oldestDueAt = now
  for (const { at } of yield* dueTimes(queue)) if (at !== null && at < oldestDueAt) oldestDueAt = at
  return { due, later: all.total - due, oldestDueAt }
}
