import type { IdempotencyRecords, Remember } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

const FIND = `select organization_id as "organizationId", key_hash as "keyHash", request_hash as "requestHash", status,
    body, created_at::float8 as "createdAt"
  from idempotency where organization_id = $1 and key_hash = $2 and created_at > $3`
// The new record may replace an expired one.
const REMEMBER = `insert into idempotency (organization_id, key_hash, request_hash, status, body, created_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (organization_id, key_hash) do update set request_hash = excluded.request_hash,
    status = excluded.status, body = excluded.body, created_at = excluded.created_at`
const PRUNE = `delete from idempotency where (organization_id, key_hash) in (
  select organization_id, key_hash from idempotency where created_at < $1 limit $2)`

/** Writes an idempotency record inside the change that it belongs to; does nothing without one. */
export type RememberInside = (statements: Statements, remember: Remember | undefined) => Promise<void>

export const rememberInside: RememberInside = async ({ run }, remember) => {
  if (remember === undefined) return
  const { organizationId, keyHash, requestHash, status, body, createdAt } = remember
  await run(REMEMBER, [organizationId, keyHash, requestHash, status, body, createdAt])
}

export function postgresIdempotency(reads: Reads, writer: Writer): IdempotencyRecords {
  return {
    find: async (organizationId, keyHash, since) => {
      const [row] = await reads.query<Remember>(FIND, [organizationId, keyHash, since])
      return row ?? null
    },
    prune: (before, limit) => writer.write(({ run }) => run(PRUNE, [before, limit])),
  }
}
