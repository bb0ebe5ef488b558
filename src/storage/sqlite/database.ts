import type { MailInside } from '../mail/inside.ts'
import { accompanied } from '../records/accompany.ts'
import type { AuditedAction } from '../records/audit-log.ts'
import { type Database, run, type SettingsKind, type Statement, type Step, type Value, type Work } from '../sql.ts'
import type { Connection } from './driver.ts'
import { eachRunner } from './each.ts'
import { nextTurn } from './next-turn.ts'
import type { Reading } from './reading.ts'
import { toSqlite } from './translate.ts'
import type { Writer } from './writer.ts'

/** Reads that follow each other this long let other work go first. */
const TURN_MS = 2

/** Performs a piece of work at once. Throws what the work throws. */
export type Perform = <T>(work: Work<T>) => T

/** → What performs works inside changes of the writer. `mail`: what works on mail use. `settings`: those in memory are dropped
 *  when they change, so that the next change of the same group sees this one. */
export function performerOn(
  { execute }: Steps,
  { mail, settings }: { mail: MailInside; settings: { drop(kind: SettingsKind): void } },
): Perform {
  const executeInside = (step: Step) => {
    if (step.wants === 'mail') return mail
    return step.wants === 'changed' ? settings.drop(step.kind) : execute(step)
  }
  return (work) => perform(work, executeInside)
}

/** SQLite as the roles of the store use it: a piece of work runs without a pause, inside the writer's group. */
export function sqliteDatabase(
  steps: Steps,
  writer: Writer,
  { reading, performNow, action }: { reading: Reading; performNow: Perform; action: AuditedAction },
): Database {
  const readStep = (step: Step) => {
    reading.begin()
    return steps.read(step)
  }
  const read = <Row>(statement: Statement<Row>, values: readonly Value[]) =>
    readStep({ wants: 'rows', statement, values }) as Row[] // the type that the statement was declared with
  const write = <T>(work: () => Work<T>): Promise<T> => {
    const whole = accompanied(action, work)
    return writer.write(() => performNow(whole()))
  }
  return {
    rows: async (statement, ...values) => read(statement, values),
    row: async (statement, ...values) => read(statement, values)[0] ?? null,
    read: (work) => performInTurns(work(), readStep),
    run: async (statement, ...values) => {
      await write(() => run(statement, ...values))
    },
    count: (statement, ...values) => write(() => run(statement, ...values)),
    write,
    groupsSettled: async () => {}, // one work after the other
  }
}

/** A statement of ours as the driver's. */
interface Prepared<Row> {
  isReading: boolean
  rows(values: readonly Value[]): Row[]
  run(values: readonly Value[]): number
}

type Prepare = (statement: Statement<unknown>) => Prepared<unknown>

/** Connection → what prepares a statement when it is used first. */
function preparing(db: Connection): Prepare {
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
function prepareIn<Row>(db: Connection, { text, sqlite }: Statement<Row>): Prepared<Row> {
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

/** What executes steps on a connection. Each statement is prepared when it is used first. */
export interface Steps {
  /** Executes a step that reads. Throws for another one. */
  read(step: Step): unknown
  /** Executes a statement, or several together. Throws for what the connection does not know. */
  execute(step: Step): unknown
}

export function stepsOn(db: Connection): Steps {
  const prepare = preparing(db)
  const runEach = eachRunner(db)
  return {
    read: (step) => {
      // Statements for rows that are not read would write.
      if (step.wants === 'each' && step.isRead) return runEach(step)
      if (step.wants !== 'rows') throw new Error('a read writes')
      const prepared = prepare(step.statement)
      if (!prepared.isReading) throw new Error(`a read writes: ${step.statement.text}`)
      return prepared.rows(step.values)
    },
    execute: (step) => {
      if (step.wants === 'each') return runEach(step)
      if (step.wants === 'together') return step.steps.map((each) => (each === null ? [] : runEach(each)))
      if (step.wants === 'rows') return prepare(step.statement).rows(step.values)
      if (step.wants === 'count') return prepare(step.statement).run(step.values)
      throw new Error('settings change in a work that is not declared so')
    },
  }
}

/** Connection → what reads at once: lists, and what is kept in memory. Throws what the driver throws. */
export function readingOn(db: Connection): Perform {
  const { read } = stepsOn(db)
  return (work) => perform(work, read)
}

/** Connection → what performs at once, inside a transaction, a piece of work that changes no settings. Throws what the driver
 *  and the work throw. */
export function performingOn(db: Connection): Perform {
  const { execute } = stepsOn(db)
  return (work) => perform(work, execute)
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
