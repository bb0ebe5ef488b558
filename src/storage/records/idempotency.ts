import { IDEMPOTENCY_KEPT_MS } from '../../model/idempotency.ts'
import type { Inside, StoredRow } from '../inside.ts'
import { type Database, row, rows, run, sql, type Work } from '../sql.ts'
import { AlreadyRemembered, type IdempotencyRecords, type Remember } from '../store.ts'

const OF_KEY = 'organization_id = $1 and key_hash = $2'
const FIND = sql<Remember>(`select organization_id as "organizationId", key_hash as "keyHash",
    request_hash as "requestHash", status, body, created_at as "createdAt"
  from idempotency where ${OF_KEY} and created_at > $3`)
const STORED = 'ctid as place, organization_id as "organizationId", octet_length(body) as bytes'
const REMEMBER = sql(`insert into idempotency
    (organization_id, key_hash, request_hash, status, body, created_at)
  values ($1, $2, $3, $4, $5, $6) on conflict do nothing`)
const REMOVE_EXPIRED = sql<StoredRow>(`delete from idempotency where ${OF_KEY} and created_at <= $3
  returning ${STORED}`)
const SAME_REQUEST = sql<StoredRow>(
  `select ${STORED} from idempotency where ${OF_KEY} and request_hash = $3 for update`,
)
const REPLACE = sql(`update idempotency set status = $3, body = $4 where ${OF_KEY}`)
const REMOVE = sql<StoredRow>(`delete from idempotency where ${OF_KEY} returning ${STORED}`)
const PRUNE = sql<StoredRow>(`delete from idempotency where created_at < $1
    and ctid = any(array(select ctid from idempotency where created_at < $1 order by created_at limit $2))
  returning ${STORED}`)

export function idempotencyRecords(database: Database, { stored }: Pick<Inside, 'stored'>): IdempotencyRecords {
  return {
    find: (organizationId, keyHash, since) => database.row(FIND, organizationId, keyHash, since),
    replace: ({ organizationId, keyHash, requestHash, status, body }) =>
      database.write(function* () {
        const present = yield* row(SAME_REQUEST, organizationId, keyHash, requestHash)
        if (present === null) return
        yield* run(REPLACE, organizationId, keyHash, status, body)
        yield* stored('answers', [{ ...present, bytes: body.byteLength - present.bytes }])
      }),
    prune: (before, limit) =>
      database.write(function* () {
        const gone = yield* rows(PRUNE, before, limit)
        yield* stored('answers', gone.map(negative))
        return gone.length
      }),
  }
}

/** Inside.remember. The insertion waits for another transaction that writes a record of the same key. */
export function* remember(record: Remember | undefined, stored: Inside['stored']): Work<void> {
  if (record === undefined) return
  const { organizationId, keyHash, requestHash, status, body, createdAt } = record
  const insert = () => run(REMEMBER, organizationId, keyHash, requestHash, status, body, createdAt)
  let added = yield* insert()
  if (added === 0) {
    const expired = yield* rows(REMOVE_EXPIRED, organizationId, keyHash, createdAt - IDEMPOTENCY_KEPT_MS)
    yield* stored('answers', expired.map(negative))
    added = yield* insert()
  }
  if (added === 0) throw new AlreadyRemembered()
  yield* stored('answers', [{ organizationId, place: null, bytes: body.byteLength }])
}

/** Removes the record of a key → whether there was one: another transaction may have removed it. */
export function* removeRecord(
  { organizationId, keyHash }: Pick<Remember, 'organizationId' | 'keyHash'>,
  stored: Inside['stored'],
): Work<boolean> {
  const gone = yield* rows(REMOVE, organizationId, keyHash)
  yield* stored('answers', gone.map(negative))
  return gone.length > 0
}

const negative = ({ bytes, ...of }: StoredRow): StoredRow => ({ ...of, bytes: -bytes })
