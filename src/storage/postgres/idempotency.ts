import { IDEMPOTENCY_KEPT_MS } from '../../model/idempotency.ts'
import type { Remember } from '../store.ts'
import { type Value, valueArray } from './arrays.ts'
import type { Queries, Statements } from './transactions.ts'

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

/** Writes the records of several accepted mails, with different keys, after readRemembered. */
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
