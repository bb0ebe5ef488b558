import { IDEMPOTENCY_KEPT_MS } from '../../model/idempotency.ts'
import { AlreadyRemembered, type IdempotencyRecords, type Remember } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { Writer } from './writer.ts'

const FIND = `select organization_id as organizationId, key_hash as keyHash, request_hash as requestHash, status, body,
    created_at as createdAt
  from idempotency where organization_id = ? and key_hash = ? and created_at > ?`
const REMEMBER = `insert into idempotency (organization_id, key_hash, request_hash, status, body, created_at)
  values (?, ?, ?, ?, ?, ?) on conflict do nothing`
// An expired one.
const REPLACE = `update idempotency set request_hash = ?, status = ?, body = ?, created_at = ?
  where organization_id = ? and key_hash = ?`
const PRESENT = `select rowid as number, octet_length(body) as bytes, created_at as createdAt from idempotency
  where organization_id = ? and key_hash = ?`
const SAME_REQUEST = `select rowid as number, octet_length(body) as bytes from idempotency
  where organization_id = ? and key_hash = ? and request_hash = ?`
const CHANGE_ANSWER = 'update idempotency set status = ?, body = ? where rowid = ?'
const PRUNE = `delete from idempotency where rowid in (
    select rowid from idempotency where created_at < ? limit ?)
  returning rowid as number, organization_id as organizationId, octet_length(body) as bytes`

/** Writes an idempotency record inside the change that it belongs to; does nothing without one. Throws
 *  AlreadyRemembered. */
export type RememberInside = (remember: Remember | undefined) => void

export function rememberInside(db: Connection, storedBytes: StoredBytes): RememberInside {
  const insert = db.prepare(REMEMBER)
  const presentOf = db.prepare<unknown[], { number: number; bytes: number; createdAt: number }>(PRESENT)
  const replace = db.prepare(REPLACE)
  return (remember) => {
    if (remember === undefined) return
    const { organizationId, keyHash, requestHash, status, body, createdAt } = remember
    const { changes, lastInsertRowid } = insert.run(organizationId, keyHash, requestHash, status, body, createdAt)
    if (changes === 1) return storedBytes.change('answers', lastInsertRowid, organizationId, body.byteLength)
    const present = one(presentOf, organizationId, keyHash)
    if (present.createdAt > createdAt - IDEMPOTENCY_KEPT_MS) throw new AlreadyRemembered()
    replace.run(requestHash, status, body, createdAt, organizationId, keyHash)
    storedBytes.change('answers', present.number, organizationId, body.byteLength - present.bytes)
  }
}

export function sqliteIdempotency(db: Connection, writer: Writer, storedBytes: StoredBytes): IdempotencyRecords {
  const find = db.prepare<unknown[], Remember>(FIND)
  const sameRequest = db.prepare<unknown[], { number: number; bytes: number }>(SAME_REQUEST)
  const changeAnswer = db.prepare(CHANGE_ANSWER)
  const prune = db.prepare<unknown[], { number: number; organizationId: string; bytes: number }>(PRUNE)
  return {
    find: async (organizationId, keyHash, since) => find.get(organizationId, keyHash, since) ?? null,
    replace: ({ organizationId, keyHash, requestHash, status, body }) =>
      writer.write(() => {
        const present = sameRequest.get(organizationId, keyHash, requestHash)
        if (present === undefined) return
        changeAnswer.run(status, body, present.number)
        storedBytes.change('answers', present.number, organizationId, body.byteLength - present.bytes)
      }),
    prune: (before, limit) =>
      writer.write(() => {
        const gone = prune.all(before, limit)
        for (const { number, organizationId, bytes } of gone)
          storedBytes.change('answers', number, organizationId, -bytes)
        return gone.length
      }),
  }
}
