import type { Queues, Waiting } from '../store.ts'
import type { QueueTable } from './claims.ts'
import type { Reads } from './reads.ts'

/** Rows counted in one statement: some ten milliseconds. */
const SLICE = 10_000

/** Counts along the primary key: an idle server has little to count, and of a million rows, reads of others run in
 *  between. In an index of due times no lease is seen, and its order is not that of the table. */
export function postgresQueues(reads: Reads): Queues {
  return {
    waiting: async (now) => ({
      deliveries: await count(reads, 'delivery_queue', now),
      webhookDeliveries: await count(reads, 'webhook_queue', now),
      inboundDeliveries: await count(reads, 'inbound_queue', now),
    }),
  }
}

async function count(reads: Reads, table: QueueTable['table'], now: number): Promise<Waiting> {
  const isDue = 'due_at <= $2 and worker is null'
  const text = `select count(*)::int as size, max(id) as last, count(due_at)::int as total,
      count(*) filter (where ${isDue})::int as due, (min(due_at) filter (where ${isDue}))::float8 as earliest
    from (select id, due_at, worker from ${table} where id > $1 order by id limit ${SLICE}) slice`
  const waiting: Waiting = { due: 0, later: 0, oldestDueAt: null }
  let from = ''
  for (;;) {
    const [slice] = await reads.query<Slice>(text, [from, now])
    if (slice === undefined || slice.last === null) return waiting
    const { size, last, total, due, earliest } = slice
    waiting.due += due
    waiting.later += total - due
    if (earliest !== null) waiting.oldestDueAt = Math.min(earliest, waiting.oldestDueAt ?? earliest)
    if (size < SLICE) return waiting
    from = last
  }
}

interface Slice {
  size: number
  last: string | null
  /** Without rows on hold. */
  total: number
  due: number
  earliest: number | null
}
