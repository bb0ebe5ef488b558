import { createCombiner, type Write, type Writing } from './combined.ts'
import { type Connection, Refused } from './connection.ts'
import { createWriteLane, type Fence, type GroupWriter, type WriteLane, type WriteLaneOptions } from './write-lane.ts'

/** Statements that read. */
export interface Queries {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** The statements of a transaction. */
export interface Statements extends Pick<Connection, 'query'>, Writing {}

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

/** The results of the changes of a group, and what its transaction still has to write. */
export interface Performed<Result> {
  /** The result of each change, in their order. */
  results: readonly Result[]
  /** Statements that were sent and whose answers nobody awaited: the commit is sent right behind them. */
  sent?: Promise<unknown>
  /** Statements still to be sent. If the transaction sent nothing before, they become one statement together with the
   *  lane's number. */
  writes?: readonly Write[]
  /** Events were written up to this place. */
  writtenTo?: number | undefined
}

/** Performs the changes of a group with the statements of a transaction. */
export type Perform<Change, Result> = (statements: Statements, changes: readonly Change[]) => Promise<Performed<Result>>

/** What performs changes → what writes a group of them in one transaction, or in one statement if they read nothing. */
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

/** Division by zero: the lane was ended. */
const ENDED = '22012'
/** SQLSTATE of the statements behind one that was refused. */
const IN_FAILED_TRANSACTION = '25P02'

/** The first part of a group. */
const RAISE = `update lanes set group_no = $2::bigint, written_to = $3::bigint
  where id = $1::int and group_no = $2::bigint - 1 and ended_at is null returning 1`
/** Fails unless the number was raised, and with it everything that is sent behind. */
const IS_RAISED = 'select 1 / count(*) from first'
const FENCE = `with first as (${RAISE}) ${IS_RAISED}`
/** A later lane begins behind this place. */
const REACHED = 'update lanes set written_to = $2::bigint where id = $1::int'

const withFence = createCombiner(IS_RAISED)
const together = createCombiner('select')

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
      laneId: fence.laneId,
    }
  }

  /** Writes what is left, and commits. */
  async commit({ sent, writes = [], writtenTo }: Performed<unknown>): Promise<void> {
    if (this.#state === 'none') {
      await sent
      const whole = withFence([this.#raise(writtenTo), ...writes])
      if (whole !== null) return this.#commitAlone(whole)
      this.#begin()
    }
    const all =
      writtenTo === undefined ? writes : [...writes, { text: REACHED, values: [this.#fence.laneId, writtenTo] }]
    const combined = all.length < 2 ? null : together(all)
    const left = (combined === null ? all : [combined]).map(({ text, values }) => this.statements.query(text, values))
    this.#state = 'ended'
    await Promise.all([sent, ...left, this.#note(this.#connection.query('commit'))])
  }

  async #commitAlone({ text, values }: Write): Promise<void> {
    this.#state = 'ended'
    await this.#note(this.#connection.query(text, values), true)
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
    this.#note(this.#connection.query(FENCE, this.#raise().values), true).catch(() => {})
  }

  #raise(writtenTo = this.#fence.writtenTo): Write {
    return { text: RAISE, values: [this.#fence.laneId, this.#fence.number, writtenTo] }
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
