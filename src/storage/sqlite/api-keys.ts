import type { ApiKey } from '../../model/api-key.ts'
import { FIXED_LIMITS, type LimitReached } from '../../model/limits.ts'
import { rangeOf, toPage } from '../page.ts'
import type { ApiKeys } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'
import type { RememberInside } from './idempotency.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, domain_id as domainId, name, mode, permissions, prefix,
  created_at as createdAt, last_used_at as lastUsedAt, expires_at as expiresAt, revoked_at as revokedAt,
  rotated_to as rotatedTo, allowed_networks as allowedNetworks, created_by as createdBy,
  maker_role as makerRole`
const CREATE = `insert into api_keys (id, organization_id, domain_id, name, mode, permissions, prefix, secret_hash,
    created_at, last_used_at, expires_at, revoked_at, rotated_to, allowed_networks, created_by, maker_role)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const FIND_BY_SECRET = `select ${COLUMNS} from api_keys where secret_hash = ?`
const GET = `select ${COLUMNS} from api_keys where id = ?`
const LIST = `select ${COLUMNS} from api_keys
  where organization_id = ? and id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const UPDATE = 'update api_keys set name = ?, allowed_networks = ? where id = ?'
const REVOKE = 'update api_keys set revoked_at = ? where id = ? and revoked_at is null'
const OF_USER = 'created_by = @userId and (@organizationId is null or organization_id = @organizationId)'
const REVOKE_OF = `update api_keys set revoked_at = @at where ${OF_USER} and revoked_at is null
  and (expires_at is null or expires_at > @at)`
const DISOWN = `update api_keys set created_by = null where ${OF_USER}`
const ROTATE = `update api_keys set rotated_to = ?, expires_at = min(?, coalesce(expires_at, ?))
  where id = ? and rotated_to is null and revoked_at is null and (expires_at is null or expires_at > ?)`
// Valid keys; those in the grace period of a rotation (rotated_to) count separately.
const WORKING = `select count(*) from api_keys where organization_id = ? and revoked_at is null
  and (expires_at is null or expires_at > ?) and (rotated_to is not null) = ?`
const DEAD = `select id from api_keys where organization_id = ? and (revoked_at is not null or expires_at <= ?)
  order by id desc limit ? offset ?`
const REMOVE = 'delete from api_keys where id = ?'
const RECORD_USE = 'update api_keys set last_used_at = max(?, coalesce(last_used_at, 0)) where id = ?'

/** Recently used keys, by the hash of their secret. */
export interface KeyCache {
  /** Null if no key has this secret. */
  bySecret(secretHash: Uint8Array): ApiKey | null
  drop(): void
}

/** Inactive keys that are deleted when a key is created: more than one, so that an old store shrinks to the limit. */
const REMOVE_MAX = 20

/** A burst of invented keys never fills the cache, because misses are not cached. */
const CACHE_MAX = 10_000

export function keyCache(db: Connection, foreign: ForeignChanges): KeyCache {
  const findBySecret = db.prepare<unknown[], Row>(FIND_BY_SECRET)
  const keys = new Map<string, ApiKey>()
  const name = (secretHash: Uint8Array) => Buffer.from(secretHash).toString('latin1')
  const drop = () => keys.clear()
  foreign.onChange(drop)
  return {
    bySecret: (secretHash) => {
      foreign.glance()
      const cached = keys.get(name(secretHash))
      if (cached !== undefined) return cached
      const row = findBySecret.get(secretHash)
      if (row === undefined) return null
      const key = toApiKey(row)
      if (keys.size >= CACHE_MAX) keys.clear()
      keys.set(name(secretHash), key)
      return key
    },
    drop,
  }
}

export function sqliteApiKeys(
  db: Connection,
  writer: Writer,
  cache: KeyCache,
  remember: RememberInside,
  usage: Usage,
): ApiKeys {
  const create = db.prepare(CREATE)
  const get = db.prepare<unknown[], Row>(GET)
  const list = db.prepare<unknown[], Row>(LIST)
  const update = db.prepare(UPDATE)
  const revoke = db.prepare(REVOKE)
  const revokeOf = db.prepare(REVOKE_OF)
  const disown = db.prepare(DISOWN)
  const rotate = db.prepare(ROTATE)
  const working = db.prepare<unknown[], number>(WORKING).pluck()
  const dead = db.prepare(DEAD).pluck()
  const remove = db.prepare(REMOVE)
  const recordUse = db.prepare(RECORD_USE)

  /** Null, or the limit that one more key would exceed, or one more in its grace period. */
  const reached = (organizationId: string, isRotated: boolean, now: number): LimitReached | null =>
    usage.reached(organizationId, 'api_keys', 1, () => one(working, organizationId, now, Number(isRotated)))
  /** Only a limited number of inactive keys is kept. Otherwise creating and revoking could fill the disk. */
  const removeOldest = (organizationId: string, now: number) => {
    for (const id of dead.all(organizationId, now, REMOVE_MAX, FIXED_LIMITS.inactiveKeys)) remove.run(id)
  }

  const insert = (key: ApiKey, secretHash: Uint8Array) =>
    create.run(
      key.id,
      key.organizationId,
      key.domainId,
      key.name,
      key.mode,
      JSON.stringify(key.permissions),
      key.prefix,
      secretHash,
      key.createdAt,
      key.lastUsedAt,
      key.expiresAt,
      key.revokedAt,
      key.rotatedTo,
      networksColumn(key),
      key.createdBy,
      key.makerRole,
    )

  return {
    create: (key, secretHash, record) =>
      writer.write(() => {
        const { organizationId, createdAt } = key
        const limit = reached(organizationId, false, createdAt)
        if (limit !== null) return limit
        removeOldest(organizationId, createdAt)
        insert(key, secretHash)
        remember(record)
        return 'created'
      }),
    count: async (organizationId, now) => one(working, organizationId, now, 0),
    get: async (id) => {
      const row = get.get(id)
      return row === undefined ? null : toApiKey(row)
    },
    list: async (organizationId, page) => toPage(list.all(organizationId, ...rangeOf(page)), page, toApiKey),
    update: (id, change) =>
      writer.write(() => {
        const row = get.get(id)
        if (row === undefined) return null
        const key = { ...toApiKey(row), ...change }
        update.run(key.name, networksColumn(key), id)
        cache.drop()
        return key
      }),
    revoke: (id, at) =>
      writer.write(() => {
        revoke.run(at, id)
        cache.drop()
      }),
    revokeOf: (userId, organizationId, at) =>
      writer.write(() => {
        const { changes } = revokeOf.run({ userId, organizationId, at })
        cache.drop()
        return changes
      }),
    disown: (userId, organizationId) =>
      writer.write(() => {
        disown.run({ userId, organizationId })
        cache.drop()
      }),
    rotate: (oldId, fresh, secretHash, oldExpiresAt, now, record) =>
      writer.write(() => {
        const limit = oldExpiresAt > now ? reached(fresh.organizationId, true, now) : null
        if (limit !== null) return limit
        if (rotate.run(fresh.id, oldExpiresAt, oldExpiresAt, oldId, now).changes === 0) return 'invalid_state'
        removeOldest(fresh.organizationId, now)
        insert(fresh, secretHash)
        remember(record)
        cache.drop()
        return 'rotated'
      }),
    recordUse: (uses) =>
      writer.write(() => {
        for (const { id, at } of uses) recordUse.run(at, id)
      }),
  }
}

type Row = Omit<ApiKey, 'permissions' | 'allowedNetworks'> & { permissions: string; allowedNetworks: string | null }

function toApiKey(row: Row): ApiKey {
  const allowedNetworks = row.allowedNetworks === null ? null : JSON.parse(row.allowedNetworks)
  return { ...row, permissions: JSON.parse(row.permissions), allowedNetworks }
}

function networksColumn({ allowedNetworks }: ApiKey): string | null {
  return allowedNetworks === null ? null : JSON.stringify(allowedNetworks)
}
