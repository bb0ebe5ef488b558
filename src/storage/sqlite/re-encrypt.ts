import { join } from 'node:path'
import { type Connection, connect, one } from './driver.ts'
import type { Seal } from './encryption.ts'
import { addKey, openSeal } from './encryption-key.ts'

/** Every column that holds sealed secrets, with what names the row in its place (seal.ts). */
const SEALED = [
  { table: 'webhooks', row: ['id'], columns: ['secret', 'previous_secret'] },
  { table: 'inbound_routes', row: ['id'], columns: ['secret'] },
  { table: 'dkim_keys', row: ['domain_id', 'selector'], columns: ['private_key'] },
  { table: 'secrets', row: ['name'], columns: ['value'] },
]
const PATIENCE_MS = 5_000

/** A database and the Seal that belongs to it → how many secrets there are, each opened once. Throws SealUnusable for the
 *  first that does not open. */
export function openEverySecret(db: Connection, seal: Seal): number {
  let opened = 0
  for (const { table, row, columns } of SEALED) {
    for (const column of columns) {
      const rows = db.prepare<unknown[], Record<string, string> & { sealed: Uint8Array }>(
        `select ${row.join(', ')}, ${column} as sealed from ${table} where ${column} is not null`,
      )
      for (const { sealed, ...keys } of rows.all()) {
        seal.open(sealed, [table, ...Object.values(keys)].join(' '))
        opened++
      }
    }
  }
  return opened
}

/** Makes a new key and seals everything with it, in one transaction. The old key stays in the file, below: cut off at any
 *  point, all secrets can be opened and it can be done again. No server may run, since it knows the old key only. Answers
 *  how many secrets there are. */
export function reseal(dataDir: string): number {
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: PATIENCE_MS })
  try {
    openSeal(dataDir, db)
    const seal = addKey(dataDir)
    const renew = (place: string, sealed: Uint8Array) => seal.seal(seal.open(sealed, place), place)
    let renewed = 0
    const all = db.transaction(() => {
      for (const { table, row, columns } of SEALED) {
        for (const column of columns) {
          const rows = db.prepare<unknown[], Record<string, string> & { sealed: Uint8Array }>(
            `select ${row.join(', ')}, ${column} as sealed from ${table} where ${column} is not null`,
          )
          const update = db.prepare(
            `update ${table} set ${column} = ? where ${row.map((key) => `${key} = ?`).join(' and ')}`,
          )
          for (const { sealed, ...keys } of rows.all()) {
            const names = Object.values(keys)
            update.run(renew([table, ...names].join(' '), sealed), ...names)
            renewed++
          }
        }
      }
      const proof = one(db.prepare<unknown[], Uint8Array>('select proof from seal').pluck())
      db.prepare('update seal set proof = ?').run(renew('seal', proof))
    })
    all.immediate()
    db.pragma('wal_checkpoint(truncate)') // what the old key sealed goes from the log, too
    return renewed
  } finally {
    db.close()
  }
}
