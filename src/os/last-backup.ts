import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAsOwner } from './owned-file.ts'

/** Record of the last backup in the data directory, for monitoring. */
export interface LastBackup {
  /** Ms UTC. */
  madeAt: number
  bytes: number
  /** Path of the backup. */
  to: string
  /** Public key of its signature. */
  signedBy: string
}

export const LAST_BACKUP_FILE = 'last-backup.json'

/** Null if there was no backup yet. */
export function readLastBackup(dataDir: string): LastBackup | null {
  try {
    const {
      made_at,
      bytes,
      to,
      signed_by: signedBy,
    } = JSON.parse(readFileSync(join(dataDir, LAST_BACKUP_FILE), 'utf8'))
    const madeAt = Date.parse(made_at)
    return Number.isFinite(madeAt) ? { madeAt, bytes, to, signedBy } : null
  } catch {
    return null
  }
}

/** Writes the record, readable by the owner of the data. Throws file system errors. */
export function noteBackup(dataDir: string, { madeAt, bytes, to, signedBy }: LastBackup): void {
  const note = { made_at: new Date(madeAt).toISOString(), bytes, to, signed_by: signedBy }
  writeAsOwner(dataDir, LAST_BACKUP_FILE, `${JSON.stringify(note)}\n`)
}
