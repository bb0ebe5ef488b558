import { existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { sync } from '../../os/sync.ts'
import { errorCode } from '../../os/thrown.ts'
import { type Connection, connect, one } from './driver.ts'

/** Undoes the schema steps of a program that did not come up, by the copy that migrate.ts made before them. */

/** Number of schema steps of a database; it may be in use. Throws what the driver throws. */
export function schemaOf(file: string): number {
  const db = connect(file, { busyTimeoutMs: PATIENCE_MS, readonly: true })
  try {
    return one(db.prepare<unknown[], number>('select max(number) from migrations').pluck())
  } finally {
    db.close()
  }
}

/** Records that the newer program wrote or changed, by kind; without the kinds that have none. Null if its tables do not
 *  allow the comparison. */
export type Written = Record<string, number> | null

/** `undone`: the database is the copy, and the newer one is at `newer`. `written`: nothing was changed, because the copy
 *  lacks records. `no copy`: nothing was changed. */
export type Undone = { kind: 'undone'; newer: string } | { kind: 'written'; written: Written } | { kind: 'no copy' }

/** Puts the copy from before step `schema` + 1 in place of a database that no process uses, unless the copy lacks what was
 *  accepted, sent or recorded since. One rename does it, so there is a database at every moment. Throws file system errors
 *  and what the driver throws. */
export function undoUpgrade(file: string, schema: number): Undone {
  const copy = `${file}.before-schema-${schema + 1}`
  if (!existsSync(copy)) return { kind: 'no copy' }
  const db = connect(file, { busyTimeoutMs: PATIENCE_MS })
  let written: Written
  try {
    db.prepare('attach database ? as before').run(copy)
    written = writtenSince(db)
    db.exec('detach database before')
    db.pragma('wal_checkpoint(truncate)')
  } finally {
    db.close()
  }
  if (written === null || Object.keys(written).length > 0) return { kind: 'written', written }
  // The log of one database would destroy another.
  if (existsSync(`${file}-wal`)) throw new Error(`${file} is still in use`)
  const newer = `${file}.after-schema-${schema}`
  rmSync(newer, { force: true })
  linkSync(file, newer)
  renameSync(copy, file)
  sync(dirname(file))
  return { kind: 'undone', newer }
}

const PATIENCE_MS = 5_000

/** Records with an id of their own. Every change by people and programs has an entry in the audit log; those of the server
 *  itself do not count. */
const ADDED = {
  messages: '',
  inbound_messages: '',
  events: '',
  suppressions: '',
  audit_log: `and n.actor_type <> 'server'`,
}
/** A row counts its attempt before the attempt begins. */
const QUEUES = ['deliveries', 'webhook_deliveries', 'inbound_deliveries']

function writtenSince(db: Connection): Written {
  const count = (sql: string) => one(db.prepare<unknown[], number>(`select count(*) from ${sql}`).pluck())
  try {
    const added = Object.entries(ADDED).map(([table, only]) => {
      const rows = `main.${table} n where not exists (select 1 from before.${table} b where b.id = n.id) ${only}`
      return [table, count(rows)] as const
    })
    const tried = QUEUES.map((table) => {
      const rows = `main.${table} n join before.${table} b on b.number = n.number`
      return [table, count(`${rows} where n.attempts <> b.attempts or n.status <> b.status`)] as const
    })
    return Object.fromEntries([...added, ...tried].filter(([, rows]) => rows > 0))
  } catch (error) {
    // The newer program has another table or column.
    if (errorCode(error) === 'SQLITE_ERROR') return null
    throw error
  }
}
