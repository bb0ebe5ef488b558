import { statSync } from 'node:fs'
import { connect } from './driver.ts'
import { requireFiles } from './soundness.ts'

/** Pages copied before others may use the disk: four megabytes. */
const STEP_PAGES = 1000
/** Wait for a process that is just opening the database. */
const PATIENCE_MS = 5_000

export interface Copied {
  bytes: number
  /** Size of the write-ahead log before and after: it cannot restart while a reader uses its start. */
  logBytes: { before: number; after: number }
}

/** Copies a database, in use or not, to `to`, as of one moment: it contains everything committed before the call.
 *  One read transaction holds that moment, so writers continue, and their changes wait in the log. `to` must not
 *  exist or be empty. `yieldDisk` is called between two steps, to leave the disk to commits. Throws what the driver
 *  throws: SQLITE_FULL without space for the copy. StoreDamaged for a log that SQLite would silently truncate. */
export async function copyDatabase(file: string, to: string, yieldDisk: () => void): Promise<Copied> {
  requireFiles(file)
  const db = connect(file, { busyTimeoutMs: PATIENCE_MS })
  const logBytes = () => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  try {
    const before = logBytes()
    // Started by a read. Otherwise every step would see new changes and start again.
    db.exec('begin')
    db.prepare('select count(*) from sqlite_schema').get()
    const progress = () => {
      yieldDisk()
      return STEP_PAGES
    }
    await db.backup(to, { progress })
    db.exec('commit')
    return { bytes: statSync(to).size, logBytes: { before, after: logBytes() } }
  } finally {
    db.close()
  }
}
