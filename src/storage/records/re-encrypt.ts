import type { Encryption } from '../encryption.ts'
import { addKey, knownEncryption } from '../encryption-key.ts'
import { composed, row, rows, run, sql, type Work } from '../sql.ts'

/** Every column with encrypted secrets, and the columns that identify its row in the place (encryption.ts). */
export const ENCRYPTED_COLUMNS: readonly { table: string; keys: readonly string[]; columns: readonly string[] }[] = [
  { table: 'webhooks', keys: ['id'], columns: ['secret', 'previous_secret', 'headers'] },
  { table: 'inbound_routes', keys: ['id'], columns: ['secret', 'headers'] },
  { table: 'dkim_keys', keys: ['domain_id', 'selector'], columns: ['private_key'] },
  { table: 'totp', keys: ['user_id'], columns: ['secret'] },
  { table: 'erasures', keys: ['id'], columns: ['address'] },
  { table: 'secrets', keys: ['name'], columns: ['value'] },
  { table: 'certificates', keys: [], columns: ['certificate'] }, // of all nodes, one row
]

const PROOF = sql<{ proof: Uint8Array }>('select proof from seal for update')
const KEEP_PROOF = sql('update seal set proof = $1')
// A database of an earlier version lacks some tables and columns, and SQLite that of the certificate.
const EXISTS = sql<{ found: number }>(
  `select 1 as found from pg_attribute
    where attrelid = to_regclass($1::text) and attname = $2::text and not attisdropped`,
  'select 1 as found from pragma_table_info($1) where name = $2',
)

/** Creates a new key and encrypts everything with it, inside a transaction. Returns the number of secrets. The old key
 *  stays below the new one in the file, so that all secrets can be decrypted after an interruption at any point, and the
 *  rotation can be repeated. Throws EncryptionKeyUnusable. */
export function* reEncryptAll(dataDir: string): Work<number> {
  const seal = yield* row(PROOF)
  if (seal === null) throw new Error('the database has no proof of its key')
  knownEncryption(dataDir, seal.proof)
  const encryption = addKey(dataDir)
  const renew = (place: string, encrypted: Uint8Array) =>
    encryption.encrypt(encryption.decrypt(encrypted, place), place)
  const renewed = yield* eachSecret(function* ({ table, keys, column, place, encrypted, values }) {
    const isRow = ['true', ...keys.map((key, at) => `${key} = $${at + 2}`)].join(' and ')
    const update = composed<never>(`update ${table} set ${column} = $1 where ${isRow}`)
    yield* run(update, renew(place, encrypted), ...values)
  })
  yield* run(KEEP_PROOF, renew('seal', seal.proof))
  return renewed
}

/** Decrypts every secret once → their number. Throws EncryptionKeyUnusable for the first that cannot be decrypted. */
export function decryptAll(encryption: Encryption): Work<number> {
  // biome-ignore lint/correctness/useYield: it writes nothing
  return eachSecret(function* ({ place, encrypted }) {
    encryption.decrypt(encrypted, place)
  })
}

interface Secret {
  table: string
  keys: readonly string[]
  column: string
  /** What its encryption is bound to. */
  place: string
  encrypted: Uint8Array
  /** Values of the keys of its row. */
  values: readonly string[]
}

/** Works on every secret → their number. */
function* eachSecret(work: (secret: Secret) => Work<void>): Work<number> {
  let count = 0
  for (const { table, keys, columns } of ENCRYPTED_COLUMNS) {
    for (const column of columns) {
      if ((yield* row(EXISTS, table, column)) === null) continue
      const all = composed<Record<string, string> & { encrypted: Uint8Array }>(
        `select ${[...keys, `${column} as encrypted`].join(', ')} from ${table} where ${column} is not null for update`,
      )
      for (const found of yield* rows(all)) {
        const values = keys.map((key) => found[key] ?? '')
        const place = [table, ...values].join(' ')
        yield* work({ table, keys, column, place, encrypted: found.encrypted, values })
        count++
      }
    }
  }
  return count
}
