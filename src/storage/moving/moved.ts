import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivately } from '../../os/private-file.ts'
import { isRecord } from '../../os/records.ts'
import { errorCode } from '../../os/thrown.ts'
import { StoreMoved } from '../errors.ts'

/** In a data directory whose database has moved to PostgreSQL. */
const MOVED_FILE = 'moved.json'

/** Where the data of a directory went. */
export interface Moved {
  /** Hosts and database, without user and password. */
  to: string
  instance_id: string
  /** ISO 8601. */
  at: string
}

/** Marks a data directory: its SQLite database is not used any more. Throws file system errors. */
export function markMoved(dataDir: string, moved: Moved): Promise<void> {
  return writePrivately(join(dataDir, MOVED_FILE), `${JSON.stringify(moved)}\n`)
}

/** Null if the data is still in the directory. Throws file system errors. */
function movedFrom(dataDir: string): Moved | null {
  try {
    const content: unknown = JSON.parse(readFileSync(join(dataDir, MOVED_FILE), 'utf8'))
    const text = (name: string) => (isRecord(content) && typeof content[name] === 'string' ? content[name] : '')
    return { to: text('to'), instance_id: text('instance_id'), at: text('at') }
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
    throw error
  }
}

/** Throws StoreMoved if the data is in PostgreSQL. */
export function requireNotMoved(dataDir: string): void {
  const moved = movedFrom(dataDir)
  if (moved === null) return
  throw new StoreMoved(`its data moved to PostgreSQL (${moved.to}) at ${moved.at}. Set database.url in the config.`)
}
