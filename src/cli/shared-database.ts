import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/load.ts'
import { EncryptionKeyUnusable } from '../storage/encryption.ts'
import { ENCRYPTION_KEY_FILE, encryptionIn } from '../storage/encryption-key.ts'
import { type DatabaseState, inspectDatabase } from '../storage/postgres/requirements.ts'
import { storeFailure, usageFault } from './failure.ts'

/** Checks the PostgreSQL database of a config → what is in it; null with SQLite. Changes nothing. Throws CommandFailure,
 *  which says what to do, if the database cannot be used. */
export async function inspectShared({ database, dataDir }: Config): Promise<DatabaseState | null> {
  if (database.url === '') return null
  return inspectDatabase(database).catch((thrown: unknown) => {
    throw storeFailure(thrown, dataDir)
  })
}

/** Throws CommandFailure (exit code 2) if `--database` is not the database of an existing config. */
export function requireSameDatabase(url: string | undefined, file: string, { database }: Config): void {
  if (url === undefined || url === database.url) return
  const found =
    database.url === ''
      ? 'uses SQLite. Move its data with: postrider migrate --help'
      : 'names another database. Edit database.url_file or database.url in it'
  throw usageFault(`database: ${file} exists and ${found}. For another installation, choose another file with --config`)
}

/** Throws CommandFailure (exit code 2) if the database belongs to an installation whose key is not here. */
export function requireOwnKey(state: DatabaseState | null, { dataDir }: Config): void {
  if (!state?.proof || existsSync(join(dataDir, ENCRYPTION_KEY_FILE))) return
  throw usageFault(
    'database: it belongs to an installation already. Add this machine to it: postrider join --database URL --seal-key FILE',
  )
}

/** Throws CommandFailure (exit code 2) if the file does not contain the key of the installation. */
export function requireKey(file: string, proof: Uint8Array): void {
  if (!existsSync(file)) throw usageFault(`seal-key: ${file} does not exist`)
  try {
    encryptionIn(file, proof)
  } catch (error) {
    if (!(error instanceof EncryptionKeyUnusable)) throw error
    throw usageFault(`seal-key: ${error.message}`)
  }
}
