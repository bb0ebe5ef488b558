import type { ApiKey } from '../../model/api-key.ts'
import { FIXED_LIMITS, type LimitReached } from '../../model/limits.ts'
import { rangeOf, toPage } from '../page.ts'
import type { ApiKeys } from '../store.ts'
import { textArray } from './arrays.ts'
import type { RememberInside } from './idempotency.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Queries } from './transactions.ts'
import type { Usage } from './usage.ts'
import type { SettingsStatements, Writer } from './writer.ts'

const COLUMNS = `id, organization_id as "organizationId", domain_id as "domainId", name, mode, permissions, prefix,
  created_at::float8 as "createdAt", last_used_at::float8 as "lastUsedAt", expires_at::float8 as "expiresAt",
  revoked_at::float8 as "revokedAt", rotated_to as "rotatedTo", allowed_networks as "allowedNetworks", created_by as "createdBy",
  maker_role as "makerRole"`
const CREATE = `insert into api_keys (id, organization_id, domain_id, name, mode, permissions, prefix, secret_hash,
    created_at, last_used_at, expires_at, revoked_at, rotated_to, allowed_networks, created_by, maker_role)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`
const ALL = `select ${COLUMNS}, encode(secret_hash, 'hex') as "secretHash" from api_keys`
const GET = `select ${COLUMNS} from api_keys where id = $1`
const LIST = `select ${COLUMNS} from api_keys
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`
const UPDATE = 'update api_keys set name = $2, allowed_networks = $3 where id = $1'
const REVOKE = 'update api_keys set revoked_at = $2 where id = $1 and revoked_at is null'
const OF_USER = 'created_by = $1 and ($2::text is null or organization_id = $2)'
const REVOKE_OF = `update api_keys set revoked_at = $3 where ${OF_USER} and revoked_at is null
  and (expires_at is null or expires_at > $3) returning id`
const DISOWN = `update api_keys set created_by = null where ${OF_USER} returning id`
const ROTATE = `update api_keys set rotated_to = $2, expires_at = least($3::bigint, coalesce(expires_at, $3::bigint))
  where id = $1 and rotated_to is null and revoked_at is null and (expires_at is null or expires_at > $4)`
// Valid keys; those in the grace period of a rotation (rotated_to) count separately.
const WORKING = `select count(*)::int as count from api_keys where organization_id = $1 and revoked_at is null
  and (expires_at is null or expires_at > $2) and (rotated_to is not null) = $3`
const DEAD = `select id from api_keys where organization_id = $1 and (revoked_at is not null or expires_at <= $2)
  order by id desc limit $3 offset $4`
const REMOVE = 'delete from api_keys where id = any($1::text[])'
const RECORD_USE = 'update api_keys set last_used_at = greatest($2::bigint, coalesce(last_used_at, 0)) where id = $1'

/** Inactive keys that are deleted when a key is created: more than one, so that an old store shrinks to the limit. */
const REMOVE_MAX = 20

/** An API key, and its secret's hash in hex. */
export interface MirroredKey {
  id: string
  key: ApiKey
  secretHash: string
}

export function apiKeyMirror(): Mirror<MirroredKey> {
  const read = readerOf<Row & { secretHash: string }>(ALL)
  return createMirror(async (queries, ids) =>
    (await read(queries, ids)).map(({ secretHash, ...row }) => ({ id: row.id, key: toApiKey(row), secretHash })),
  )
}

