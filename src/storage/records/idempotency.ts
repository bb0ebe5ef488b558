import type { Remember } from '../../model/idempotency.ts'
import { stored } from '../inside.ts'
import type { StoredRow } from '../mail/inside.ts'
import { type Database, row, rows, run, sql } from '../sql.ts'

const OF_KEY = 'organization_id = $1 and key_hash = $2'
const FIND = sql<Remember>(`select organization_id as "organizationId", key_hash as "keyHash",
    request_hash as "requestHash", status, body, created_at as "createdAt"
  from idempotency where ${OF_KEY} and created_at > $3`)
const STORED = 'ctid as place, organization_id as "organizationId", octet_length(body) as bytes'
const SAME_REQUEST = sql<StoredRow>(
  `select ${STORED} from idempotency where ${OF_KEY} and request_hash = $3 for update`,
)
const REPLACE = sql(`update idempotency set status = $3, body = $4 where ${OF_KEY}`)
const PRUNE = sql<StoredRow>(`delete from idempotency where created_at < $1
    and ctid = any(array(select ctid from idempotency where created_at < $1 order by created_at limit $2))
  returning ${STORED}`)

export function idempotencyRecords(database: Database) {
  return {
    find: (organizationId: string, keyHash: Uint8Array, since: number): Promise<Remember | null> =>
      database.row(FIND, organizationId, keyHash, since),
    /** Replaces status and body of the record of the same request; does nothing if there is none. */
    replace: ({ organizationId, keyHash, requestHash, status, body }: Remember): Promise<void> =>
      database.write(function* () {
        const present = yield* row(SAME_REQUEST, organizationId, keyHash, requestHash)
        if (present === null) return
        yield* run(REPLACE, organizationId, keyHash, status, body)
        yield* stored('answers', [{ ...present, bytes: body.byteLength - present.bytes }])
      }),
    /** Deletes at most `limit` records older than `before`; returns the number deleted. */
    prune: (before: number, limit: number): Promise<number> =>
      database.write(function* () {
        const gone = yield* rows(PRUNE, before, limit)
        yield* stored('answers', gone.map(negative))
        return gone.length
      }),
  }
}

const negative = ({ bytes, ...of }: StoredRow): StoredRow => ({ ...of, bytes: -bytes })
