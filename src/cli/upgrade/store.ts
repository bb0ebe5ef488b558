import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { NEWEST_SCHEMA } from '../../storage/migrations.ts'
import { LOCK_FILE, lockDataDir } from '../../storage/sqlite/lock.ts'
import { DATABASE_FILE } from '../../storage/sqlite/open.ts'
import { schemaOf } from '../../storage/sqlite/undo-upgrade.ts'
import { describePostgres } from '../backup/postgres.ts'
import { hasDatabase, openStoreOf } from '../cli-context.ts'
import { localUser } from '../local-user.ts'
import { recordAsOperator } from '../operator-entry.ts'
import { asOwnerOf } from '../owner-rights.ts'

/** The store of an upgrade. Root works with the rights of the data directory's owner. */

export const isPostgres = ({ database }: Config) => database.url !== ''

/** Number of schema steps of the store; null if there is no database yet. */
export async function storeSchema(config: Config): Promise<number | null> {
  if (!hasDatabase(config)) return null
  if (isPostgres(config)) return (await describePostgres(config)).schema
  return asOwnerOf(config.dataDir, async () => schemaOf(join(config.dataDir, DATABASE_FILE)))
}

/** Whether this program opens the store: other nodes may have upgraded it already. */
export async function opensStore(config: Config): Promise<boolean> {
  return ((await storeSchema(config)) ?? 0) <= NEWEST_SCHEMA
}

/** Whether a server uses the data directory. Does not create a lock file. */
export async function isServedNow({ dataDir }: Config): Promise<boolean> {
  if (!existsSync(join(dataDir, LOCK_FILE))) return false
  return asOwnerOf(dataDir, async () => {
    const lock = lockDataDir(dataDir)
    lock?.release()
    return lock === null
  })
}

/** Adds the upgrade to a version to the audit log, while this program can still open the store. */
export async function recordUpgrade(config: Config, version: string): Promise<void> {
  const user = localUser()
  await asOwnerOf(config.dataDir, async () => {
    const store = await openStoreOf(config)
    try {
      await recordAsOperator(store, { action: 'upgrade', resourceId: version, user })
    } finally {
      await store.close()
    }
  })
}
