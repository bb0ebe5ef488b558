import { type Value, valueArray } from './arrays.ts'
import type { Writing } from './combined.ts'

/** Columns of a table: type, and the value of a row. */
export type Columns<Row> = Readonly<Record<string, readonly [type: ColumnType, value: (row: Row) => Value]>>

type ColumnType = 'text' | 'bigint' | 'int' | 'smallint' | 'boolean' | 'bytea' | 'float8' | 'tsvector'

/** Writes rows with one statement, whatever their number → how many were written. None writes nothing. */
export type Insert<Row> = (statements: Pick<Writing, 'run'>, rows: readonly Row[]) => Promise<number>

/** Table and columns → its Insert. `onConflict`: the rest of the statement. */
export function insertInto<Row>(table: string, columns: Columns<Row>, onConflict = ''): Insert<Row> {
  const names = Object.keys(columns)
  const arrays = Object.values(columns).map(([type], at) => `$${at + 1}::${type}[]`)
  const text = `insert into ${table} (${names.join(', ')}) select * from unnest(${arrays.join(', ')}) ${onConflict}`
  const values = Object.values(columns).map(([, value]) => value)
  return async ({ run }, rows) =>
    rows.length === 0
      ? 0
      : run(
          text,
          values.map((value) => valueArray(rows.map(value))),
        )
}
