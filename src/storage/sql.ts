/** One text of SQL for both databases: statements, and pieces of work made of them. SQLite performs a piece of work
 *  at once inside the group that the writer commits (sqlite/database.ts), PostgreSQL statement by statement in a
 *  transaction (postgres/database.ts). */

/** A statement in PostgreSQL's text, with parameters $1, $2, …; `Row` is what it returns. SQLite runs the same text
 *  translated (sqlite/translate.ts) or, where it has to differ, a text of its own. */
export interface Statement<Row = never> {
  readonly text: string
  /** SQLite's text, with the same parameters; null = translated. */
  readonly sqlite: string | null
  /** Never set: it carries the type. */
  readonly row?: Row
}

/** What a parameter can be. A list belongs to `= any($1::text[])`. */
export type Value = string | number | boolean | Uint8Array | null | readonly string[] | readonly number[]

/** Every statement that was declared, for the tests that prepare them all and list those that differ. */
export const STATEMENTS: Statement<unknown>[] = []

/** Text → the statement. `sqlite`: its text for SQLite where the translation does not do; say why beside it. */
export function sql<Row = never>(text: string, sqlite: string | null = null): Statement<Row> {
  const statement: Statement<Row> = { text, sqlite }
  STATEMENTS.push(statement)
  return statement
}

/** A text that only PostgreSQL has → the statement. */
export const inPostgres = <Row = never>(text: string): Statement<Row> => ({ text, sqlite: null })

/** Tables of settings that the process has in memory. */
export type SettingsKind =
  | 'apiKey'
  | 'blockedLink'
  | 'domain'
  | 'erasure'
  | 'inboundRoute'
  | 'organization'
  | 'qualityAlert'
  | 'webhook'

const COMPOSED = new Map<string, Statement<unknown>>()

/** A text composed of a fixed set of parts, such as that of a list with its filters → its statement, the same for the
 *  same text. */
export function composed<Row>(text: string): Statement<Row> {
  const known = COMPOSED.get(text) ?? { text, sqlite: null }
  COMPOSED.set(text, known)
  return known as Statement<Row> // the caller names the type of its text
}

/** Statements that run once for each of some rows: PostgreSQL's text names the rows `rows r` and their values `r.name`.
 *  PostgreSQL gets all rows at once, as arrays; SQLite runs a prepared statement for each. One list of columns serves both.
 *
 *    update deliveries as d set status = r.status from rows r where d.number = r.number
 *
 *  becomes `… from unnest($1::text[], $2::bigint[]) as r (status, number) where …` and
 *  `update deliveries as d set status = ? where d.number = ?`. */
export interface Each<Given, Row> {
  readonly text: string
  /** SQLite's text before its values are bound; null = derived from `text`, empty = SQLite does not run it. */
  readonly sqlite: string | null
  readonly names: readonly string[]
  readonly types: readonly ColumnType[]
  readonly values: readonly ((given: Given) => Value)[]
  /** Never set: it carries the type. */
  readonly row?: Row
}

export type ColumnType = 'text' | 'bigint' | 'int' | 'smallint' | 'boolean' | 'bytea' | 'float8' | 'tsvector'

/** Names of what each row has: type, and its value. */
export type Columns<Given> = Readonly<Record<string, readonly [type: ColumnType, value: (given: Given) => Value]>>

/** A statement with its rows. `most`: it returns no more (`$most` in its text). `isRead` false: nobody needs what it returns,
 *  and PostgreSQL gets the next statement at once. */
export interface EachStep {
  readonly wants: 'each'
  readonly statement: Each<unknown, unknown>
  readonly given: readonly unknown[]
  readonly most: number | null
  readonly isRead: boolean
}

/** One step of a piece of work: a statement, which gets its rows or the number of rows that it wrote; a note that
 *  settings changed; or what works on mail use. */
export type Step =
  | { readonly wants: 'rows'; readonly statement: Statement<unknown>; readonly values: readonly Value[] }
  | { readonly wants: 'count'; readonly statement: Statement<unknown>; readonly values: readonly Value[] }
  | { readonly wants: 'changed'; readonly kind: SettingsKind; readonly ids: readonly string[] }
  | EachStep
  | { readonly wants: 'together'; readonly steps: readonly (EachStep | null)[] }
  | { readonly wants: 'mail' }

/** A piece of work: a generator of statements, which may run more than once and has no effect outside the database. */
export type Work<T> = Generator<Step, T, unknown>

/** The rows of a statement. */
export function* rows<Row>(statement: Statement<Row>, ...values: Value[]): Work<Row[]> {
  return (yield { wants: 'rows', statement, values }) as Row[] // what both runners give for 'rows'
}

/** The first row of a statement; null if there is none. */
export function* row<Row>(statement: Statement<Row>, ...values: Value[]): Work<Row | null> {
  return (yield* rows(statement, ...values))[0] ?? null
}

/** Runs a statement that writes → how many rows it wrote or deleted. */
export function* run(statement: Statement, ...values: Value[]): Work<number> {
  return (yield { wants: 'count', statement, values }) as number // what both runners give for 'count'
}

/** Notes that the work writes or deletes these settings: everybody who has them in memory reads them again. */
export function* changed(kind: SettingsKind, ...ids: string[]): Work<void> {
  yield { wants: 'changed', kind, ids }
}

/** → What performs a change of one setting → its result. */
export function changing(database: Pick<Database, 'write'>, kind: SettingsKind) {
  return <T>(id: string, work: () => Work<T>): Promise<T> =>
    database.write(function* () {
      const value = yield* work()
      yield* changed(kind, id)
      return value
    }, 'settings')
}

/** A database as the roles of the store use it. Everything rejects with StoreUnavailable while the database does not
 *  respond, and then nothing was written. */
export interface Database {
  /** The rows of a statement that reads. */
  rows<Row>(statement: Statement<Row>, ...values: Value[]): Promise<Row[]>
  /** The first of them; null if there is none. */
  row<Row>(statement: Statement<Row>, ...values: Value[]): Promise<Row | null>
  /** Reads with several statements, between which others may write. */
  read<T>(work: () => Work<T>): Promise<T>
  /** Runs one statement that writes; resolves once that is durable. */
  run(statement: Statement, ...values: Value[]): Promise<void>
  /** The same → how many rows it wrote or deleted. */
  count(statement: Statement, ...values: Value[]): Promise<number>
  /** Performs a piece of work in a transaction → its result, once that is durable. Rejects with what the work throws,
   *  and then nothing was written. `kind`: one work with settings is performed after the other, over all nodes. */
  write<T>(work: () => Work<T>, kind?: 'settings'): Promise<T>
  /** Resolves once every work that is under way on any node is decided. After a change of settings, nothing is written
   *  later by what was in memory before. */
  groupsSettled(): Promise<void>
}
