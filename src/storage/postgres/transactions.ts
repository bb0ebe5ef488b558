import type { Connection } from './connection.ts'
import { createWriteLane, type GroupWriter, type WriteLane, type WriteLaneOptions } from './write-lane.ts'

/** Statements that read. */
export interface Queries {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** The statements of a transaction. */
export type Statements = Pick<Connection, 'query' | 'run'>

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
  options: Pick<WriteLaneOptions<Change, unknown>, 'connect' | 'laneId' | 'writtenTo' | 'patienceMs'>,
): Transactions {
  const lane: WriteLane<Change, unknown> = createWriteLane({ ...options, writer: WRITER, gatherMs: 0, most: 1 })
  return {
    write: async <T>(work: (statements: Statements) => Promise<T>) => {
      const results: T[] = []
      const run = async (statements: Statements) => {
        results[0] = await work(statements)
      }
      await lane.write({ work: run })
      return results[0]!
    },
    close: () => lane.close(),
  }
}

interface Change {
  /** Keeps its result itself: it is known before the commit, also when the answer to the commit is lost. */
  work: (statements: Statements) => Promise<void>
}

const WRITER: GroupWriter<Change, unknown> = {
  write: async (connection, { laneId, number, writtenTo }, changes) => {
    await connection.query('begin')
    try {
      const [fence] = await connection.query(FENCE, [laneId, number, writtenTo])
      if (fence === undefined) {
        await connection.query('rollback')
        return null
      }
      const statements: Statements = {
        query: (text, values) => connection.query(text, values),
        run: (text, values) => connection.run(text, values),
      }
      for (const { work } of changes) await work(statements)
      await connection.query('commit')
      return changes
    } catch (error) {
      await connection.query('rollback')
      throw error
    }
  },
  recover: async (_connection, changes) => changes,
}

const FENCE = `update nodes set group_no = $2::bigint, written_to = $3::bigint, seen_at = clock_timestamp()
  where id = $1::int and group_no = $2::bigint - 1 and ended_at is null returning 1`
