import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../../os/thrown.ts'
import { ENCRYPTION_KEY_FILE } from '../encryption-key.ts'
import { StoreDamaged } from '../store.ts'
import { type Connection, one } from './driver.ts'
import { readLogState } from './log-file.ts'

/** Checks of the files before anything is written to them, because SQLite opens most damaged ones without an error.
 *  Their cost is bounded, so that a large store starts as fast as a small one. */

/** A database up to this size is checked completely at each start, which takes a tenth of a second. */
const WALKED_BYTES = 128 * 2 ** 20

/** Before it is opened: checks what the files show. Returns the size of an unacknowledged change at the end of the
 *  log. Throws StoreDamaged. */
export function requireFiles(database: string): { tornBytes: number } {
  const state = readLogState(database)
  if (state.kind === 'damaged') throw damaged(state.what, LOG_REMEDY)
  const isEmpty = !existsSync(database) || statSync(database).size === 0
  if (isEmpty && state.kind === 'none' && existsSync(join(dirname(database), ENCRYPTION_KEY_FILE))) {
    throw damaged(`${database} is empty, but ${ENCRYPTION_KEY_FILE} exists, so the database was in use`, REMEDY)
  }
  return { tornBytes: state.kind === 'sound' ? state.tornBytes : 0 }
}

/** On the open connection: copies the log into the file and syncs it, so that nothing depends on a log that a
 *  failing disk or a power cut may have left only in memory. Then the file must have its full length, and its trees
 *  must be intact. Throws StoreDamaged. */
export function requireSoundDatabase(db: Connection): void {
  const busy = one(db.prepare<unknown[], number>('pragma wal_checkpoint(truncate)').pluck())
  const pages = one(db.prepare<unknown[], number>('pragma page_count').pluck())
  const bytes = pages * one(db.prepare<unknown[], number>('pragma page_size').pluck())
  const { size } = statSync(db.name)
  if (busy === 0 && size < bytes) throw damaged(`${db.name} is truncated: ${size} of ${bytes} bytes`, REMEDY)
  if (bytes > WALKED_BYTES) return
  const [found] = db.prepare<unknown[], string>('pragma quick_check(1)').pluck().all()
  const verdict = found?.replace(/\s+/g, ' ')
  if (verdict !== 'ok') throw damaged(`${db.name} is damaged: ${verdict}`, REMEDY)
}

/** Driver error for a damaged database → StoreDamaged; any other error is returned unchanged. */
export function toDamaged(error: unknown, database: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return error
  return damaged(`${database} is damaged: ${messageOf(error)}`, REMEDY)
}

const REMEDY =
  'Keep a copy of the data directory and restore your last backup. Or recover the readable rows into a new file: sqlite3 postrider.db .recover | sqlite3 recovered.db'
const LOG_REMEDY =
  'Keep a copy of the data directory and restore your last backup. Or continue without the last changes: remove postrider.db-wal and postrider.db-shm.'

const damaged = (what: string, remedy: string) => new StoreDamaged(`${what}. ${remedy}`)
