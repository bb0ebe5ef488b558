import { createRecentOthers, type RecentOthers } from '../../../net/limiters/recent-others.ts'
import type { Clock } from '../../../os/clock.ts'
import type { Blocker } from '../../../storage/store.ts'

/** An organization counts as active for this long after it last asked for capacity. */
const ACTIVE_MS = 3_600_000

/** Divides limited pools (deliveries in progress, DNS lookups) among organizations, so that one whose destinations do not
 *  answer, however many, leaves capacity for others. */
export class OwnerShares {
  /** What each owner uses in each pool. */
  readonly #used = new Map<string, Map<string, number>>()
  /** Pool → names of blockers that owners wait for. */
  readonly #waiting = new Map<string, Set<string>>()
  readonly #recentOthers: RecentOthers
  #freed: string[] = []

  constructor(clock: Pick<Clock, 'now'>) {
    this.#recentOthers = createRecentOthers(clock.now, ACTIVE_MS)
  }

  /** How much more of the pool's `total` the owner may use; zero or less if its share is used up. While no other owner
   *  asked within the last hour it may use all; otherwise, with n other owners that use some, total / (n + 2): one part
   *  stays free for an owner that uses none yet. `planned`: owners that are about to use some. */
  left(pool: string, owner: string, total: number, planned?: ReadonlySet<string>): number {
    const hasOthers = this.#recentOthers.than(owner)
    const users = this.#used.get(pool)
    const own = users?.get(owner) ?? 0
    let others = (users?.size ?? 0) - (own > 0 ? 1 : 0)
    for (const next of planned ?? []) if (next !== owner && !users?.has(next)) others++
    if (others === 0 && !hasOthers) return total - own
    return Math.ceil(total / (others + 2)) - own
  }

  add(pool: string, owner: string, count: number): void {
    if (count <= 0) return
    const users = this.#used.get(pool)
    if (users === undefined) this.#used.set(pool, new Map([[owner, count]]))
    else users.set(owner, (users.get(owner) ?? 0) + count)
  }

  remove(pool: string, owner: string, count: number): void {
    const users = this.#used.get(pool)
    const left = (users?.get(owner) ?? 0) - count
    if (left > 0) users?.set(owner, left)
    else users?.delete(owner)
    // An owner that uses less frees a share for others as well.
    this.#freed.push(...(this.#waiting.get(pool) ?? []))
    this.#waiting.delete(pool)
  }

  /** Name of the blocker for an owner in a pool. */
  nameOf(pool: string, owner: string): string {
    return `${pool} of ${owner}`
  }

  /** The blocker of an owner whose share is used up. */
  blockerOf(pool: string, owner: string): Blocker {
    const name = this.nameOf(pool, owner)
    const names = this.#waiting.get(pool)
    if (names === undefined) this.#waiting.set(pool, new Set([name]))
    else names.add(name)
    return { name, until: null }
  }

  /** Blockers that may have ended since the last call. */
  freed(): string[] {
    if (this.#freed.length === 0) return []
    const names = this.#freed
    this.#freed = []
    return names
  }
}
