import { IDEMPOTENCY_KEPT_MS } from '../../model/idempotency.ts'
import { AlreadyRemembered, type IdempotencyRecords, type Remember } from '../store.ts'
import { type Value, valueArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import type { Queries, Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

const FIND = `select organization_id as "organizationId", key_hash as "keyHash", request_hash as "requestHash", status,
    body, created_at::float8 as "createdAt"
  from idempotency where organization_id = $1 and key_hash = $2 and created_at > $3`
const PRESENT = `select organization_id as "organizationId", key_hash as "keyHash"
  from unnest($1::text[], $2::bytea[], $3::bigint[]) as given (organization_id, key_hash, created_at)
  join idempotency using (organization_id, key_hash)
  where idempotency.created_at > given.created_at - ${IDEMPOTENCY_KEPT_MS}`
// A new record replaces an expired one. A record of a transaction that was under way at the same time is a collision.
// Responses count as stored bytes.
const REMEMBER = `with given as materialized (select * from unnest($1::text[], $2::bytea[], $3::bytea[], $4::int[],
      $5::bytea[], $6::bigint[]) as given (organization_id, key_hash, request_hash, status, body, created_at)),
  former as materialized (
    select i.organization_id, i.key_hash, octet_length(i.body) as bytes
    from given join idempotency i using (organization_id, key_hash) order by 1, 2 for update of i),
  written as (
    insert into idempotency as present (organization_id, key_hash, request_hash, status, body, created_at)
    select * from given where (select count(*) from former) >= 0 order by organization_id, key_hash
    on conflict (organization_id, key_hash) do update set status = excluded.status, body = excluded.body,
      created_at = excluded.created_at, request_hash = case
        when present.created_at <= excluded.created_at - ${IDEMPOTENCY_KEPT_MS} then excluded.request_hash else collide() end)
  insert into usage as present (organization_id, name, period, lane_id, used)
  select organization_id, 'stored_bytes', '', $7::int, sum(octet_length(body) - coalesce((
      select bytes from former
      where former.organization_id = given.organization_id and former.key_hash = given.key_hash), 0))
  from given group by 1
  on conflict (organization_id, name, period, lane_id) do update set used = present.used + excluded.used`
const REPLACE = `with former as materialized (
    select organization_id, key_hash, octet_length(body) as bytes from idempotency
    where organization_id = $1 and key_hash = $2 and request_hash = $3 for update),
  replaced as (
    update idempotency i set status = $4::int, body = $5::bytea from former
    where i.organization_id = former.organization_id and i.key_hash = former.key_hash)
  insert into usage as present (organization_id, name, period, lane_id, used)
  select organization_id, 'stored_bytes', '', $6::int, octet_length($5::bytea) - bytes from former
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

/** Writes an idempotency record inside the change that it belongs to; does nothing without one. Throws
 *  AlreadyRemembered. */
export type RememberInside = (statements: Statements, remember: Remember | undefined) => Promise<void>

export const rememberInside: RememberInside = async (statements, remember) => {
  if (remember === undefined) return
  const isRemembered = await readRemembered(statements, [remember])
  if (isRemembered(remember)) throw new AlreadyRemembered()
  await rememberAll(statements, [remember])
}

/** The same for several changes with different keys, after readRemembered. */
export async function rememberAll({ run, laneId }: Statements, records: readonly Remember[]): Promise<void> {
  if (records.length === 0) return
  const column = columnOf(records)
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

/** Records to write → asked in their order: true if there is one of the same key that has not expired, or an earlier
 *  one was asked. */
export async function readRemembered(
  { query }: Queries,
  records: readonly Remember[],
): Promise<(record: Remember) => boolean> {
  const column = columnOf(records)
  const present =
    records.length === 0
      ? []
      : await query<Pick<Remember, 'organizationId' | 'keyHash'>>(PRESENT, [
          column(({ organizationId }) => organizationId),
          column(({ keyHash }) => keyHash),
          column(({ createdAt }) => createdAt),
        ])
  const taken = new Set(present.map(keyOf))
  return (record) => {
    const key = keyOf(record)
    const isTaken = taken.has(key)
    taken.add(key)
    return isTaken
  }
}

const columnOf =
  (records: readonly Remember[]) =>
  (of: (record: Remember) => Value): string =>
    valueArray(records.map(of))

const keyOf = ({ organizationId, keyHash }: Pick<Remember, 'organizationId' | 'keyHash'>) =>
  `${organizationId} ${Buffer.from(keyHash).toString('hex')}`

export function postgresIdempotency(reads: Reads, writer: Writer): IdempotencyRecords {
  return {
    find: async (organizationId, keyHash, since) => {
      const [row] = await reads.query<Remember>(FIND, [organizationId, keyHash, since])
      return row ?? null
    },
    replace: ({ organizationId, keyHash, requestHash, status, body }) =>
      writer.write(async ({ run, laneId }) => {
        await run(REPLACE, [organizationId, keyHash, requestHash, status, body, laneId])
      }),
    prune: (before, limit) => writer.write(({ run, laneId }) => run(PRUNE, [before, limit, laneId])),
  }
}
