import { createHash } from 'node:crypto'
import { encodeText } from '../postgres/texts.ts'
import type { ColumnType, MovedTable } from './tables.ts'

/** Number of rows, and the sum of their hashes, whatever their order. */
export interface PartHash {
  rows: number
  hash: number
}

/** Rows whose IDs have the time of a quarter of an hour in common are one part: `msg_` and six of ten characters. */
const PREFIX = 10
/** Hashes have 48 bits, so that their sum is exact. */
const BITS = 48
const MODULUS = 2 ** BITS
const BETWEEN = '\u001f'
const NOTHING = '\u001e'
/** Decimals of a number that count. */
const SCALE = 1_000_000

type Value = string | number | Uint8Array | null

/** SQL of the text of a column in the row's. */
function postgresText(name: string, type: ColumnType): string {
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

/** Types of the compared columns → what makes the hash of a row, whose values come first, from a text that PostgreSQL makes
 *  of its columns too. */
export function rowHasher(types: readonly ColumnType[]): (row: readonly Value[]) => number {
  const digest = Buffer.alloc(32)
  return (row) => {
    let text = ''
    for (const [at, type] of types.entries()) {
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

/** ID → the part of the table that it belongs to. */
export const partOf = (id: string): string => id.slice(0, PREFIX)

/** Columns of PostgreSQL → SQL of a row's hash. */
export function postgresRowHash(columns: readonly (readonly [name: string, type: ColumnType])[]): string {
  const text = columns.map(([name, type]) => postgresText(name, type)).join(` || E'\\x1f' || `)
  return `('x' || left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), ${BITS / 4}))::bit(${BITS})::bigint`
}

/** SQL of the part of a row; a table without IDs is one part. */
export const postgresPart = ({ id }: MovedTable): string => (id === undefined ? `''` : `left(${id[1]}, ${PREFIX})`)

/** SQL of the hash of a part from SQL of the hashes of its rows. */
export const postgresSum = (hash: string): string => `(sum(${hash}) % ${MODULUS})::float8`
