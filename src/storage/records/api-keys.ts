import type { ApiKey } from '../../model/api-key.ts'
import type { Remember } from '../../model/idempotency.ts'
import { FIXED_LIMITS, type LimitReached } from '../../model/limits.ts'
import { limitReached, planOf, remember } from '../inside.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { changed, changing, type Database, row, rows, run, sql, type Work } from '../sql.ts'

/** A row of api_keys, without the hash of the secret. */
export type ApiKeyRow = Omit<ApiKey, 'permissions' | 'allowedNetworks'> & {
  permissions: string
  allowedNetworks: string | null
}

const COLUMNS = `id, organization_id as "organizationId", domain_id as "domainId", name, mode, permissions, prefix,
  created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt", revoked_at as "revokedAt",
  rotated_to as "rotatedTo", allowed_networks as "allowedNetworks", created_by as "createdBy",
  maker_role as "makerRole"`
const CREATE = sql(`insert into api_keys (id, organization_id, domain_id, name, mode, permissions, prefix, secret_hash,
    created_at, last_used_at, expires_at, revoked_at, rotated_to, allowed_networks, created_by, maker_role)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`)
/** All keys, for the nodes that have them in memory. */
export const API_KEYS = sql<ApiKeyRow & { secretHash: Uint8Array }>(
  `select ${COLUMNS}, secret_hash as "secretHash" from api_keys`,
)
export const API_KEY_OF_SECRET = sql<ApiKeyRow>(`select ${COLUMNS} from api_keys where secret_hash = $1`)
const GET = sql<ApiKeyRow>(`select ${COLUMNS} from api_keys where id = $1`)
const LIST = sql<ApiKeyRow>(`select ${COLUMNS} from api_keys
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`)
const UPDATE = sql('update api_keys set name = $2, allowed_networks = $3 where id = $1')
const REVOKE = sql('update api_keys set revoked_at = $2 where id = $1 and revoked_at is null')
const OF_USER = 'created_by = $1 and ($2::text is null or organization_id = $2)'
const REVOKE_OF = sql<{ id: string }>(`update api_keys set revoked_at = $3 where ${OF_USER} and revoked_at is null
  and (expires_at is null or expires_at > $3) returning id`)
const DISOWN = sql<{ id: string }>(`update api_keys set created_by = null where ${OF_USER} returning id`)
const ROTATE =
  sql(`update api_keys set rotated_to = $2, expires_at = least($3::bigint, coalesce(expires_at, $3::bigint))
  where id = $1 and rotated_to is null and revoked_at is null and (expires_at is null or expires_at > $4)`)
// Valid keys; those in the grace period of a rotation (rotated_to) count separately.
const WORKING = sql<{ count: number }>(`select count(*) as count from api_keys
  where organization_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
    and (rotated_to is not null) = $3`)
const DEAD = sql<{ id: string }>(`select id from api_keys
  where organization_id = $1 and (revoked_at is not null or expires_at <= $2) order by id desc limit $3 offset $4`)
const REMOVE = sql('delete from api_keys where id = any($1::text[])')
const RECORD_USE = sql(
  'update api_keys set last_used_at = greatest($2::bigint, coalesce(last_used_at, 0)) where id = $1',
)

/** Inactive keys that are deleted when a key is created: more than one, so that an old store shrinks to the limit. */
const REMOVE_MAX = 20

