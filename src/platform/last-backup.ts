import { chownSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
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

/** Whoever made it, the owner of the data may read it. Throws what writing throws. */
export function noteBackup(dataDir: string, { madeAt, bytes, to }: LastBackup): void {
  const file = join(dataDir, LAST_BACKUP_FILE)
  const { uid, gid } = statSync(dataDir)
  const note = { made_at: new Date(madeAt).toISOString(), bytes, to }
  writeFileSync(`${file}.new`, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  if (process.getuid?.() === 0) chownSync(`${file}.new`, uid, gid)
  renameSync(`${file}.new`, file)
}
