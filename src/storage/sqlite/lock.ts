import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type Connection, connect } from './driver.ts'

export const LOCK_FILE = 'postrider.lock'

/** Data directory → the right to be its only server, until `release` or the end of the process, however it ends;
 *  null if another process has it. It is an exclusive transaction on a separate file: the operating system holds the
 *  lock, so that it never becomes stale. */
export function lockDataDir(dataDir: string): { release: () => void } | null {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, LOCK_FILE)
  let db: Connection | undefined
  try {
    closeSync(openSync(file, 'a', 0o600)) // SQLite keeps the mode
    chmodSync(file, 0o600)
    db = connect(file, { busyTimeoutMs: 0 })
    db.exec('create table if not exists held (at integer)')
    db.exec('begin exclusive')
    const held = db
    return { release: () => held.close() }
  } catch (error) {
    db?.close()
    if (error instanceof Error && 'code' in error && /^SQLITE_(BUSY|LOCKED)/.test(String(error.code))) return null
    throw error
  }
}
