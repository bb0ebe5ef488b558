import type { IdempotencyRecords, Remember } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Writer } from './writer.ts'

const FIND = `select organization_id as organizationId, key_hash as keyHash, request_hash as requestHash, status, body,
    created_at as createdAt
  from idempotency where organization_id = ? and key_hash = ? and created_at > ?`
// An expired record may still stand where the new one goes.
const REMEMBER = `insert or replace into idempotency (organization_id, key_hash, request_hash, status, body, created_at)
  values (?, ?, ?, ?, ?, ?)`
const PRUNE = `delete from idempotency where rowid in (
    select rowid from idempotency where created_at < ? limit ?)`

/** Writes an answer to remember inside the change it tells of; nothing when there is none. */
export type RememberInside = (remember: Remember | undefined) => void

export function rememberInside(db: Connection): RememberInside {
  const insert = db.prepare(REMEMBER)
  return (remember) => {
    if (remember === undefined) return
    const { organizationId, keyHash, requestHash, status, body, createdAt } = remember
    insert.run(organizationId, keyHash, requestHash, status, body, createdAt)
  }
}

export function sqliteIdempotency(db: Connection, writer: Writer): IdempotencyRecords {
  const find = db.prepare(FIND)
  const prune = db.prepare(PRUNE)
  return {
    find: async (organizationId, keyHash, since) =>
      (find.get(organizationId, keyHash, since) as Remember | undefined) ?? null,
    prune: (before, limit) => writer.write(() => prune.run(before, limit).changes),
  }
}
