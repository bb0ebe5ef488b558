import type { PostAttempt } from '../../model/post-attempt.ts'
import type { Each, Work } from '../sql.ts'
import { each, forEach, insertInto, writeAll, writing } from './each.ts'
import type { MailInside } from './inside.ts'
import { QUEUES, type QueueName } from './queue-tables.ts'

/** Result of a post to an endpoint. */
export interface PostResult {
  deliveryId: string
  worker: string
  attempt: PostAttempt
  status: string
  nextAttemptAt: number | null
}

/** A row that the worker of a result leases, with its key. */
export interface HeldPost {
  number: number
  key: string
}

interface Asked {
  /** Of the result in the list. */
  place: number
  result: PostResult
}

interface Settled {
  number: number
  result: PostResult
}

/** The statements that write results of posts. */
export interface ResultStatements {
  queue: QueueName
  held: Each<Asked, HeldPost & { place: number }>
  settle: Each<Settled, never>
  addAttempts: Each<Settled, never>
}

export function resultsOn(queue: QueueName, attempts: string): ResultStatements {
  const { table, key } = QUEUES[queue]
  return {
    queue,
    // Locked in the order of IDs, as everybody who locks several.
    held: each<Asked, HeldPost & { place: number }>(
      {
        place: ['int', ({ place }) => place],
        id: ['text', ({ result }) => result.deliveryId],
        worker: ['text', ({ result }) => result.worker],
        attempt: ['int', ({ result }) => result.attempt.number],
      },
      `select r.place as place, d.number::float8 as number, d.${key} as key from rows r, ${table} d
      where d.id = r.id and d.worker = r.worker and d.attempts = r.attempt order by d.id for update of d`,
    ),
    settle: each<Settled>(
      {
        number: ['bigint', ({ number }) => number],
        status: ['text', ({ result }) => result.status],
        next_attempt_at: ['bigint', ({ result }) => result.nextAttemptAt],
      },
      `update ${table} as d set status = r.status, worker = null, next_attempt_at = r.next_attempt_at
      from rows r where d.number = r.number`,
    ),
    addAttempts: insertInto<Settled>(attempts, {
      delivery_number: ['bigint', ({ number }) => number],
      number: ['int', ({ result }) => result.attempt.number],
      at: ['bigint', ({ result }) => result.attempt.at],
      duration_ms: ['bigint', ({ result }) => result.attempt.durationMs],
      status_code: ['int', ({ result }) => result.attempt.statusCode],
      error: ['text', ({ result }) => result.attempt.error],
      response_excerpt: ['text', ({ result }) => result.attempt.responseExcerpt],
    }),
  }
}

/** Writes results → the row of each, in order; null if its worker does not lease it any more. */
export function* settleAll(
  inside: MailInside,
  { queue, held, settle, addAttempts }: ResultStatements,
  results: readonly PostResult[],
): Work<(HeldPost | null)[]> {
  const rows: (HeldPost | null)[] = results.map(() => null)
  const settled: Settled[] = []
  const numbers = new Set<number>()
  for (const row of yield* forEach(held, placed(results))) {
    const result = results[row.place]
    if (result === undefined || numbers.has(row.number)) continue // a second result of the same claim finds it recorded
    numbers.add(row.number)
    rows[row.place] = row
    settled.push({ number: row.number, result })
    if (result.nextAttemptAt !== null) inside.offer(queue, row.key, result.nextAttemptAt)
  }
  yield* writeAll(writing(settle, settled), writing(addAttempts, settled))
  return rows
}

const placed = (results: readonly PostResult[]): Asked[] => results.map((result, place) => ({ place, result }))
