import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Plan } from '../../model/organization.ts'
import type { CommitListener } from '../commit-reports.ts'
import type { Store } from '../store.ts'
import { createDiskReserve } from './disk-reserve.ts'
import { type Connection, connect } from './driver.ts'
import { openEncryption } from './encryption-key.ts'
import { migrate } from './migrate.ts'
import type { ReadingThread } from './reader.ts'
import { requireFiles, requireSoundDatabase, toDamaged } from './soundness.ts'
import { storeOn } from './store.ts'

export const DATABASE_FILE = 'postrider.db'
/** Wait of a change for another process's transaction: the command line beside a running server. */
const LOCK_PATIENCE_MS = 5_000
/** Part of that wait that blocks the thread: most locks of others end within it. */
const LOCK_GLANCE_MS = 5

const COMING = `select 1 from large_contents where kind = 'coming' limit 1`
const GIVE_UP = `update large_contents set kind = 'gone' where kind = 'coming'`

/** Data directory → its Store, created and upgraded where needed; `:memory:` for tests. Files are readable only by
 *  their owner. `onUpgrade` gets the schema steps of an upgrade. `plans`: limits of the plan with that name; by
 *  default nothing is limited. `minFreeBytes` of the disk stay free of new mail. `readingThread` runs lists, searches and
 *  statistics, and stops with the store; without it they run at once in this thread. The log is checked first, and with
 *  `onTorn`, in the process that serves the store, the database too; `onTorn` gets the size of an unfinished change
 *  at the end of the log. Throws StoreDamaged, StoreMismatch for a newer store, EncryptionKeyUnusable without its
 *  key, and what the driver throws for an unreadable one. */
export async function openStore(options: {
  dataDir: string
  now: number
  commitListener?: CommitListener
  minFreeBytes?: number
  onTorn?: (bytes: number) => void
  plans?: (name: string) => Plan
  onUpgrade?: (steps: readonly string[]) => void
  readingThread?: ReadingThread | undefined
}): Promise<Store> {
  const { dataDir, now, commitListener, minFreeBytes = 0, onTorn, plans, onUpgrade, readingThread } = options
  const file = dataDir === ':memory:' ? dataDir : join(dataDir, DATABASE_FILE)
  let db: Connection | undefined
  try {
    const torn = file === ':memory:' ? 0 : requireFiles(file).tornBytes
    if (torn > 0) onTorn?.(torn)
    makeFile(dataDir, file)
    db = connect(file, { busyTimeoutMs: LOCK_PATIENCE_MS })
    if (onTorn !== undefined) requireSoundDatabase(db)
    const steps = migrate(db, now)
    if (onTorn !== undefined) giveUpComing(db) // unfinished work of the last run
    const encryption = openEncryption(dataDir, db)
    db.pragma(`busy_timeout = ${LOCK_GLANCE_MS}`)
    if (steps.length > 0) onUpgrade?.(steps)
    return storeOn(db, encryption, {
      commitListener,
      plans,
      readingThread,
      reserve: createDiskReserve(dataDir, minFreeBytes),
      lockPatienceMs: LOCK_PATIENCE_MS,
    })
  } catch (error) {
    db?.close()
    throw toDamaged(error, file)
  }
}

function makeFile(dataDir: string, file: string): void {
  if (file === ':memory:') return
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // An empty file is an empty database, and SQLite gives -wal and -shm the mode of the database file.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
}

/** At the start: releases parts of contents (mail/contents.ts) that the last process was still writing. */
function giveUpComing(db: Connection): void {
  // Without any, it would wait for the write lock for nothing.
  if (db.prepare(COMING).get() !== undefined) db.exec(GIVE_UP)
}
