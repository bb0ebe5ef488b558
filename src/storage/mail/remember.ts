import { IDEMPOTENCY_KEPT_MS, type Remember } from '../../model/idempotency.ts'
import type { Columns, Work } from '../sql.ts'
import { each, forEach, insertInto } from './each.ts'
import type { MailInside, StoredRow } from './inside.ts'

interface Key {
  organizationId: string
  keyHash: Uint8Array
}

// Waits for another transaction that writes a record of the same key.
const REMEMBER = insertInto<Remember, Key & Pick<StoredRow, 'place'>>(
  'idempotency',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    key_hash: ['bytea', ({ keyHash }) => keyHash],
    request_hash: ['bytea', ({ requestHash }) => requestHash],
    status: ['int', ({ status }) => status],
    body: ['bytea', ({ body }) => body],
    created_at: ['bigint', ({ createdAt }) => createdAt],
  },
  'on conflict do nothing returning organization_id as "organizationId", key_hash as "keyHash", ctid as place',
)
// Not named as the columns of the table, so that neither database needs an alias to return those.
const KEY: Columns<Key> = {
  organization: ['text', ({ organizationId }) => organizationId],
  hash: ['bytea', ({ keyHash }) => keyHash],
}
const REMOVED = 'returning ctid as place, organization_id as "organizationId", octet_length(body) as bytes'
const REMOVE_EXPIRED = each<Remember, StoredRow>(
  { ...KEY, until: ['bigint', ({ createdAt }: Remember) => createdAt - IDEMPOTENCY_KEPT_MS] },
  `delete from idempotency using rows r
    where organization_id = r.organization and key_hash = r.hash and created_at <= r.until ${REMOVED}`,
)
const REMOVE = each<Key, StoredRow>(
  KEY,
  `delete from idempotency using rows r where organization_id = r.organization and key_hash = r.hash ${REMOVED}`,
)

/** Writes records of idempotent requests → those that were written; not those whose key has one that has not expired, or
 *  comes earlier in the list. */
export function* rememberAll(inside: MailInside, records: readonly Remember[]): Work<Set<Remember>> {
  if (records.length === 0) return new Set()
  const first = new Map<string, Remember>()
  for (const record of records) if (!first.has(keyOf(record))) first.set(keyOf(record), record)
  // In the order of their keys, so that two transactions do not wait for each other.
  const sorted = [...first].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, record]) => record)
  const written = new Map((yield* forEach(REMEMBER, sorted)).map((row) => [keyOf(row), row.place]))
  const present = sorted.filter((record) => !written.has(keyOf(record)))
  const expired = yield* forEach(REMOVE_EXPIRED, present)
  for (const { place, organizationId, bytes } of expired) inside.stored('answers', place, organizationId, -bytes)
  if (expired.length > 0) for (const row of yield* forEach(REMEMBER, present)) written.set(keyOf(row), row.place)
  const added = sorted.filter((record) => written.has(keyOf(record)))
  for (const record of added)
    inside.stored('answers', written.get(keyOf(record)), record.organizationId, record.body.byteLength)
  return new Set(added)
}

/** Removes records of these keys → their number. */
export function* forgetAll(inside: MailInside, keys: readonly Key[]): Work<number> {
  const gone = yield* forEach(REMOVE, keys)
  for (const { place, organizationId, bytes } of gone) inside.stored('answers', place, organizationId, -bytes)
  return gone.length
}

const keyOf = ({ organizationId, keyHash }: Key) => `${organizationId} ${Buffer.from(keyHash).toString('hex')}`
