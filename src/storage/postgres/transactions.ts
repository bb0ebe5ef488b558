import { type Connection, Refused } from './connection.ts'
import type { Fence, GroupWriter } from './write-lane.ts'

/** Statements that read. */
export interface Queries {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** The statements of a transaction. */
export type Statements = Pick<Connection, 'query' | 'run'>

/** The results of the changes of a group, and what its transaction still has to write. */
export interface Performed<Result> {
  /** The result of each change, in their order. */
  results: readonly Result[]
  /** Statements that were sent and whose answers nobody awaited: the commit is sent right behind them. */
  sent?: Promise<unknown>
}

/** Performs the changes of a group with the statements of a transaction. */
export type Perform<Change, Result> = (statements: Statements, changes: readonly Change[]) => Promise<Performed<Result>>

/** What performs changes → what writes a group of them in one transaction. */
export function transactionWriter<Change, Result>(perform: Perform<Change, Result>): GroupWriter<Change, Result> {
  /** Of the last group: they are known before the commit, also when the answer to the commit is lost. */
  let results: readonly Result[] = []
  return {
    write: async (connection, fence, changes) => {
      const transaction = new Transaction(connection, fence)
      try {
        const performed = await perform(transaction.statements, changes)
        results = performed.results
        await transaction.commit(performed)
        return results
      } catch (error) {
        const cause = await transaction.rollback(error)
        if (cause === null) return null
        throw cause
      }
    },
    recover: () => results,
  }
}

/** SQLSTATE of a division by zero, with which FENCE fails once the lane was ended. */
const ENDED = '22012'
/** SQLSTATE of the statements behind one that was refused. */
const IN_FAILED_TRANSACTION = '25P02'

/** The first statement of a group raises the group number of its lane. If it cannot, because the lane was ended, it
 *  fails, and so do all statements that were sent behind it. */
const FENCE = `with first as (update lanes set group_no = $2::bigint
    where id = $1::int and group_no = $2::bigint - 1 and ended_at is null returning 1)
  select 1 / count(*) from first`

/** One transaction, which begins with its first statement. */
class Transaction {
  readonly #connection: Connection
  readonly #fence: Fence
  #state: 'none' | 'begun' | 'ended' = 'none'
  /** The first error: the statements that were sent behind it fail too, and their errors may come first. */
  #cause: { error: unknown; isOfFence: boolean } | null = null
  readonly statements: Statements

  constructor(connection: Connection, fence: Fence) {
    this.#connection = connection
    this.#fence = fence
    this.statements = {
      query: (text, values) => this.#inside(() => connection.query(text, values)),
      run: (text, values) => this.#inside(() => connection.run(text, values)),
    }
  }

  /** Commits, right behind what was sent. */
  async commit({ sent }: Performed<unknown>): Promise<void> {
    if (this.#state === 'none') this.#begin()
    this.#state = 'ended'
    await Promise.all([sent, this.#note(this.#connection.query('commit'))])
    // Nobody awaited the begin: then PostgreSQL answers the commit with a rollback, which is no error.
    if (this.#cause !== null) throw this.#cause.error
  }

  /** → The error that ended it, `error` or one before; null if another node ended the lane. */
  async rollback(error: unknown): Promise<unknown> {
    const hasBegun = this.#state !== 'none'
    this.#state = 'ended'
    if (hasBegun) await this.#connection.query('rollback')
    const { error: first, isOfFence } = this.#cause ?? { error, isOfFence: false }
    if (isOfFence && first instanceof Refused && first.code === ENDED) return null
    return error instanceof Refused && error.code === IN_FAILED_TRANSACTION ? first : error
  }

  #inside<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    if (this.#state === 'ended') return Promise.reject(new Error('a statement after the end of its transaction'))
    if (this.#state === 'none') this.#begin()
    return this.#note(send())
  }

  #begin(): void {
    this.#state = 'begun'
    this.#note(this.#connection.query('begin')).catch(() => {})
    const { laneId, number } = this.#fence
    this.#note(this.#connection.query(FENCE, [laneId, number]), true).catch(() => {})
  }

  async #note<Answer>(answer: Promise<Answer>, isOfFence = false): Promise<Answer> {
    try {
      return await answer
    } catch (error) {
      this.#cause ??= { error, isOfFence }
      throw error
    }
  }
}
