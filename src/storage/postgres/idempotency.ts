import type { IdempotencyRecords, Remember } from '../store.ts'
import { type Value, valueArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

const FIND = `select organization_id as "organizationId", key_hash as "keyHash", request_hash as "requestHash", status,
    body, created_at::float8 as "createdAt"
  from idempotency where organization_id = $1 and key_hash = $2 and created_at > $3`
// A new record may replace an expired one. Responses count as stored bytes.
const REMEMBER = `with given as materialized (select * from unnest($1::text[], $2::bytea[], $3::bytea[], $4::int[],
      $5::bytea[], $6::bigint[]) as given (organization_id, key_hash, request_hash, status, body, created_at)),
  written as (
    insert into idempotency (organization_id, key_hash, request_hash, status, body, created_at) select * from given
    on conflict (organization_id, key_hash) do update set request_hash = excluded.request_hash,
      status = excluded.status, body = excluded.body, created_at = excluded.created_at)
  insert into usage as present (organization_id, name, period, lane_id, used)
  select organization_id, 'stored_bytes', '', $7::int, sum(octet_length(body) - coalesce((
      select octet_length(replaced.body) from idempotency replaced
      where replaced.organization_id = given.organization_id and replaced.key_hash = given.key_hash), 0))
  from given group by 1
  on conflict (organization_id, name, period, lane_id) do update set used = present.used + excluded.used`
const PRUNE = `with gone as (
    delete from idempotency where created_at < $1
      and ctid = any(array(select ctid from idempotency where created_at < $1 order by created_at limit $2))
    returning organization_id, octet_length(body) as bytes),
  counted as (
    insert into usage as present (organization_id, name, period, lane_id, used)
    select organization_id, 'stored_bytes', '', $3::int, -sum(bytes) from gone group by 1
    on conflict (organization_id, name, period, lane_id) do update set used = present.used + excluded.used)
  select from gone`

/** Writes an idempotency record inside the change that it belongs to; does nothing without one. */
export type RememberInside = (statements: Statements, remember: Remember | undefined) => Promise<void>

export const rememberInside: RememberInside = async (statements, remember) => {
  if (remember !== undefined) await rememberAll(statements, [remember])
}

/** The same for several changes. Of two records of one key, the later one stays. */
export async function rememberAll({ run, laneId }: Statements, records: readonly Remember[]): Promise<void> {
  if (records.length === 0) return
  const last = [
    ...new Map(records.map((record) => [`${record.organizationId} ${hex(record.keyHash)}`, record])).values(),
  ]
  const column = (of: (record: Remember) => Value) => valueArray(last.map(of))
  await run(REMEMBER, [
    column(({ organizationId }) => organizationId),
    column(({ keyHash }) => keyHash),
    column(({ requestHash }) => requestHash),
    column(({ status }) => status),
    column(({ body }) => body),
    column(({ createdAt }) => createdAt),
    laneId,
  ])
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export function postgresIdempotency(reads: Reads, writer: Writer): IdempotencyRecords {
  return {
    find: async (organizationId, keyHash, since) => {
      const [row] = await reads.query<Remember>(FIND, [organizationId, keyHash, since])
      return row ?? null
    },
    prune: (before, limit) => writer.write(({ run, laneId }) => run(PRUNE, [before, limit, laneId])),
  }
}
