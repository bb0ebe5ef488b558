import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, objectPlaceOf, planNamed } from '../../config/load.ts'
import { systemClock } from '../../os/clock.ts'
import { createMintId } from '../../os/ids.ts'
import { systemRandom } from '../../os/random.ts'
import { NEWEST_SCHEMA } from '../../storage/migrations.ts'
import { openStore } from '../../storage/open.ts'
import { LOCK_FILE, lockDataDir } from '../../storage/sqlite/lock.ts'
import { DATABASE_FILE } from '../../storage/sqlite/open.ts'
import { schemaOf } from '../../storage/sqlite/undo-upgrade.ts'
import { describePostgres } from '../backup/postgres.ts'
import { hasDatabase } from '../cli-context.ts'
import { localUser } from '../local-user.ts'
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

/** Adds an entry to the audit log, while this program can still open the store. */
export async function recordInAuditLog(
  config: Config,
  { action, version }: { action: string; version: string },
): Promise<void> {
  const { dataDir, database, storage } = config
  const user = localUser()
  await asOwnerOf(dataDir, async () => {
    const store = await openStore({
      dataDir,
      database,
      objects: objectPlaceOf(config),
      now: systemClock.now(),
      minFreeBytes: storage.minFreeBytes,
      plans: planNamed(config),
      node: { isCommand: true },
    })
    try {
      const id = createMintId(systemClock, systemRandom)('aud')
      await store.auditLog.put({
        id,
        organizationId: null,
        at: systemClock.now(),
        actor: { type: 'operator', id: 'operator', name: user },
        action,
        resourceId: version,
        createdId: null,
        fields: [],
        ipAddress: null,
        outcome: 'done',
        requestId: `upgrade-${id}`,
      })
    } finally {
      await store.close()
    }
  })
}
