import { StoreUnavailable } from '../errors.ts'
import type { SeenNodes } from './active-nodes.ts'
import { BEAT, BEHIND, type Beat, END_SILENT, nodesIn } from './beat.ts'
import { type Connection, NoAnswer } from './connection.ts'
import type { HeldClaims } from './held-claims.ts'
import type { History } from './history.ts'
import { faultOf, setInstanceState } from './instance.ts'
import type { NodeOptions } from './node-options.ts'
import type { Node } from './nodes.ts'
import type { Settings } from './settings.ts'
import type { Queries } from './transactions.ts'

/** Others end a node when they have not seen it for so long. */
export const TAKEOVER_MS = 10_000

/** Interval of beats. */
const BEAT_MS = 250
/** How long a node counts as following after it read events. */
const FOLLOWS_MS = 5_000
/** Beats further apart were interrupted. */
const GAP_MS = 2_000
/** A node that had no beat for this part of the takeover time claims nothing more: others may end it soon. */
const SAFE_PART = 0.8
/** Between looks whether other nodes have a change of settings. */
const BEHIND_MS = 10

/** The node that beats: its distribution. */
export interface BeatingNode {
  /** True once it claims nothing more. */
  isDraining(): boolean
  /** Gets what each beat found out. */
  saw(nodes: SeenNodes): Promise<void>
}

/** The beats of a node: they tell the others that it runs, and what they answer tells it of the others. */
export class Cluster {
  readonly #distribution: BeatingNode
  readonly #connect: () => Promise<Connection>
  readonly #queries: Queries
  readonly #node: Node
  readonly #options: NodeOptions
  readonly #takeoverMs: number
  readonly #settings: () => Pick<Settings, 'version' | 'catchUp'>
  readonly #held: HeldClaims
  readonly #history: History
  #connection: Connection | null = null
  // Times are of the steady clock, ms.
  #followsUntil = Number.NEGATIVE_INFINITY
  #isFollowed = false
  /** This node ended others, and nobody knows yet. */
  #hasEndedSome = false
  #beatAt = performance.now()
  /** Begin of the present row of beats without a gap. */
  #beatingSince = performance.now()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false
  #beating: Promise<void> = Promise.resolve()
  /** Beats do not wait for what follows from them: it reads queues, and waits for transactions of silent nodes. */
  #learning: Promise<void> | null = null

  /** `connect` opens the connection of the beats. */
  constructor(
    distribution: BeatingNode,
    parts: {
      connect: () => Promise<Connection>
      queries: Queries
      node: Node
      options: NodeOptions
      settings: () => Pick<Settings, 'version' | 'catchUp'>
      held: HeldClaims
      history: History
    },
  ) {
    this.#distribution = distribution
    this.#connect = parts.connect
    this.#queries = parts.queries
    this.#node = parts.node
    this.#options = parts.options
    this.#takeoverMs = parts.options.takeoverMs ?? TAKEOVER_MS
    this.#settings = parts.settings
    this.#held = parts.held
    this.#history = parts.history
  }

  /** Sends beats until it is closed. Resolves after the first one; rejects with its error. */
  async start(): Promise<void> {
    const answer = await this.#beat()
    if (answer !== null) await this.#learn(answer)
    this.#wait()
  }

  /** Time since the last beat, ms. */
  silentMs(): number {
    return performance.now() - this.#beatAt
  }

  /** True while no other node may take this one for dead. */
  isSafe(): boolean {
    return this.silentMs() < SAFE_PART * this.#takeoverMs
  }

  /** This node reads events as they happen: for a while, others notify it of theirs. */
  follow(): void {
    this.#followsUntil = performance.now() + FOLLOWS_MS
  }

  /** Whether another node follows events. */
  isFollowed(): boolean {
    return this.#isFollowed
  }

  /** Resolves when every other live node has the settings up to this version in memory. A node that does not get there
   *  is ended after the takeover time. */
  async settled(version: number): Promise<void> {
    for (const until = performance.now() + 2 * this.#takeoverMs; performance.now() < until; ) {
      const [row] = await this.#queries.query<{ count: number }>(BEHIND, [this.#node.id, version])
      if ((row?.count ?? 0) === 0) return
      await Bun.sleep(BEHIND_MS)
    }
    throw new StoreUnavailable('another node does not respond', { isUncertain: true })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#beating
    await this.#learning
    this.#connection?.close()
  }

  #wait(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#beatOnce(), BEAT_MS)
  }

  #beatOnce(): void {
    this.#timer = undefined
    this.#beating = this.#beat()
      .then(
        (answer) => this.#learnAside(answer),
        () => {}, // the next beat tries again
      )
      .then(() => this.#wait())
  }

  /** → What it finds out; null if this node must stop. */
  async #beat(): Promise<Beat | null> {
    const sentAt = performance.now()
    const answer = await this.#ask(sentAt)
    if (answer === undefined) return this.#end('another node ended this one')
    const isWhole = this.#history.learn(answer.groups, performance.now())
    if (!isWhole && this.#connection !== null) await setInstanceState(this.#connection, 'went_back')
    const fault = faultOf({ state: isWhole ? answer.state : 'went_back', isHere: true })
    if (fault !== null) return this.#end(fault)
    this.#options.onTime?.(answer.time, performance.now() - sentAt)
    if (performance.now() - this.#beatAt > GAP_MS) this.#beatingSince = performance.now()
    this.#beatAt = sentAt
    this.#isFollowed = answer.isFollowed
    return answer
  }

  async #ask(now: number): Promise<Beat | undefined> {
    this.#connection ??= await this.#connect()
    const underWay = this.#held.count()
    const isHandedOver = this.#distribution.isDraining() && underWay === 0
    const about = [this.#settings().version(), this.#takeoverMs, underWay, now < this.#followsUntil, isHandedOver]
    const asked = this.#connection.query<Beat>(BEAT, [this.#node.id, ...about], this.#takeoverMs)
    const [answer] = await asked.catch((error) => {
      if (error instanceof NoAnswer) this.#connection = null
      throw error
    })
    return answer
  }

  #end(reason: string): null {
    this.#isClosed = true
    this.#options.onEnded?.(reason)
    return null
  }

  #learnAside(answer: Beat | null): void {
    if (answer === null || this.#learning !== null) return
    this.#learning = this.#learn(answer)
      .catch(() => {})
      .then(() => {
        this.#learning = null
      })
  }

  async #learn(beat: Beat): Promise<void> {
    // After an outage of the database, every node seems silent to the first that comes back.
    if (beat.hasSilent && performance.now() - this.#beatingSince >= this.#takeoverMs) await this.#endSilent()
    if (beat.version > this.#settings().version()) await this.#settings().catchUp()
    await this.#distribution.saw({ ...nodesIn(beat), hasEndedSome: this.#hasEndedSome })
    this.#hasEndedSome = false
  }

  /** Not over the connection of the beats: it may wait for a transaction of the silent node. */
  async #endSilent(): Promise<void> {
    const [row] = await this.#queries.query<{ count: number }>(END_SILENT, [this.#node.id, this.#takeoverMs])
    if (row === undefined || row.count === 0) return
    this.#hasEndedSome = true
    this.#options.observer?.tookOver(row.count)
  }
}
