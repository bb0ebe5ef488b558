import { crc32 } from 'node:zlib'
import type { Clock } from '../os/clock.ts'
import type { Blocker } from './roles/claims.ts'
import type { NodeShare, Nodes } from './roles/nodes.ts'

/** A part that grows is used after this time: until then the node that had it has noticed, and most of its attempts ended. */
const GROW_MS = 2_000
/** Of a node that has just joined others. */
const NOTHING: NodeShare = { nodes: 0, place: 0 }

/** The part of limits of the whole installation that this node may use: the nodes that send mail divide each limit, and the
 *  parts of all add up to it. They change when a node joins or leaves. */
export class NodeParts {
  readonly #nodes: Pick<Nodes, 'share' | 'elsewhere'>
  readonly #clock: Pick<Clock, 'now'>
  readonly #waiting = new Set<string>()
  #now: NodeShare
  /** Shares before the present one, in their order: until its time, no part is larger than that of one. */
  #before: { share: NodeShare; until: number }[] = []
  #isNoted = true

  /** `clock`: the steady one. */
  constructor(nodes: Pick<Nodes, 'share' | 'elsewhere'>, clock: Pick<Clock, 'now'>) {
    this.#nodes = nodes
    this.#clock = clock
    this.#now = nodes.share()
    if (this.#now.nodes !== 1) this.#before.push({ share: NOTHING, until: clock.now() + GROW_MS })
  }

  /** The part of a number of connections or posts at once, which may be zero. `key` is what the limit belongs to: with limits
   *  that are smaller than the number of nodes, each node gets its turn at some keys. */
  of(limit: number, key: string): number {
    this.#look()
    let part = partOf(limit, this.#now, key)
    for (const { share } of this.#before) part = Math.min(part, partOf(limit, share, key))
    return part
  }

  /** The part of a rate. */
  ofRate(limit: number): number {
    this.#look()
    return limit / Math.max(1, this.#now.nodes, ...this.#before.map(({ share }) => share.nodes))
  }

  /** What the mail of a queue waits for if only other nodes have the addresses that it is sent from; null: nothing. */
  elsewhere(queue: string): Blocker | null {
    const name = this.#nodes.elsewhere(queue)
    return name === null ? null : this.blocker(name)
  }

  /** The blocker of what waits until the parts change. */
  blocker(name: string): Blocker {
    this.#waiting.add(name)
    return { name, until: null }
  }

  /** Blockers that may have ended since the last call. */
  freed(): string[] {
    this.#look()
    if (this.#isNoted) return []
    this.#isNoted = true
    const names = [...this.#waiting]
    this.#waiting.clear()
    return names
  }

  #look(): void {
    const share = this.#nodes.share()
    const at = this.#clock.now()
    if (share !== this.#now) {
      this.#before.push({ share: this.#now, until: at + GROW_MS })
      this.#now = share
      this.#isNoted = false
    }
    for (let first = this.#before[0]; first !== undefined && at >= first.until; first = this.#before[0]) {
      this.#before.shift()
      this.#isNoted = false
    }
  }
}

function partOf(limit: number, { nodes, place }: NodeShare, key: string): number {
  if (nodes <= 1) return nodes * limit
  const turn = (place + crc32(key)) % nodes
  return Math.floor(limit / nodes) + (turn < limit % nodes ? 1 : 0)
}