export function apiKeyRecords(database: Database) {
  return {
    /** Also deletes the oldest inactive keys beyond FIXED_LIMITS.inactiveKeys. */
    create: (key: ApiKey, secretHash: Uint8Array, record?: Remember): Promise<'created' | LimitReached> =>
      database.write(function* () {
        const limit = yield* reached(key.organizationId, false, key.createdAt)
        if (limit !== null) return limit
        yield* removeOldest(key.organizationId, key.createdAt)
        yield* insert(key, secretHash)
        yield* remember(record)
        return 'created'
      }, 'settings'),
    /** Number of keys that are valid at `now`, without those in the grace period of a rotation. */
    count: async (organizationId: string, now: number): Promise<number> =>
      (await database.row(WORKING, organizationId, now, false))?.count ?? 0,
    get: async (id: string): Promise<ApiKey | null> => {
      const found = await database.row(GET, id)
      return found === null ? null : toApiKey(found)
    },
    list: async (organizationId: string, page: RecordsRequest): Promise<Page<ApiKey>> =>
      toPage(await database.rows(LIST, organizationId, ...rangeOf(page)), page, toApiKey),
    /** Changes the given fields; null if there is no such key. */
    update: (id: string, change: Partial<Pick<ApiKey, 'name' | 'allowedNetworks'>>): Promise<ApiKey | null> =>
      database.write(function* () {
        const present = yield* row(GET, id)
        if (present === null) return null
        const key = { ...toApiKey(present), ...change }
        yield* run(UPDATE, id, key.name, networksColumn(key))
        yield* changed('apiKey', id)
        return key
      }, 'settings'),
    /** Revokes at `at`; a repeated call keeps the first time. */
    revoke: async (id: string, at: number): Promise<void> => {
      await changing(database, 'apiKey')(id, () => run(REVOKE, id, at))
    },
    /** Revokes at `at` all keys that a user made, in an organization or all (null) → how many that were valid. */
    revokeOf: (userId: string, organizationId: string | null, at: number): Promise<number> =>
      database.write(function* () {
        const ids = (yield* rows(REVOKE_OF, userId, organizationId, at)).map(({ id }) => id)
        if (ids.length > 0) yield* changed('apiKey', ...ids)
        return ids.length
      }, 'settings'),
    /** The keys that a user made, in an organization or all (null), belong to the organization alone from now on, with at most
     *  the rights of the user's last role (`makerRole`, which removing the user notes). */
    disown: (userId: string, organizationId: string | null): Promise<void> =>
      database.write(function* () {
        const ids = (yield* rows(DISOWN, userId, organizationId)).map(({ id }) => id)
        if (ids.length > 0) yield* changed('apiKey', ...ids)
      }, 'settings'),
    /** Adds the new key, and sets the expiry of the old one to `oldExpiresAt`. `invalid_state` if the old one was
     *  already rotated or revoked, or has expired at `now`. Keys in their grace period count separately against the
     *  plan's limit, so that a rotation is possible when all keys are in use. */
    rotate: (
      oldId: string,
      fresh: ApiKey,
      secretHash: Uint8Array,
      oldExpiresAt: number,
      now: number,
      record?: Remember,
    ): Promise<'rotated' | 'invalid_state' | LimitReached> =>
      database.write(function* () {
        const { organizationId } = fresh
        const limit = oldExpiresAt > now ? yield* reached(organizationId, true, now) : null
        if (limit !== null) return limit
        if ((yield* run(ROTATE, oldId, fresh.id, oldExpiresAt, now)) === 0) return 'invalid_state'
        yield* removeOldest(organizationId, now)
        yield* insert(fresh, secretHash)
        yield* remember(record)
        yield* changed('apiKey', oldId)
        return 'rotated'
      }, 'settings'),
    /** Stores when keys were last used; callers collect these in memory. */
    recordUse: (uses: { id: string; at: number }[]): Promise<void> =>
      database.write(function* () {
        for (const { id, at } of uses) yield* run(RECORD_USE, id, at)
      }),
  }
}

/** Null, or the limit that one more key would exceed, or one more in its grace period. */
function* reached(organizationId: string, isRotated: boolean, now: number): Work<LimitReached | null> {
  const present = () => working(organizationId, now, isRotated)
  return yield* limitReached(yield* planOf(organizationId), 'api_keys', present)
}

function* working(organizationId: string, now: number, isRotated: boolean): Work<number> {
  return (yield* row(WORKING, organizationId, now, isRotated))?.count ?? 0
}

/** Only a limited number of inactive keys is kept. Otherwise creating and revoking could fill the disk. */
function* removeOldest(organizationId: string, now: number): Work<void> {
  const dead = yield* rows(DEAD, organizationId, now, REMOVE_MAX, FIXED_LIMITS.inactiveKeys)
  if (dead.length === 0) return
  const ids = dead.map(({ id }) => id)
  yield* run(REMOVE, ids)
  yield* changed('apiKey', ...ids)
}

function* insert(key: ApiKey, secretHash: Uint8Array): Work<void> {
  const { id, organizationId, domainId, name, mode, permissions, prefix, createdAt, lastUsedAt } = key
  const first = [id, organizationId, domainId, name, mode, JSON.stringify(permissions), prefix, secretHash, createdAt]
  const { expiresAt, revokedAt, rotatedTo, createdBy, makerRole } = key
  yield* run(CREATE, ...first, lastUsedAt, expiresAt, revokedAt, rotatedTo, networksColumn(key), createdBy, makerRole)
  yield* changed('apiKey', id)
}

export function toApiKey(row: ApiKeyRow): ApiKey {
  const allowedNetworks = row.allowedNetworks === null ? null : JSON.parse(row.allowedNetworks)
  return { ...row, permissions: JSON.parse(row.permissions), allowedNetworks }
}

function networksColumn({ allowedNetworks }: ApiKey): string | null {
  return allowedNetworks === null ? null : JSON.stringify(allowedNetworks)
}
