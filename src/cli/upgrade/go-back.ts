import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { systemClock } from '../../os/clock.ts'
import { LOCK_FILE, lockDataDir } from '../../storage/sqlite/lock.ts'
import { DATABASE_FILE } from '../../storage/sqlite/open.ts'
import { undoUpgrade, type Written } from '../../storage/sqlite/undo-upgrade.ts'
import { asOwnerOf, requireSafePath } from '../owner-rights.ts'
import { isPostgres, storeSchema } from './store.ts'

/** Why the store cannot go back; or the newer database that was moved aside, null if the new program did not change the
 *  schema. */
export type WentBack = { newer: string | null } | { fault: string }

/** How long a server that was stopped may still use its data directory. */
const ENDING_MS = 40_000
const LOOK_MS = 200

/** Returns the store of a stopped server to its schema before the upgrade, unless something would be lost: what the new
 *  program accepted, sent or recorded. Throws what the driver throws. */
export async function storeBack(config: Config, schema: number | null): Promise<WentBack> {
  const present = await storeSchema(config)
  if (schema === null || present === null || present <= schema) return { newer: null }
  if (isPostgres(config)) {
    return { fault: 'the tables of PostgreSQL are upgraded, and the old version does not open them' }
  }
  requireSafePath(config.dataDir)
  return asOwnerOf(config.dataDir, async () => {
    const lock = await lockWhenFree(config.dataDir)
    if (lock === null) return { fault: 'a server still uses the data directory' }
    try {
      const result = undoUpgrade(join(config.dataDir, DATABASE_FILE), schema)
      if (result.kind === 'undone') return { newer: result.newer }
      if (result.kind === 'no copy') return { fault: 'there is no copy of the database from before the upgrade' }
      return { fault: `going back would lose what it has accepted or sent since: ${words(result.written)}` }
    } finally {
      lock.release()
    }
  })
}

async function lockWhenFree(dataDir: string): Promise<{ release: () => void } | null> {
  if (!existsSync(join(dataDir, LOCK_FILE))) return { release: () => {} }
  for (const endsAt = systemClock.steady.now() + ENDING_MS; ; await systemClock.sleep(LOOK_MS)) {
    const lock = lockDataDir(dataDir)
    if (lock !== null || systemClock.steady.now() >= endsAt) return lock
  }
}

function words(written: Written): string {
  if (written === null) return 'its tables cannot be compared'
  return Object.entries(written)
    .map(([table, rows]) => `${rows} ${table.replaceAll('_', ' ')}`)
    .join(', ')
}
