import type { PostAttempt } from '../../model/post-attempt.ts'
import type { HeldClaim } from '../store.ts'
import { textArray, valueArray } from './arrays.ts'
import { claimKey, type QueueTable } from './claims.ts'
import { insertInto } from './insert.ts'
import type { Queries, Statements } from './transactions.ts'

/** What came of a claimed post. `nextAttemptAt` null = it is final. */
export interface PostResult {
  deliveryId: string
  worker: string
  attempt: PostAttempt
  nextAttemptAt: number | null
}

/** The results of posts to endpoints, which webhooks and inbound routes record alike. */
export interface PostQueue {
  /** Locks what the workers of these results still hold → for each result the key of its row; null = its lease has
   *  ended, also by an earlier result in the list. */
  held(queries: Queries, results: readonly PostResult[]): Promise<(string | null)[]>
  /** Writes the attempts of held results, and queues or removes their rows. */
  record(statements: Statements, held: readonly PostResult[]): Promise<unknown>
}

export function createPostQueue(
  queue: Extract<QueueTable['table'], 'webhook_queue' | 'inbound_queue'>,
  attempts: 'webhook_attempts' | 'inbound_attempts',
): PostQueue {
  const held = `select q.id, q.worker, q.attempts as attempt, q.key
    from unnest($1::text[], $2::text[], $3::int[]) as claimed (id, worker, attempts)
    join ${queue} q on q.id = claimed.id and q.worker = claimed.worker and q.attempts = claimed.attempts
    order by q.id for update of q`
  const unqueue = `delete from ${queue} where id = any($1::text[])`
  const wait = `update ${queue} q set worker = null, recorded = q.recorded + 1, due_at = later.due_at,
      recorded_at = later.recorded_at
    from unnest($1::text[], $2::bigint[], $3::bigint[]) as later (id, due_at, recorded_at) where q.id = later.id`
  const addAttempts = insertInto<PostResult>(attempts, {
    delivery_id: ['text', ({ deliveryId }) => deliveryId],
    number: ['int', ({ attempt }) => attempt.number],
    at: ['bigint', ({ attempt }) => attempt.at],
    duration_ms: ['bigint', ({ attempt }) => attempt.durationMs],
    status_code: ['int', ({ attempt }) => attempt.statusCode],
    error: ['text', ({ attempt }) => attempt.error],
    response_excerpt: ['text', ({ attempt }) => attempt.responseExcerpt],
  })
  const idsOf = (results: readonly PostResult[]) => textArray(results.map(({ deliveryId }) => deliveryId))

  return {
    held: async ({ query }, results) => {
      const rows = await query<HeldClaim & { key: string }>(held, [
        idsOf(results),
        textArray(results.map(({ worker }) => worker)),
        valueArray(results.map(({ attempt }) => attempt.number)),
      ])
      const keys = new Map(rows.map((row) => [claimKey(row), row.key]))
      return results.map(({ deliveryId, worker, attempt }) => {
        const claim = claimKey({ id: deliveryId, worker, attempt: attempt.number })
        const key = keys.get(claim) ?? null
        keys.delete(claim) // a second result of the same claim finds it recorded
        return key
      })
    },
    record: async (statements, results) => {
      const done = results.filter(({ nextAttemptAt }) => nextAttemptAt === null)
      const later = results.filter(({ nextAttemptAt }) => nextAttemptAt !== null)
      await Promise.all([
        done.length === 0 ? 0 : statements.run(unqueue, [idsOf(done)]),
        later.length === 0
          ? 0
          : statements.run(wait, [
              idsOf(later),
              valueArray(later.map(({ nextAttemptAt }) => nextAttemptAt)),
              valueArray(later.map(({ attempt }) => attempt.at)),
            ]),
        addAttempts(statements, results),
      ])
    },
  }
}
