import { closeSync, fchownSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What a backup leaves in the data directory when it is done, for those who watch that there is one. */
export interface LastBackup {
  /** Ms UTC. */
  madeAt: number
  bytes: number
  /** Where it went. */
  to: string
}

export const LAST_BACKUP_FILE = 'last-backup.json'

/** Null when none was made yet. */
export function readLastBackup(dataDir: string): LastBackup | null {
  try {
    const { made_at, bytes, to } = JSON.parse(readFileSync(join(dataDir, LAST_BACKUP_FILE), 'utf8'))
    const madeAt = Date.parse(made_at)
    return Number.isFinite(madeAt) ? { madeAt, bytes, to } : null
  } catch {
    return null
  }
}

/** Whoever made it, the owner of the data may read it. The folder is that owner's, and who writes is often root: whatever lies
 *  there under the draft's name is removed, never written to. Throws what writing throws. */
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
