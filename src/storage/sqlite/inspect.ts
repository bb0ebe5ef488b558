import { SQLITE_MIGRATIONS } from '../migrations.ts'
import { decryptAll } from '../records/re-encrypt.ts'
import { StoreDamaged } from '../store.ts'
import { readingOn } from './database.ts'
import { type Connection, connect, one } from './driver.ts'
import { openEncryption } from './encryption-key.ts'
import { migrate, requireKnownSchema } from './migrate.ts'

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
    return { secrets: readingOn(db)(decryptAll(openEncryption(folder, db))) }
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

/** Checks that the tables, indexes, triggers and views of an untrusted database are exactly those of this program's
 *  migrations: a foreign trigger would run with every change, a view in place of a table with every query. Reads
 *  only the list of them before. Throws StoreDamaged, and StoreMismatch for a newer schema. */
function requireOwnSchema(db: Connection): void {
  const found = schemaOf(db)
  const steps = found.get('table migrations')
  const fresh = connect(':memory:', { busyTimeoutMs: 0 })
  try {
    migrate(fresh, 0, [])
    if (steps === undefined || steps !== schemaOf(fresh).get('table migrations')) {
      throw new StoreDamaged('not a Postrider database: the table of schema steps is missing')
    }
    migrate(fresh, 0, SQLITE_MIGRATIONS.slice(0, requireKnownSchema(db)))
    const own = schemaOf(fresh)
    for (const [name, text] of found) {
      if (own.get(name) !== text) throw new StoreDamaged(`the database contains an unknown ${name}`)
    }
    const missing = own.keys().find((name) => !found.has(name))
    if (missing !== undefined) throw new StoreDamaged(`the database has no ${missing}`)
  } finally {
    fresh.close()
  }
}

/** `table messages` → the text that created it. Without SQLite's planner tables (ANALYZE). */
function schemaOf(db: Connection): Map<string, string> {
  const rows = db
    .prepare<unknown[], { type: string; name: string | null; sql: string | null }>(
      'select type, name, sql from sqlite_schema limit 10000',
    )
    .all()
  const named = rows.filter(({ type, name }) => !(type === 'table' && STATISTICS.test(name ?? '')))
  return new Map(named.map(({ type, name, sql }) => [`${type} ${name}`, sql ?? '']))
}

const STATISTICS = /^sqlite_stat[14]$/
