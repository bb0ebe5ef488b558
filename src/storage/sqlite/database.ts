import type { Database, SettingsKind, Statement, Step, Value, Work } from '../sql.ts'
import type { Remember } from '../store.ts'
import type { Connection } from './driver.ts'
import { nextTurn } from './page.ts'
import type { Reading } from './reading.ts'
import { toSqlite } from './translate.ts'
import type { Writer } from './writer.ts'

/** Reads that follow each other this long let other work go first. */
const TURN_MS = 2

export interface SqliteDatabase extends Database {
  /** Performs a piece of work at once, inside a change of the writer. Throws what the work throws. */
  perform<T>(work: Work<T>): T
}

/** Inside.remember for changes that are written for SQLite alone. */
export type RememberInside = (record: Remember | undefined) => void

/** SQLite as the roles of the store use it: a piece of work runs without a pause, inside the writer's group. `forget`
 *  drops what is in memory of settings, so that the next change of the same group sees this one. */
export function sqliteDatabase(
  db: Connection,
  writer: Writer,
  { reading, forget }: { reading: Reading; forget: (kind: SettingsKind) => void },
): SqliteDatabase {
  const prepare = preparing(db)
  const read = <Row>(statement: Statement<Row>, values: readonly Value[]): Row[] => {
    const prepared = prepare(statement)
    if (!prepared.isReading) throw new Error(`a read writes: ${statement.text}`)
    reading.begin()
    return prepared.rows(values) as Row[] // the type that the statement was declared with
  }
  const readStep = (step: Step) => {
    if (step.wants !== 'rows') throw new Error('a read writes')
    return read(step.statement, step.values)
  }
  const execute = (step: Step) => (step.wants === 'changed' ? forget(step.kind) : executeNow(prepare, step))
  return {
    rows: async (statement, ...values) => read(statement, values),
    row: async (statement, ...values) => read(statement, values)[0] ?? null,
    read: (work) => performInTurns(work(), readStep),
    run: (statement, ...values) =>
      writer.write(() => {
        prepare(statement).run(values)
      }),
    count: (statement, ...values) => writer.write(() => prepare(statement).run(values)),
    perform: (work) => perform(work, execute),
    write: (work) => writer.write(() => perform(work(), execute)),
    groupsSettled: async () => {}, // one work after the other
  }
}

/** A statement of ours as the driver's. */
export interface Prepared<Row> {
  isReading: boolean
  rows(values: readonly Value[]): Row[]
  run(values: readonly Value[]): number
}

export type Prepare = (statement: Statement<unknown>) => Prepared<unknown>

/** Connection → what prepares a statement when it is used first. */
export function preparing(db: Connection): Prepare {
  const known = new Map<Statement<unknown>, Prepared<unknown>>()
  return (statement) => {
    const before = known.get(statement)
    if (before !== undefined) return before
    const prepared = prepareIn(db, statement)
    known.set(statement, prepared)
    return prepared
  }
}

/** Prepares a statement. Throws what the driver throws if it does not fit the schema. */
export function prepareIn<Row>(db: Connection, { text, sqlite }: Statement<Row>): Prepared<Row> {
  const translated = toSqlite(sqlite ?? text)
  const driven = db.prepare<unknown[], Record<string, unknown>>(translated.text)
  const expected = Math.max(-1, ...translated.order) + 1
  const bound = (values: readonly Value[]) => {
    if (values.length !== expected) throw new Error(`${values.length} values instead of ${expected}: ${text}`)
    return translated.order.map((index) => boundValue(values[index]))
  }
  return {
    isReading: driven.readonly,
    rows: (values) => {
      const rows = driven.all(...bound(values))
      for (const name of translated.booleans)
        for (const row of rows) if (row[name] !== null) row[name] = row[name] !== 0
      return rows as Row[] // the type that the statement was declared with
    },
    run: (values) => driven.run(...bound(values)).changes,
  }
}

function boundValue(value: Value | undefined): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  return Array.isArray(value) ? JSON.stringify(value) : value
}

/** Reads at once, for what is kept in memory. Throws what the driver throws. */
export function readNow<T>(prepare: Prepare, work: Work<T>): T {
  return perform(work, (step) => {
    if (step.wants !== 'rows') throw new Error('a read writes')
    return prepare(step.statement).rows(step.values)
  })
}

/** Performs at once, inside a change of the writer, a piece of work that changes no settings. Throws what the driver and
 *  the work throw. */
export function performNow<T>(prepare: Prepare, work: Work<T>): T {
  return perform(work, (step) => executeNow(prepare, step))
}

function executeNow(prepare: Prepare, step: Step): unknown {
  if (step.wants === 'rows') return prepare(step.statement).rows(step.values)
  if (step.wants === 'count') return prepare(step.statement).run(step.values)
  if (step.wants === 'changed') throw new Error('settings change in a work that is not declared so')
  return (step.perform as () => unknown)() // of inside.ts
}

/** Performs the steps one after the other → the result. Throws what a step or the work throws. */
function perform<T>(work: Work<T>, execute: (step: Step) => unknown): T {
  let next = work.next()
  while (next.done !== true) next = work.next(execute(next.value))
  return next.value
}

/** The same, in turns with other work. */
async function performInTurns<T>(work: Work<T>, execute: (step: Step) => unknown): Promise<T> {
  let began = performance.now()
  let next = work.next()
  while (next.done !== true) {
    next = work.next(execute(next.value))
    if (next.done === true || performance.now() - began < TURN_MS) continue
    await nextTurn()
    began = performance.now()
  }
  return next.value
}
