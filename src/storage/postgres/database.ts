import type { Database, Step, Value, Work } from '../sql.ts'
import { valueArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

/** PostgreSQL as the roles of the store use it: a piece of work is one transaction, and each statement a round trip. */
export function postgresDatabase(reads: Reads, writer: Writer): Database {
  return {
    rows: ({ text }, ...values) => reads.query(text, values.map(bound)),
    row: async ({ text }, ...values) => {
      const [row] = await reads.query<never>(text, values.map(bound))
      return row ?? null
    },
    run: ({ text }, ...values) =>
      writer.write(async ({ run }) => {
        await run(text, values.map(bound))
      }),
    count: ({ text }, ...values) => writer.write(({ run }) => run(text, values.map(bound))),
    write: (work) => writer.write((statements) => perform(work(), statements)),
  }
}

/** Performs the steps one after the other → the result. Rejects with what a step or the work throws. */
async function perform<T>(work: Work<T>, statements: Statements): Promise<T> {
  const execute = ({ statement, values, wants }: Step): Promise<unknown> =>
    wants === 'rows'
      ? statements.query(statement.text, values.map(bound))
      : statements.run(statement.text, values.map(bound))
  let next = work.next()
  while (next.done !== true) next = work.next(await execute(next.value))
  return next.value
}

const bound = (value: Value) => (Array.isArray(value) ? valueArray(value) : value)
