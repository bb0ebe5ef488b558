import { createHash } from 'node:crypto'
import { encodeText } from '../postgres/texts.ts'
import { type Column, type MovedTable, PREFIX } from './tables.ts'

/** Values of the columns of a table, in their order. Booleans are 0 and 1 with SQLite. */
export type Row = readonly (string | number | boolean | Uint8Array | null)[]

/** Number of rows, and the sum of their hashes, whatever their order. */
export interface PartHash {
  rows: number
  hash: number
}

/** Hashes have 48 bits, so that their sum is exact. */
const BITS = 48
const MODULUS = 2 ** BITS
const BETWEEN = '\u001f'
const NOTHING = '\u001e'
/** Decimals of a number that count. */
const SCALE = 1_000_000

/** SQL of the text of a column in the row's. */
function postgresText({ name, type }: Column): string {
  const text = {
    text: name,
    tsvector: name,
    bytea: `encode(sha256(${name}), 'hex')`,
    boolean: `${name}::int::text`,
    float8: `round((${name} * ${SCALE})::numeric)::text`,
    bigint: `${name}::text`,
    int: `${name}::text`,
    smallint: `${name}::text`,
  }[type]
  return `coalesce(${text}, E'\\x1e')`
}

/** Columns → what makes the hash of a row, from a text that PostgreSQL makes of its columns too. */
export function rowHasher(columns: readonly Column[]): (row: Row) => number {
  const digest = Buffer.alloc(32)
  return (row) => {
    let text = ''
    for (const [at, { type }] of columns.entries()) {
      const value = row[at] ?? null
      if (at > 0) text += BETWEEN
      if (value === null) text += NOTHING
      else if (typeof value === 'object') text += createHash('sha256').update(value).digest('hex')
      else text += type === 'float8' ? Math.round(Number(value) * SCALE) : value
    }
    Bun.SHA256.hash(encodeText(text), digest)
    return digest.readUIntBE(0, BITS / 8)
  }
}

export const addHashes = (one: number, other: number): number => (one + other) % MODULUS

/** Table of PostgreSQL, and where its rows are read → SQL of the hashes of its parts. */
export function postgresHashes({ columns, part }: MovedTable, from: string): string {
  const text = columns.map(postgresText).join(` || E'\\x1f' || `)
  const hash = `('x' || left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), ${BITS / 4}))::bit(${BITS})::bigint`
  const name =
    part === null
      ? `''`
      : part.size === null
        ? `left(${part.column}, ${PREFIX})`
        : `(${part.column} / ${part.size})::text`
  return `select ${name} as part, count(*)::float8 as rows, (sum(${hash}) % ${MODULUS})::float8 as hash from ${from}
    group by 1`
}
