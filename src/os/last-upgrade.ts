import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAsOwner } from './owned-file.ts'

/** Record of the last upgrade in the data directory. */
export interface LastUpgrade {
  /** Ms UTC. */
  at: number
  from: string
  to: string
  /** `kept`: the new version was not ready in time, but going back would have lost mail. */
  result: 'done' | 'rolled_back' | 'kept'
}

const LAST_UPGRADE_FILE = 'last-upgrade.json'

/** Null if there was no upgrade yet. */
export function readLastUpgrade(dataDir: string): LastUpgrade | null {
  try {
    const { at, from, to, result } = JSON.parse(readFileSync(join(dataDir, LAST_UPGRADE_FILE), 'utf8'))
    const time = Date.parse(at)
    return Number.isFinite(time) ? { at: time, from, to, result } : null
  } catch {
    return null
  }
}

/** Writes the record, readable by the owner of the data. Throws file system errors. */
export function noteUpgrade(dataDir: string, { at, ...rest }: LastUpgrade): void {
  writeAsOwner(dataDir, LAST_UPGRADE_FILE, `${JSON.stringify({ at: new Date(at).toISOString(), ...rest })}\n`)
}
