import type { MailInside } from '../mail/inside.ts'
import type { MailLane } from '../mail/lane.ts'
import { type Database, run, type Step, type Value, type Work } from '../sql.ts'
import { valueArray } from './arrays.ts'
import { readEach, sendEach } from './each.ts'
import type { Reads } from './reads.ts'
import type { Settings } from './settings.ts'
import type { Queries, Statements } from './transactions.ts'

/** What performs a work. */
export interface Transaction {
  statements: Statements
  /** Null in works that write no mail. */
  mail: MailInside | null
  /** Statements whose answers nobody awaits before the commit. */
  sent: Promise<unknown>[]
}

/** Waits: each group of changes holds the row of its lane until its commit (transactions.ts). */
const GROUPS_UNDER_WAY = 'select id from lanes where ended_at is null for share'

/** PostgreSQL as the roles of the store use it: a piece of work is one transaction, and each statement a round trip. */
export function postgresDatabase(reads: Reads, lane: MailLane, settings: Pick<Settings, 'write'>): Database {
  return {
    ...readingDatabase(reads),
    run: async (statement, ...values) => {
      await lane.perform(() => run(statement, ...values))
    },
    count: (statement, ...values) => lane.perform(() => run(statement, ...values)),
    write: (work, kind) => (kind === 'settings' ? settings.write(work) : lane.perform(work)),
    groupsSettled: async () => {
      await reads.query(GROUPS_UNDER_WAY)
    },
  }
}

/** What reads. */
function readingDatabase(reads: Queries): Pick<Database, 'row' | 'rows' | 'read'> {
  return {
    rows: ({ text }, ...values) => reads.query(text, values.map(bound)),
    row: async ({ text }, ...values) => {
      const [row] = await reads.query<never>(text, values.map(bound))
      return row ?? null
    },
    read: (work) => readWith(reads, work()),
  }
}

/** Reads one step after the other → the result. */
export async function readWith<T>({ query }: Queries, work: Work<T>): Promise<T> {
  let next = work.next()
  while (next.done !== true) {
    const step = next.value
    if (step.wants === 'each' && step.isRead) next = work.next(await readEach(step, query))
    else if (step.wants === 'rows') next = work.next(await query(step.statement.text, step.values.map(bound)))
    else throw new Error('a read writes')
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
  if (step.wants === 'each') return sendEach(step, transaction)
  if (step.wants === 'together')
    return Promise.all(step.steps.map((each) => (each === null ? [] : sendEach(each, transaction))))
  if (step.wants === 'mail') {
    if (transaction.mail === null) throw new Error('mail in a work without any')
    return transaction.mail
  }
  throw new Error('settings change in a work that is not declared so')
}

const bound = (value: Value) => (Array.isArray(value) ? valueArray(value) : value)
