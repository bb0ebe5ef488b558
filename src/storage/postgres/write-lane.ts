import { StoreUnavailable } from '../errors.ts'
import { type Connection, NoAnswer, Refused } from './connection.ts'
import { COLLISION, NO_RESOURCES, storeError } from './refusals.ts'

/** How changes are written in one transaction, which also raises the lane's number. */
export interface GroupWriter<Change, Result> {
  /** Writes the changes and the fence → the result of each change, in order; null if the lane was ended. Rejects with
   *  what the connection rejects with; after an error other than NoAnswer nothing was written. */
  write(connection: Connection, fence: Fence, changes: readonly Change[]): Promise<readonly Result[] | null>
  /** Results of the last group that was written, which was committed without an answer. */
  recover(): readonly Result[]
}

/** The next number of a lane, which its transaction writes to `lanes` if the lane was not ended. */
export interface Fence {
  /** Row of the lane in `lanes`. */
  laneId: number
  number: number
}

/** Another node ended this one: its deliveries are no longer its own, and nothing was written. The process must stop. */
export class LaneEnded extends StoreUnavailable {
  constructor(message: string) {
    super(message)
    this.name = 'LaneEnded'
  }
}

interface WriteLaneOptions<Change, Result> {
  /** Connects to the server that accepts writes. */
  connect: () => Promise<Connection>
  /** Row of the lane in `lanes`. */
  laneId: number
  writer: GroupWriter<Change, Result>
  /** Most changes in a group. */
  most: number
  /** How long a caller waits, ms. */
  patienceMs: number
  /** A group was committed after `ms`. */
  onGroup?: (ms: number, changes: number) => void
  /** What a change follows; null = nothing. */
  after?: (change: Change) => Promise<void> | null
}

/** How long callers of a node wait: as long as for another process with SQLite. */
export const PATIENCE_MS = 5_000
/** Pauses between attempts to connect. */
const RECONNECT_MS = [50, 100, 250, 500, 1_000]
/** Attempts of a group that collides with others. */
const COLLISIONS = 3

/** Waits for a statement that still runs in the old session. */
const STATE = 'select group_no, ended_at is not null as ended from lanes where id = $1::int for update'

interface Pending<Change, Result> {
  change: Change
  /** What it still waits for; never rejects. */
  after: Promise<void> | null
  resolve: (result: Result) => void
  reject: (error: unknown) => void
  /** True once a statement with the change was sent. */
  isSent: boolean
  /** True once the caller has its answer. */
  isAnswered: boolean
}

/** Writes changes of one kind over one connection. Changes that wait share one statement, one round trip and one
 *  commit (group commit). Every group raises the lane's number in `lanes`, only if the lane was not ended: so the
 *  lane finds out whether a group without an answer was committed, and a lane that another node ended cannot write. A new lane
 *  continues from the group number in its row. */
export class WriteLane<Change, Result> {
  readonly #options: WriteLaneOptions<Change, Result>
  readonly #queue: Pending<Change, Result>[] = []
  #connection: Connection | null = null
  /** Number of the last committed group whose results were read; null = not read yet. */
  #committed: number | null = null
  /** A group was sent whose answer is missing. */
  #isInDoubt = false
  /** That group was committed. */
  #isUnrecordedCommit = false
  #ended: LaneEnded | null = null
  #running: Promise<void> | null = null
  /** The group under way. */
  #deciding: Promise<void> | null = null
  #isClosing = false

  constructor(options: WriteLaneOptions<Change, Result>) {
    this.#options = options
  }

  /** Writes the change in the next group, with what comes in the same turn of the event loop → its result, once that is
   *  committed. Rejects with
   *
   *  - what PostgreSQL refused of the change itself (Refused); nothing was written;
   *  - StoreUnavailable if the database does not accept writes or does not answer in time. With `isUncertain` the
   *    change may still be committed; without, nothing was written;
   *  - LaneEnded if another node ended this one; nothing was written. */
  write(change: Change): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const after = this.#options.after?.(change) ?? null
    const pending: Pending<Change, Result> = { change, after, isSent: false, isAnswered: false, resolve, reject }
    after?.then(() => {
      pending.after = null
    })
    const timer = setTimeout(() => this.#giveUp(pending), this.#options.patienceMs)
    this.#queue.push(pending)
    this.#running ??= this.#run()
    return promise.finally(() => {
      pending.isAnswered = true
      clearTimeout(timer)
    })
  }

  /** Resolves when the group under way is decided: committed, or never to be. Callers may have left before, and it may still
   *  be committed. Null if there is none. */
  decided(): Promise<void> | null {
    return this.#deciding
  }

