import { copyFileSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, planNamed } from '../../config/load.ts'
import { systemClock } from '../../os/clock.ts'
import { sync } from '../../os/sync.ts'
import { ENCRYPTION_KEY_FILE } from '../../storage/encryption-key.ts'
import type { CopiedTable } from '../../storage/moving/copy-tables.ts'
import { moveToSqlite } from '../../storage/moving/to-sqlite.ts'
import { databaseAddress } from '../../storage/postgres/address.ts'
import { DATABASE_FILE, openStore } from '../../storage/sqlite/open.ts'
import { openStagingDir } from '../backup/staging-dir.ts'
import { isEmpty } from '../backup/swap.ts'
import { withStore } from '../cli-context.ts'
import { CommandFailure, usageFault } from '../failure.ts'
import { print, printJson } from '../print.ts'
import { settleToMove } from './prepare.ts'

/** Moves the data of the configured PostgreSQL database into the empty folder `to`, with all nodes ended. It may be
 *  interrupted anywhere and repeated: the database serves until everything is copied, and no longer from then on. Throws
 *  CommandFailure without a database, for a folder that is not empty, and while nodes run. */
export async function migrateBack(
  config: Config,
  to: string,
  options: { config: string; finish?: true; json?: true },
): Promise<void> {
  if (options.finish) throw usageFault('--finish is for moves to PostgreSQL.')
  if (config.database.url === '') throw usageFault('To move from PostgreSQL, set database.url.')
  if (!isEmpty(to) && readdirSync(to).join() !== ENCRYPTION_KEY_FILE) {
    throw new CommandFailure(`${to} is not empty. Choose an empty directory.`)
  }
  const startedAt = systemClock.now()
  await settle(config)
  mkdirSync(to, { recursive: true, mode: 0o700 })
  const staging = openStagingDir(to, 'migrate')
  try {
    const tables = await copyInto(staging.folder, config)
    // The database last: without it, the folder is empty.
    for (const name of [ENCRYPTION_KEY_FILE, DATABASE_FILE]) {
      sync(join(staging.folder, name))
      renameSync(join(staging.folder, name), join(to, name))
    }
    sync(to)
    report(tables, { to, tookMs: systemClock.now() - startedAt, ...options })
  } finally {
    staging.remove()
  }
}

/** A database that an earlier run has marked is settled. */
async function settle(config: Config): Promise<void> {
  await withStore(config, ({ store }) => settleToMove(config, store)).catch((error: unknown) => {
    if (!(error instanceof CommandFailure) || !error.message.includes('moved to a data directory')) throw error
  })
}

async function copyInto(folder: string, config: Config): Promise<CopiedTable[]> {
  const address = databaseAddress(config.database)
  const now = systemClock.now()
  copyFileSync(join(config.dataDir, ENCRYPTION_KEY_FILE), join(folder, ENCRYPTION_KEY_FILE))
  const onCopied = () => {}
  const tables = await moveToSqlite({ address, file: join(folder, DATABASE_FILE), now, onCopied })
  const store = await openStore({ dataDir: folder, now, plans: planNamed(config) })
  try {
    while (await store.maintain('recent', () => false)); // fills the search index
  } finally {
    await store.close()
  }
  return tables
}

function report(
  tables: readonly CopiedTable[],
  { to, tookMs, config, json }: { to: string; tookMs: number; config: string; json?: true },
): void {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  if (json) {
    printJson({ data_dir: to, rows, took_ms: tookMs, tables: tables.map(({ name, rows }) => ({ name, rows })) })
    return
  }
  print(`${rows} rows copied in ${(tookMs / 1000).toFixed(1)} s. Nodes refuse the PostgreSQL database from now on.
Copy certificates of the old data directory if you need them. In ${config}, remove database.url and set data_dir, then start the server:

   data_dir = "${to}"`)
}
