import { type Connection, Refused } from './connection.ts'
import { createWriteLane, type Fence, type GroupWriter, type WriteLane, type WriteLaneOptions } from './write-lane.ts'

/** Statements that read. */
export interface Queries {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** The statements of a transaction. */
export interface Statements extends Pick<Connection, 'query' | 'run'> {
  /** The lane that writes (lanes.id): part of the key of counters. */
  laneId: number
}

/** Changes that need several statements: read, decide, write. One transaction after the other on one connection, with
 *  the guarantees of a writing lane (write-lane.ts). */
export interface Transactions {
  /** Runs `work` in a transaction → its result, once that is committed. `work` may run more than once, so it has no
   *  effect outside the database. Rejects with what `work` throws, and then nothing was written; else as
   *  WriteLane.write. */
  write<T>(work: (statements: Statements) => Promise<T>): Promise<T>
  /** Finishes what waits, then closes the connection. */
  close(): Promise<void>
}

/** A lane's options → its Transactions. */
export function createTransactions(
  options: Pick<WriteLaneOptions<Work, unknown>, 'connect' | 'laneId' | 'writtenTo' | 'patienceMs' | 'onGroup'>,
): Transactions {
  const writer = transactionWriter<Work, unknown>(async (statements, changes) => {
    const results = []
    for (const work of changes) results.push(await work(statements))
    return { results }
  })
  const lane: WriteLane<Work, unknown> = createWriteLane({ ...options, writer, gatherMs: 0, most: 1 })
  return {
    write: async <T>(work: (statements: Statements) => Promise<T>) => (await lane.write(work)) as T,
    close: () => lane.close(),
  }
}

type Work = (statements: Statements) => Promise<unknown>

/** Performs the changes of a group with the statements of a transaction → the result of each, in order. `writes` are
 *  statements that were sent and not awaited: the commit follows them without a round trip in between. */
export type Perform<Change, Result> = (
  statements: Statements,
  changes: readonly Change[],
) => Promise<{ results: readonly Result[]; writes?: Promise<unknown> }>

/** What performs changes → what writes a group of them in one transaction. */
export function transactionWriter<Change, Result>(perform: Perform<Change, Result>): GroupWriter<Change, Result> {
  /** Of the last group: they are known before the commit, also when the answer to the commit is lost. */
  let results: readonly Result[] = []
  return {
    write: async (connection, fence, changes) => {
      let isOpen = true
      /** Why the transaction failed: the statements sent behind this one fail too, and their errors may come first. */
      let cause: unknown = null
      const sent = async <Answer>(send: () => Promise<Answer>): Promise<Answer> => {
        if (!isOpen) throw new Error('a statement after the end of its transaction')
        try {
          return await send()
        } catch (error) {
          cause ??= error
          throw error
        }
      }
      const statements: Statements = {
        query: (text, values) => sent(() => connection.query(text, values)),
        run: (text, values) => sent(() => connection.run(text, values)),
        laneId: fence.laneId,
      }
      try {
        const [, raised] = await Promise.all([connection.query('begin'), raise(connection, fence)])
        if (!raised) {
          await connection.query('rollback')
          return null
        }
        const performed = await perform(statements, changes)
        results = performed.results
        isOpen = false
        await Promise.all([performed.writes, connection.query('commit')])
        return results
      } catch (error) {
        isOpen = false
        await connection.query('rollback')
        throw error instanceof Refused && error.code === IN_FAILED_TRANSACTION ? (cause ?? error) : error
      }
    },
    recover: () => results,
  }
}

/** SQLSTATE of the statements behind one that was refused. */
const IN_FAILED_TRANSACTION = '25P02'

const RAISE = `update lanes set group_no = $2::bigint, written_to = $3::bigint
  where id = $1::int and group_no = $2::bigint - 1 and ended_at is null`

/** False if the lane was ended. */
async function raise(connection: Connection, { laneId, number, writtenTo }: Fence): Promise<boolean> {
  return (await connection.run(RAISE, [laneId, number, writtenTo])) === 1
}