export function postgresApiKeys(
  reads: Reads,
  writer: Writer,
  { remember, usage }: { remember: RememberInside; usage: Usage },
): ApiKeys {
  const working = async (queries: Queries, organizationId: string, now: number, isRotated: boolean) => {
    const [row] = await queries.query<{ count: number }>(WORKING, [organizationId, now, isRotated])
    return row?.count ?? 0
  }
  /** Null, or the limit that one more key would exceed, or one more in its grace period. */
  const reached = (
    queries: Queries,
    organizationId: string,
    isRotated: boolean,
    now: number,
  ): Promise<LimitReached | null> =>
    usage.reached(organizationId, 'api_keys', 1, () => working(queries, organizationId, now, isRotated))
  /** Only a limited number of inactive keys is kept. Otherwise creating and revoking could fill the disk. */
  const removeOldest = async ({ query, run, changed }: SettingsStatements, organizationId: string, now: number) => {
    const dead = await query<{ id: string }>(DEAD, [organizationId, now, REMOVE_MAX, FIXED_LIMITS.inactiveKeys])
    if (dead.length === 0) return
    const ids = dead.map(({ id }) => id)
    await run(REMOVE, [textArray(ids)])
    changed('apiKey', ...ids)
  }
  const insert = async ({ run, changed }: SettingsStatements, key: ApiKey, secretHash: Uint8Array) => {
    const { id, organizationId, domainId, name, mode, permissions, prefix, createdAt, lastUsedAt } = key
    const first = [id, organizationId, domainId, name, mode, JSON.stringify(permissions), prefix, secretHash, createdAt]
    await run(CREATE, [
      ...first,
      lastUsedAt,
      key.expiresAt,
      key.revokedAt,
      key.rotatedTo,
      networksColumn(key),
      key.createdBy,
      key.makerRole,
    ])
    changed('apiKey', id)
  }
  const get = async (queries: Queries, id: string) => {
    const [row] = await queries.query<Row>(GET, [id])
    return row === undefined ? null : toApiKey(row)
  }

  return {
    create: (key, secretHash, record) =>
      writer.writeSettings(async (statements) => {
        const { organizationId, createdAt } = key
        const limit = await reached(statements, organizationId, false, createdAt)
        if (limit !== null) return limit
        await removeOldest(statements, organizationId, createdAt)
        await insert(statements, key, secretHash)
        await remember(statements, record)
        return 'created'
      }),
    count: (organizationId, now) => working(reads, organizationId, now, false),
    get: (id) => get(reads, id),
    list: async (organizationId, page) =>
      toPage(await reads.query<Row>(LIST, [organizationId, ...rangeOf(page)]), page, toApiKey),
    update: (id, change) =>
      writer.writeSettings(async (statements) => {
        const present = await get(statements, id)
        if (present === null) return null
        const key = { ...present, ...change }
        await statements.run(UPDATE, [id, key.name, networksColumn(key)])
        statements.changed('apiKey', id)
        return key
      }),
    revoke: (id, at) =>
      writer.writeSettings(async ({ run, changed }) => {
        await run(REVOKE, [id, at])
        changed('apiKey', id)
      }),
    revokeOf: (userId, organizationId, at) =>
      writer.writeSettings(async ({ query, changed }) => {
        const ids = (await query<{ id: string }>(REVOKE_OF, [userId, organizationId, at])).map(({ id }) => id)
        if (ids.length > 0) changed('apiKey', ...ids)
        return ids.length
      }),
    disown: (userId, organizationId) =>
      writer.writeSettings(async ({ query, changed }) => {
        const ids = (await query<{ id: string }>(DISOWN, [userId, organizationId])).map(({ id }) => id)
        if (ids.length > 0) changed('apiKey', ...ids)
      }),
    rotate: (oldId, fresh, secretHash, oldExpiresAt, now, record) =>
      writer.writeSettings(async (statements) => {
        const { organizationId } = fresh
        const limit = oldExpiresAt > now ? await reached(statements, organizationId, true, now) : null
        if (limit !== null) return limit
        if ((await statements.run(ROTATE, [oldId, fresh.id, oldExpiresAt, now])) === 0) return 'invalid_state'
        await removeOldest(statements, organizationId, now)
        await insert(statements, fresh, secretHash)
        await remember(statements, record)
        statements.changed('apiKey', oldId)
        return 'rotated'
      }),
    recordUse: (uses) =>
      writer.write(async ({ run }) => {
        for (const { id, at } of uses) await run(RECORD_USE, [id, at])
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
