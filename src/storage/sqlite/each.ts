import type { Each, EachStep, Value } from '../sql.ts'
import type { Connection } from './driver.ts'
import { type Translated, toSqlite } from './translate.ts'

interface Prepared {
  driven: ReturnType<Connection['prepare']>
  values: readonly ((given: unknown) => Value)[]
  booleans: readonly string[]
}

/** Connection → what runs a statement for each of its rows. Each is prepared when it is used first. */
export function eachRunner(db: Connection): (step: EachStep) => unknown[] {
  const known = new Map<Each<unknown, unknown>, Prepared>()
  return ({ statement, given, most, isRead }) => {
    if (statement.sqlite === '') return []
    let prepared = known.get(statement)
    if (prepared === undefined) {
      prepared = prepareEach(db, statement)
      known.set(statement, prepared)
    }
    if (!isRead) {
      for (const one of given) prepared.driven.run(boundOf(prepared, one))
      return []
    }
    const [first] = given
    if (given.length === 1 && first !== undefined) return rowsOf(prepared, first)
    const rows: unknown[] = []
    for (const one of given) {
      for (const row of rowsOf(prepared, one)) rows.push(row)
      if (most !== null && rows.length >= most) break
    }
    return rows
  }
}

function rowsOf(prepared: Prepared, given: unknown): unknown[] {
  const rows = prepared.driven.all(boundOf(prepared, given))
  for (const name of prepared.booleans)
    for (const row of rows as Record<string, unknown>[]) if (row[name] !== null) row[name] = row[name] !== 0
  return rows
}

function boundOf({ values }: Prepared, given: unknown): unknown[] {
  const bound: unknown[] = new Array(values.length)
  for (let at = 0; at < values.length; at++) {
    const value = values[at]!(given)
    bound[at] = typeof value === 'boolean' ? Number(value) : value
  }
  return bound
}

function prepareEach(db: Connection, statement: Each<unknown, unknown>): Prepared {
  const { text, order, booleans } = eachText(statement)
  return {
    driven: db.prepare(text),
    values: order.map((at) => statement.values[at]!), // of its columns
    booleans,
  }
}

/** Statement → its text for SQLite, with a `?` for each value. A value behind a plus: driver.ts says why. */
export function eachText({ text, sqlite, names }: Pick<Each<never, unknown>, 'text' | 'sqlite' | 'names'>): Translated {
  const { booleans, ...translated } = toSqlite(
    (sqlite ?? text).replace(/from rows r, /, 'from ').replace(/ (from|using) rows r\b/, ''),
  )
  const order: number[] = []
  const isInsert = translated.text.startsWith('insert')
  const bound = translated.text.replaceAll(/\br\.(\w+)/g, (_, name: string) => {
    const at = names.indexOf(name)
    if (at < 0) throw new Error(`no column ${name}: ${text}`)
    order.push(at)
    return isInsert ? '?' : '+?'
  })
  return { text: bound, order, booleans }
}
