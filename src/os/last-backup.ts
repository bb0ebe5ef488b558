import { closeSync, fchownSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Record of the last backup in the data directory, for monitoring. */
export interface LastBackup {
  /** Ms UTC. */
  madeAt: number
  bytes: number
  /** Path of the backup. */
  to: string
}

export const LAST_BACKUP_FILE = 'last-backup.json'

/** Null if there was no backup yet. */
export function readLastBackup(dataDir: string): LastBackup | null {
  try {
    const { made_at, bytes, to } = JSON.parse(readFileSync(join(dataDir, LAST_BACKUP_FILE), 'utf8'))
    const madeAt = Date.parse(made_at)
    return Number.isFinite(madeAt) ? { madeAt, bytes, to } : null
  } catch {
    return null
  }
}

/** Writes the record, readable by the owner of the data. The directory belongs to that owner, and the writer is often root:
 *  anything already at the temporary name is removed, never written to. Throws file system errors. */
export function noteBackup(dataDir: string, { madeAt, bytes, to }: LastBackup): void {
  const file = join(dataDir, LAST_BACKUP_FILE)
  const draft = `${file}.new`
  const { uid, gid } = statSync(dataDir)
  const note = { made_at: new Date(madeAt).toISOString(), bytes, to }
  rmSync(draft, { force: true })
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeSync(handle, `${JSON.stringify(note)}\n`)
    if (process.getuid?.() === 0) fchownSync(handle, uid, gid)
  } finally {
    closeSync(handle)
  }
  renameSync(draft, file)
}
