import type { Columns, Each, EachStep, Work } from '../sql.ts'

/** Every statement that was declared, for the tests that prepare them all. */
export const EACH_STATEMENTS: Each<never, unknown>[] = []

/** Columns and a text → the statement. `sqlite`: its text for SQLite where the derived one does not do; say why. Empty:
 *  SQLite needs none, because it has one writer, and the statement returns nothing. */
export function each<Given, Row = never>(
  columns: Columns<Given>,
  text: string,
  sqlite: string | null = null,
): Each<Given, Row> {
  const all = Object.values(columns)
  const statement: Each<Given, Row> = {
    text,
    sqlite,
    names: Object.keys(columns),
    types: all.map(([type]) => type),
    values: all.map(([, value]) => value),
  }
  EACH_STATEMENTS.push(statement)
  return statement
}

/** Table and columns → a statement that inserts rows. `rest` ends it, for example `on conflict do nothing`. */
export function insertInto<Given, Row = never>(table: string, columns: Columns<Given>, rest = ''): Each<Given, Row> {
  const names = Object.keys(columns)
  const values = names.map((name) => `r.${name}`).join(', ')
  const into = `insert into ${table} (${names.join(', ')})`
  return each(columns, `${into} select ${values} from rows r ${rest}`, `${into} values (${values}) ${rest}`)
}

/** Runs the statement for these rows. Returns its rows. `most`: PostgreSQL's `$most`; SQLite stops once it has so many. */
export function* forEach<Given, Row>(
  statement: Each<Given, Row>,
  given: readonly Given[],
  most: number | null = null,
): Work<Row[]> {
  if (given.length === 0) return []
  return (yield stepOf(statement, given, { most, isRead: true })) as Row[] // what both runners give for it
}

/** The same for a statement whose result nobody needs: PostgreSQL gets the next statement at once. */
export function* writeEach<Given>(statement: Each<Given, never>, given: readonly Given[]): Work<void> {
  if (given.length > 0) yield stepOf(statement, given, { most: null, isRead: false })
}

/** The same for several statements, in this order. */
export function* writeAll(...steps: (EachStep | null)[]): Work<void> {
  yield { wants: 'together', steps }
}

/** A statement with its rows, for `writeAll`; null without rows. */
export function writing<Given>(statement: Each<Given, never>, given: readonly Given[]): EachStep | null {
  return given.length === 0 ? null : stepOf(statement, given, { most: null, isRead: false })
}

/** Several statements that do not depend on each other → the rows of each. */
export function* together<Rows extends readonly unknown[]>(
  ...steps: { [At in keyof Rows]: EachStep | null }
): Work<Rows> {
  return (yield { wants: 'together', steps: steps as readonly (EachStep | null)[] }) as unknown as Rows
}

/** A statement with its rows, for `together`; null without rows. */
export function stepFor<Given, Row>(statement: Each<Given, Row>, given: readonly Given[]): EachStep | null {
  return given.length === 0 ? null : stepOf(statement, given, { most: null, isRead: true })
}

function stepOf<Given, Row>(
  statement: Each<Given, Row>,
  given: readonly Given[],
  { most, isRead }: { most: number | null; isRead: boolean },
): EachStep {
  return { wants: 'each', statement: statement as unknown as Each<unknown, unknown>, given, most, isRead }
}
