import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { DATABASE_FILE, openStore } from '../../src/storage/sqlite/open.ts'
import { storeOn } from '../../src/storage/sqlite/store.ts'
import type { Store } from '../../src/storage/store.ts'

/** New stores that begin with a copy of the tables, because all migrations take most of the time of a short test. */

let bytes: Buffer | undefined

/** A database with the current tables and no rows. */
function migratedDatabase(): Buffer {
  if (bytes === undefined) {
    const db: Connection = connect(':memory:', { busyTimeoutMs: 0 })
    migrate(db, 0)
    bytes = db.serialize()
    db.close()
  }
  return bytes
}

/** The same as openStore with `:memory:`. */
export async function openMemoryStore(options: Parameters<typeof storeOn>[2] = {}): Promise<Store> {
  const db = connect(migratedDatabase(), { busyTimeoutMs: 0 })
  return storeOn(db, openEncryption(':memory:', db), options)
}

/** The same as openStore for an empty data directory. */
export function openNewStore(options: Parameters<typeof openStore>[0]): Promise<Store> {
  writeNewStore(options.dataDir)
  return openStore(options)
}

/** Writes the database of a store without rows into an empty data directory. */
export function writeNewStore(dataDir: string): void {
  writeFileSync(join(dataDir, DATABASE_FILE), migratedDatabase(), { mode: 0o600, flag: 'wx' })
}
