import { inPostgres, rows, sql, type Value, type Work } from './sql.ts'

/** Values of parameters by name; a missing one is null. */
export type Values = Readonly<Record<string, Value | undefined>>

/** Reads the rows of a statement whose parameters have names. Values that it does not name are not bound. */
export type NamedQuery<Row> = (values: Values) => Work<Row[]>

/** A text for each database. */
export interface Texts {
  text: string
  /** SQLite's, with the same names; null: only PostgreSQL has it. */
  sqlite: string | null
}

const NAME = /(?<!:):([a-z]\w*)/g

/** A text with `:name` for each parameter → what reads its rows. */
export function named<Row>(given: string | Texts): NamedQuery<Row> {
  const names: string[] = []
  const numbered = (text: string) =>
    text.replaceAll(NAME, (_, name: string) => {
      if (!names.includes(name)) names.push(name)
      return `$${names.indexOf(name) + 1}`
    })
  const { text, sqlite } = typeof given === 'string' ? { text: given, sqlite: given } : given
  const statement =
    sqlite === null
      ? inPostgres<Row>(numbered(text))
      : sql<Row>(numbered(text), sqlite === text ? null : numbered(sqlite))
  return (values) => rows(statement, ...names.map((name) => values[name] ?? null))
}
