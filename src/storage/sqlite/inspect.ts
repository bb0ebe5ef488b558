import { decryptAll } from '../records/re-encrypt.ts'
import { StoreDamaged } from '../store.ts'
import { preparing, readNow } from './database.ts'
import { type Connection, connect, one } from './driver.ts'
import { openEncryption } from './encryption-key.ts'
import { requireOwnSchema } from './own-schema.ts'

/** A copy that is not in use → the number of its schema steps, and its installation. Its pages must be intact.
 *  Throws StoreDamaged, and what the driver throws. */
export function describeDatabase(file: string): { schema: number; instanceId: string } {
  return withDatabase(file, (db) => {
    requireWhole(db, 'quick_check(1)')
    return {
      schema: one(db.prepare<unknown[], number>('select max(number) from migrations').pluck()),
      instanceId: one(db.prepare<unknown[], string>('select id from instance').pluck()),
    }
  })
}

/** Inspects a whole copy with its `seal.key`: first that its tables, indexes and triggers are exactly those of this
 *  program, then trees and indexes, references between tables, schema steps, and every encrypted secret. Returns the
 *  number of secrets. Throws StoreDamaged, StoreMismatch for a newer one and EncryptionKeyUnusable. */
export function inspectDatabase(folder: string, file: string): { secrets: number } {
  return withDatabase(file, (db) => {
    requireOwnSchema(db)
    requireWhole(db, 'integrity_check(1)')
    const [broken] = db.prepare<unknown[], { table: string; parent: string }>('pragma foreign_key_check').all()
    if (broken !== undefined) {
      throw new StoreDamaged(`a row of ${broken.table} refers to a missing row of ${broken.parent}`)
    }
    return { secrets: readNow(preparing(db), decryptAll(openEncryption(folder, db))) }
  })
}

function requireWhole(db: Connection, check: string): void {
  const [found] = db.prepare<unknown[], string>(`pragma ${check}`).pluck().all()
  const verdict = found?.replace(/\s+/g, ' ')
  if (verdict !== 'ok') throw new StoreDamaged(`the database is damaged: ${verdict}`)
}

function withDatabase<T>(file: string, look: (db: Connection) => T): T {
  const db = connect(file, { busyTimeoutMs: 0 })
  try {
    return look(db)
  } finally {
    db.close()
  }
}