  /** Writes what waits, then closes the connection. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#running
    this.#close()
  }

  #giveUp(pending: Pending<Change, Result>): void {
    pending.isAnswered = true
    const at = this.#queue.indexOf(pending)
    if (at !== -1) this.#queue.splice(at, 1)
    pending.reject(new StoreUnavailable('the database does not respond', { isUncertain: pending.isSent }))
  }

  async #run(): Promise<void> {
    const { most } = this.#options
    await turn()
    while (this.#queue.length > 0) {
      await this.#queue[0]?.after
      this.#deciding = this.#settle(this.#takeGroup(most))
      await this.#deciding
      this.#deciding = null
      if (this.#queue.length < most) await turn()
    }
    this.#running = null
  }

  /** The first changes that wait for nothing. */
  #takeGroup(most: number): Pending<Change, Result>[] {
    const end = this.#queue.findIndex(({ after }, at) => at === most || after !== null)
    return this.#queue.splice(0, end === -1 ? most : end)
  }

  /** Every change of the group gets its answer. Never rejects. */
  async #settle(group: readonly Pending<Change, Result>[]): Promise<void> {
    try {
      const results = await this.#commit(group)
      for (const [{ resolve }, result] of results) resolve(result)
    } catch (error) {
      const half = Math.ceil(group.length / 2)
      if (group.length > 1 && !isOfAll(error))
        for (const at of [0, half]) await this.#settle(group.slice(at, at + half))
      else for (const { reject } of group) reject(storeError(error))
    }
  }

  /** Repeats until the group is committed, or nothing of it can be → the results of the written changes. A change
   *  whose caller left before it was written is dropped. If all have left and a group is in doubt, an empty one follows: then
   *  that one was committed or never will be, because its number is taken. */
  async #commit(group: readonly Pending<Change, Result>[]): Promise<Results<Change, Result>> {
    let sent: readonly Pending<Change, Result>[] = []
    let collisions = 0
    for (let attempt = 0; ; attempt++) {
      if (this.#ended !== null) throw this.#ended
      const hasWaiting = group.some(({ isAnswered }) => !isAnswered)
      if (!hasWaiting && (!this.#isInDoubt || this.#isClosing)) return []
      try {
        const connection = this.#connection ?? (await this.#open())
        if (this.#isUnrecordedCommit) {
          const results = this.#options.writer.recover()
          this.#wasCommitted()
          // Without `sent`, it was an earlier group whose callers have all left.
          if (sent.length > 0) return sent.map((pending, at) => [pending, results[at]!])
        }
        sent = group.filter(({ isAnswered }) => !isAnswered)
        return await this.#send(connection, sent)
      } catch (error) {
        if (error instanceof NoAnswer) this.#close()
        else if (!(error instanceof Refused)) throw error
        else if (ELSEWHERE.has(error.code)) this.#close()
        else if (!COLLISION.has(error.code) || ++collisions === COLLISIONS) throw error
        if (this.#connection === null) await Bun.sleep(RECONNECT_MS[Math.min(attempt, RECONNECT_MS.length - 1)]!)
      }
    }
  }

  /** Opens a connection and finds out whether the last group was committed if its answer is missing. */
  async #open(): Promise<Connection> {
    const { connect, laneId } = this.#options
    const connection = await connect()
    const [state] = await connection.query<{ group_no: string; ended: boolean }>(STATE, [laneId]).catch((error) => {
      connection.close()
      throw error instanceof Refused ? new NoAnswer(error.message, { cause: error }) : error
    })
    this.#connection = connection
    const stored = Number(state?.group_no ?? Number.NaN)
    const known = this.#committed ?? stored
    this.#isUnrecordedCommit = this.#isInDoubt && stored === known + 1
    if (!this.#isUnrecordedCommit && stored !== known) {
      throw this.#end(`the database is at group ${stored} of this node instead of ${known}`)
    }
    if (state?.ended !== false && !this.#isUnrecordedCommit) throw this.#end('another node ended this one')
    this.#isInDoubt = this.#isUnrecordedCommit
    this.#committed = known
    return connection
  }

  /** Writes the changes → their results. Throws LaneEnded if the lane was ended. */
  async #send(connection: Connection, sent: readonly Pending<Change, Result>[]): Promise<Results<Change, Result>> {
    const { writer, laneId, onGroup } = this.#options
    const sentAt = performance.now()
    for (const pending of sent) pending.isSent = true
    this.#isInDoubt = true
    const fence = { laneId, number: (this.#committed ?? 0) + 1 }
    const results = await writer.write(connection, fence, changesOf(sent)).catch((error) => {
      if (!(error instanceof NoAnswer)) this.#isInDoubt = false
      throw error
    })
    if (results === null) throw this.#end('another node ended this one')
    this.#wasCommitted()
    onGroup?.(performance.now() - sentAt, sent.length)
    return sent.map((pending, at) => [pending, results[at]!])
  }

  #wasCommitted(): void {
    this.#committed = (this.#committed ?? 0) + 1
    this.#isInDoubt = false
    this.#isUnrecordedCommit = false
  }

  #end(reason: string): LaneEnded {
    this.#ended = new LaneEnded(reason)
    return this.#ended
  }

  #close(): void {
    this.#connection?.close()
    this.#connection = null
  }
}

type Results<Change, Result> = (readonly [Pending<Change, Result>, Result])[]

function changesOf<Change>(group: readonly { change: Change }[]): Change[] {
  return group.map(({ change }) => change)
}

/** What comes in this turn of the event loop joins the group. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Another error is that of a change, or of several that collide. */
function isOfAll(error: unknown): boolean {
  return error instanceof LaneEnded || (error instanceof Refused && NO_RESOURCES.has(error.code))
}

/** Read-only transaction: this server became a standby, and another one accepts writes. */
const ELSEWHERE = new Set(['25006'])
