import { table } from './print.ts'

/** Head of each column → the field of the record, or its text. Null is shown as `-`. */
export type Columns<R> = Readonly<Record<string, keyof R | ((record: R) => string)>>

/** Records → a table; '' without any. */
export function recordTable<R extends object>(records: readonly R[], columns: Columns<R>): string {
  const cells = records.map((record) =>
    Object.values(columns).map((column) =>
      typeof column === 'function' ? column(record) : String(record[column] ?? '-'),
    ),
  )
  return table(Object.keys(columns), cells)
}
