import type { IdempotencyRecords, Remember } from '../store.ts'
import { insertInto } from './insert.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

const FIND = `select organization_id as "organizationId", key_hash as "keyHash", request_hash as "requestHash", status,
    body, created_at::float8 as "createdAt"
  from idempotency where organization_id = $1 and key_hash = $2 and created_at > $3`
// A new record may replace an expired one.
const insert = insertInto<Remember>(
  'idempotency',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    key_hash: ['bytea', ({ keyHash }) => keyHash],
    request_hash: ['bytea', ({ requestHash }) => requestHash],
    status: ['int', ({ status }) => status],
    body: ['bytea', ({ body }) => body],
    created_at: ['bigint', ({ createdAt }) => createdAt],
  },
  `on conflict (organization_id, key_hash) do update set request_hash = excluded.request_hash,
    status = excluded.status, body = excluded.body, created_at = excluded.created_at`,
)
const PRUNE = `delete from idempotency where (organization_id, key_hash) in (
  select organization_id, key_hash from idempotency where created_at < $1 limit $2)`

/** Writes an idempotency record inside the change that it belongs to; does nothing without one. */
export type RememberInside = (statements: Statements, remember: Remember | undefined) => Promise<void>

export const rememberInside: RememberInside = async (statements, remember) => {
  if (remember !== undefined) await rememberAll(statements, [remember])
}

/** The same for several changes. Of two records of one key, the later one stays. */
export function rememberAll(statements: Statements, records: readonly Remember[]): Promise<number> {
  const last = new Map(records.map((record) => [`${record.organizationId} ${hex(record.keyHash)}`, record]))
  return insert(statements, [...last.values()])
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export function postgresIdempotency(reads: Reads, writer: Writer): IdempotencyRecords {
  return {
    find: async (organizationId, keyHash, since) => {
      const [row] = await reads.query<Remember>(FIND, [organizationId, keyHash, since])
      return row ?? null
    },
    prune: (before, limit) => writer.write(({ run }) => run(PRUNE, [before, limit])),
  }
}
