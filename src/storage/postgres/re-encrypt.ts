import { ENCRYPTED_COLUMNS } from '../encrypted-columns.ts'
import { addKey, knownEncryption } from '../encryption-key.ts'
import type { DatabaseAddress } from './address.ts'
import { requireNoNodes } from './adopt.ts'
import { type Connection, connect } from './connection.ts'

const PROOF = 'select proof from seal for update'
/** A database of an earlier version lacks some tables and columns. */
const EXISTS = 'select 1 from pg_attribute where attrelid = to_regclass($1) and attname = $2 and not attisdropped'
const KEEP_PROOF = 'update seal set proof = $1'

/** With the certificate of all nodes, in a table of one row. */
const COLUMNS: readonly { table: string; row: readonly string[]; columns: readonly string[] }[] = [
  ...ENCRYPTED_COLUMNS,
  { table: 'certificates', row: [], columns: ['certificate'] },
]

type Row = Record<string, string> & { encrypted: Uint8Array }

/** Creates a new key and re-encrypts everything with it, in one transaction. The old key stays in the file, below: after
 *  an interruption at any point all secrets can be decrypted, and it can be repeated. Returns the number of secrets.
 *  Throws StoreMoved while nodes run: they know only the old key. */
export async function reEncryptDatabase(address: DatabaseAddress, dataDir: string): Promise<number> {
  const connection = await connect({ address, name: 'postrider seal' })
  try {
    await requireNoNodes(connection)
    await connection.query('begin')
    try {
      const renewed = await reEncryptInside(connection, dataDir)
      await connection.query('commit')
      return renewed
    } catch (error) {
      await connection.query('rollback')
      throw error
    }
  } finally {
    connection.close()
  }
}

async function reEncryptInside(connection: Connection, dataDir: string): Promise<number> {
  const [seal] = await connection.query<{ proof: Uint8Array }>(PROOF)
  if (seal === undefined) throw new Error('the database has no proof of its key')
  knownEncryption(dataDir, seal.proof)
  const encryption = addKey(dataDir)
  const renew = (place: string, encrypted: Uint8Array) =>
    encryption.encrypt(encryption.decrypt(encrypted, place), place)
  let renewed = 0
  for (const { table, row, columns } of COLUMNS) {
    const isRow = ['true', ...row.map((key, at) => `${key} = $${at + 2}`)].join(' and ')
    for (const column of columns) {
      if ((await connection.query(EXISTS, [table, column])).length === 0) continue
      const rows = await connection.query<Row>(
        `select ${[...row, `${column} as encrypted`].join(', ')} from ${table} where ${column} is not null for update`,
      )
      for (const found of rows) {
        const names = row.map((key) => found[key] ?? '')
        const place = [table, ...names].join(' ')
        await connection.run(`update ${table} set ${column} = $1 where ${isRow}`, [
          renew(place, found.encrypted),
          ...names,
        ])
        renewed++
      }
    }
  }
  await connection.run(KEEP_PROOF, [renew('seal', seal.proof)])
  return renewed
}
