import type { DueIndex } from '../due-index.ts'
import { QUEUE_NAMES, type QueueName } from '../mail/queue-tables.ts'
import type { NodeShare, Nodes } from '../store.ts'
import { ActiveNodes, type SeenNodes } from './active-nodes.ts'
import type { DatabaseAddress } from './address.ts'
import { Announcements } from './announcements.ts'
import { type BeatingNode, Cluster } from './cluster.ts'
import type { Connection } from './connection.ts'
import type { DueKeys } from './due-keys.ts'
import { DueLooks } from './due-looks.ts'
import type { HeldClaims } from './held-claims.ts'
import type { History } from './history.ts'
import type { NodeOptions } from './node-options.ts'
import type { Node } from './nodes.ts'
import type { Reads } from './reads.ts'
import type { Settings } from './settings.ts'
import { ShownEvents } from './shown-events.ts'
import { type Offer, type WakeUpListener, WakeUps } from './wake-ups.ts'

/** How often keys that this node does not take are looked for. */
const ANNOUNCE_MS = 100
/** A node without contact to the database for so long sends clients to others. */
const SILENT_MS = 2_000

/** How the nodes divide the work in the queues: each has the keys that wait on its due index, and a claim takes rows that no
 *  other node has locked. Joins beats, wake-ups and due indexes of this node. */
export class Distribution
  implements BeatingNode, Pick<Nodes, 'share' | 'elsewhere' | 'placementChanged' | 'whyNotReady'>
{
  readonly due: Record<QueueName, DueIndex>
  /** Claims of this node. */
  readonly held: HeldClaims
  readonly #node: Node
  readonly #options: NodeOptions
  readonly #isCommand: boolean
  readonly #clock: () => number
  readonly #settings: () => Pick<Settings, 'version' | 'catchUp'>
  readonly #active: ActiveNodes
  readonly #events: ShownEvents
  readonly #looks: DueLooks
  readonly #wakeUps: WakeUps
  readonly #announcements: Announcements
  readonly #announcing: ReturnType<typeof setInterval>
  readonly #cluster: Cluster
  #isDraining = false

  /** `settings` is used once it has started. */
  constructor(parts: {
    address: DatabaseAddress
    /** Opens the connection of the beats. */
    connect: () => Promise<Connection>
    reads: Reads
    node: Node
    options: NodeOptions
    /** Clock in ms UTC. */
    clock: () => number
    settings: () => Pick<Settings, 'version' | 'catchUp'>
    keys: DueKeys
    held: HeldClaims
    history: History
  }) {
    const { address, connect, reads, node, options, clock, settings, keys, held, history } = parts
    this.due = keys.indexes
    this.held = held
    this.#node = node
    this.#options = options
    this.#isCommand = options.isCommand ?? false
    this.#clock = clock
    this.#settings = settings
    this.#active = new ActiveNodes(reads, node.id, options.placement)
    this.#events = new ShownEvents((id) => options.onEvents?.(id))
    this.#looks = new DueLooks(keys, clock, {
      onRead: () => {
        for (const queue of QUEUE_NAMES) options.onWork?.(queue)
      },
      onFailed: (error) => options.onTakeOverFailed?.(error),
    })
    this.#wakeUps = new WakeUps({ address, name: 'postrider wake-ups' }, this.#fromOthers())
    this.#announcements = new Announcements(keys.indexes, this.#wakeUps)
    this.#announcing = setInterval(() => this.#announceDue(), ANNOUNCE_MS)
    this.#cluster = new Cluster(this, { connect, queries: reads, node, options, settings, held, history })
  }

  /** Joins the others, and reads what waits. `takeOver`: what ended nodes were working on is due again. */
  async start(takeOver: () => Promise<void>): Promise<void> {
    await this.#cluster.start()
    await this.#looks.settled()
    this.#looks.takeOverBy(takeOver) // what ended before, the server ends (ended-workers.ts)
  }

  async close(): Promise<void> {
    clearInterval(this.#announcing)
    await this.#cluster.close()
    await this.#looks.settled()
    await this.#wakeUps.close()
  }

  /** Keys have something due, and are on the due index of this node. */
  offered(offers: readonly Offer[]): void {
    if (this.#isCommand) for (const offer of offers) this.#wakeUps.offer(offer)
    else if (this.#active.hasOthers()) this.#announcements.noted(offers)
  }

  /** False while this node claims nothing: it hands over, or others may have ended it. */
  mayClaim(): boolean {
    return !this.#isDraining && this.#cluster.isSafe()
  }

  /** This node claims nothing more. */
  handOver(): void {
    this.#isDraining = true
  }

  isDraining(): boolean {
    return this.#isDraining
  }

  async saw(nodes: SeenNodes): Promise<void> {
    await this.#wakeUps.check()
    if (this.#isCommand) return
    this.#isDraining ||= nodes.draining.has(this.#node.id)
    this.#looks.turn(await this.#active.learn(nodes))
  }

  whyNotReady(): string | null {
    if (this.#isDraining) return 'this node drains'
    return this.#cluster.silentMs() < SILENT_MS ? null : 'this node has no contact with the database'
  }

  share(): NodeShare {
    return this.#active.share()
  }

  elsewhere(queue: string): string | null {
    return this.#active.elsewhere(queue)
  }

  placementChanged(): void {
    this.#active.moved()
  }

  /** Tells the other nodes that the settings reached a version, and resolves when they have it. */
  async announce(version: number): Promise<void> {
    this.#wakeUps.changed(version)
    await this.#cluster.settled(version)
  }

  /** False once other nodes may have ended this one, and changed settings without it. */
  isCurrent(): boolean {
    return this.#cluster.isSafe()
  }

  /** Call it when events are read as they happen. */
  follow(): void {
    this.#cluster.follow()
  }

  /** Events of these organizations were committed. */
  happened(organizationIds: Iterable<string>): void {
    this.#events.show(organizationIds)
    if (this.#cluster.isFollowed()) for (const id of organizationIds) this.#wakeUps.happened(id)
  }

  #announceDue(): void {
    if (this.#active.hasOthers()) this.#announcements.turn(this.#clock(), performance.now())
    else this.#announcements.clear() // a node that starts reads what waits
  }

  /** What other nodes notify this one of. */
  #fromOthers(): WakeUpListener {
    return {
      offered: ([queue, key, at]) => {
        if (this.#isCommand) return
        this.due[queue].offer(key, at)
        this.#options.onWork?.(queue)
      },
      happened: (organizationId) => this.#events.show([organizationId]),
      changed: (reached) => {
        if (reached > this.#settings().version())
          this.#settings()
            .catchUp()
            .catch(() => {}) // the next beat tries again
      },
      missed: () => this.#looks.missed(),
    }
  }
}
