import type { Database, Step, Value, Work } from '../sql.ts'
import { valueArray } from './arrays.ts'
import type { Additions, MailLane } from './group.ts'
import type { Reads } from './reads.ts'
import type { Queries, Statements } from './transactions.ts'
import type { SettingsStatements, Writer } from './writer.ts'

/** What a native step gets. */
export interface Transaction {
  statements: Statements & Partial<Pick<SettingsStatements, 'changed'>>
  /** Null in works that write no events. */
  add: Additions | null
}

/** Waits: each group of changes holds the row of its lane until its commit (transactions.ts). */
const GROUPS_UNDER_WAY = 'select id from lanes where ended_at is null for share'

/** PostgreSQL as the roles of the store use it: a piece of work is one transaction, and each statement a round trip. */
export function postgresDatabase(reads: Reads, writer: Writer, lane: Pick<MailLane, 'perform'>): Database {
  return {
    rows: ({ text }, ...values) => reads.query(text, values.map(bound)),
    row: async ({ text }, ...values) => {
      const [row] = await reads.query<never>(text, values.map(bound))
      return row ?? null
    },
    read: (work) => readWith(reads, work()),
    run: ({ text }, ...values) =>
      writer.write(async ({ run }) => {
        await run(text, values.map(bound))
      }),
    count: ({ text }, ...values) => writer.write(({ run }) => run(text, values.map(bound))),
    write: (work, kind) => {
      if (kind === undefined) return writer.write((statements) => perform(work(), { statements, add: null }))
      if (kind === 'events') return lane.perform((group) => perform(work(), group))
      if (kind === 'settings') return writer.writeSettings((statements) => perform(work(), { statements, add: null }))
      return writer.writeSettingsIn(lane, (group) => perform(work(), group))
    },
    groupsSettled: async () => {
      await reads.query(GROUPS_UNDER_WAY)
    },
  }
}

/** Reads one step after the other → the result. */
export async function readWith<T>({ query }: Queries, work: Work<T>): Promise<T> {
  let next = work.next()
  while (next.done !== true) {
    if (next.value.wants !== 'rows') throw new Error('a read writes')
    next = work.next(await query(next.value.statement.text, next.value.values.map(bound)))
  }
  return next.value
}

/** Performs the steps one after the other → the result. Rejects with what a step or the work throws. */
export async function perform<T>(work: Work<T>, transaction: Transaction): Promise<T> {
  let next = work.next()
  while (next.done !== true) next = work.next(await execute(next.value, transaction))
  return next.value
}

async function execute(step: Step, transaction: Transaction): Promise<unknown> {
  const { statements } = transaction
  if (step.wants === 'rows') return statements.query(step.statement.text, step.values.map(bound))
  if (step.wants === 'count') return statements.run(step.statement.text, step.values.map(bound))
  if (step.wants === 'native') return (step.perform as (transaction: Transaction) => unknown)(transaction) // of inside.ts
  if (statements.changed === undefined) throw new Error('settings change in a work that is not declared so')
  statements.changed(step.kind, ...step.ids)
}

const bound = (value: Value) => (Array.isArray(value) ? valueArray(value) : value)
