import { join } from 'node:path'
import { ENCRYPTED_COLUMNS } from '../encrypted-columns.ts'
import type { Encryption } from '../encryption.ts'
import { addKey } from '../encryption-key.ts'
import { type Connection, connect, one } from './driver.ts'
import { openEncryption } from './encryption-key.ts'

const PATIENCE_MS = 5_000

/** Those of a database; one of an earlier version lacks some tables and columns. */
function encryptedColumns(db: Connection): typeof ENCRYPTED_COLUMNS {
  const columnsOf = db.prepare<unknown[], string>('select name from pragma_table_info(?)').pluck()
  return ENCRYPTED_COLUMNS.map(({ table, row, columns }) => {
    const present = columnsOf.all(table)
    return { table, row, columns: columns.filter((column) => present.includes(column)) }
  })
}

/** Database and its Encryption → the number of secrets, each decrypted once. Throws EncryptionKeyUnusable for the
 *  first that cannot be decrypted. */
export function decryptEverySecret(db: Connection, encryption: Encryption): number {
  let opened = 0
  for (const { table, row, columns } of encryptedColumns(db)) {
    for (const column of columns) {
      const rows = db.prepare<unknown[], Record<string, string> & { encrypted: Uint8Array }>(
        `select ${row.join(', ')}, ${column} as encrypted from ${table} where ${column} is not null`,
      )
      for (const { encrypted, ...keys } of rows.all()) {
        encryption.decrypt(encrypted, [table, ...Object.values(keys)].join(' '))
        opened++
      }
    }
  }
  return opened
}

/** Creates a new key and re-encrypts everything with it, in one transaction. The old key stays in the file, below:
 *  after an interruption at any point all secrets can be decrypted, and it can be repeated. No server may run, since
 *  it knows only the old key. Returns the number of secrets. */
export function reEncrypt(dataDir: string): number {
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: PATIENCE_MS })
  try {
    openEncryption(dataDir, db)
    const encryption = addKey(dataDir)
    const renew = (place: string, encrypted: Uint8Array) =>
      encryption.encrypt(encryption.decrypt(encrypted, place), place)
    let renewed = 0
    const all = db.transaction(() => {
      for (const { table, row, columns } of encryptedColumns(db)) {
        for (const column of columns) {
          const rows = db.prepare<unknown[], Record<string, string> & { encrypted: Uint8Array }>(
            `select ${row.join(', ')}, ${column} as encrypted from ${table} where ${column} is not null`,
          )
          const update = db.prepare(
            `update ${table} set ${column} = ? where ${row.map((key) => `${key} = ?`).join(' and ')}`,
          )
          for (const { encrypted, ...keys } of rows.all()) {
            const names = Object.values(keys)
            update.run(renew([table, ...names].join(' '), encrypted), ...names)
            renewed++
          }
        }
      }
      const proof = one(db.prepare<unknown[], Uint8Array>('select proof from seal').pluck())
      db.prepare('update seal set proof = ?').run(renew('seal', proof))
    })
    all.immediate()
    db.pragma('wal_checkpoint(truncate)') // also removes from the log what the old key encrypted
    return renewed
  } finally {
    db.close()
  }
}
