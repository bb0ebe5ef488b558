import { statSync } from 'node:fs'
import { connect } from './driver.ts'
import { requireFiles } from './soundness.ts'

/** Copied before others may have the disk: four megabytes. */
const STEP_PAGES = 1000
/** For a database that somebody is just opening. */
const PATIENCE_MS = 5_000

export interface Copied {
  bytes: number
  /** The write-ahead log before and after: it cannot begin anew while one reads what was true at the start. */
  logBytes: { before: number; after: number }
}

/** A database, in use or not, → a copy in `to`, as it was at one moment: everything committed before the call is in it. One
 *  read transaction holds that moment, so writers go on and what they write meanwhile waits in the log. `to` is not there, or
 *  empty. `yieldDisk` is called between two steps, to leave the disk to those whose fsync somebody waits for. Throws what the
 *  driver throws: SQLITE_FULL without capacity for the copy. StoreDamaged for a log that SQLite would quietly cut off. */
export async function copyDatabase(file: string, to: string, yieldDisk: () => void): Promise<Copied> {
  requireFiles(file)
  const db = connect(file, { busyTimeoutMs: PATIENCE_MS })
  const logBytes = () => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  try {
    const before = logBytes()
    // Begun by a read. Without it every step would see what was written since the last, and begin again.
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
