import { createRecentOthers } from '../../net/limiters/recent-others.ts'

/** Divides limited places (deliveries in progress, DNS lookups) among organizations, so that one whose destinations
 *  do not answer, however many, leaves places for others. */
export interface OwnerShares {
  /** How many more of the pool's `total` places the owner may take; zero or less if its share is used up. While no
   *  other owner asked within the last hour it may take all; otherwise, with n other owners that hold places, total
   *  / (n + 2): one part stays free for an owner that holds none yet. `planned`: owners that are about to take
   *  places. */
  placesFor(pool: string, owner: string, total: number, planned?: ReadonlySet<string>): number
  took(pool: string, owner: string, count: number): void
  gaveBack(pool: string, owner: string, count: number): void
  /** Name of the blocker for an owner in a pool. */
  nameOf(pool: string, owner: string): string
  /** The blocker of an owner whose share is used up. */
  blockerOf(pool: string, owner: string): { name: string; until: null }
  /** Blockers that may have ended since the last call. */
  freed(): string[]
}

/** An owner counts as active for this long after it last asked. */
const MIXED_MS = 3_600_000

const nameOf = (pool: string, owner: string) => `${pool} of ${owner}`

/** Clock (ms) → OwnerShares with all places free. */
export function createOwnerShares(now: () => number): OwnerShares {
  /** Pool → owner → places. */
  const held = new Map<string, Map<string, number>>()
  /** Pool → names of blockers that owners wait for. */
  const waiting = new Map<string, Set<string>>()
  let freed: string[] = []
  const recentOthers = createRecentOthers(now, MIXED_MS)

  const holdersOf = (pool: string) => held.get(pool) ?? new Map<string, number>()
  return {
    placesFor: (pool, owner, total, planned) => {
      const hasOthers = recentOthers.than(owner)
      const holders = holdersOf(pool)
      const own = holders.get(owner) ?? 0
      let others = holders.size - (own > 0 ? 1 : 0)
      for (const next of planned ?? []) if (next !== owner && !holders.has(next)) others++
      if (others === 0 && !hasOthers) return total - own
      return Math.ceil(total / (others + 2)) - own
    },
    took: (pool, owner, count) => {
      const holders = holdersOf(pool)
      held.set(pool, holders)
      if (count > 0) holders.set(owner, (holders.get(owner) ?? 0) + count)
    },
    gaveBack: (pool, owner, count) => {
      const holders = holdersOf(pool)
      const left = (holders.get(owner) ?? 0) - count
      if (left > 0) holders.set(owner, left)
      else holders.delete(owner)
      // An owner that holds fewer places frees a share for others as well.
      freed.push(...(waiting.get(pool) ?? []))
      waiting.delete(pool)
    },
    nameOf,
    blockerOf: (pool, owner) => {
      const name = nameOf(pool, owner)
      const names = waiting.get(pool)
      if (names === undefined) waiting.set(pool, new Set([name]))
      else names.add(name)
      return { name, until: null }
    },
    freed: () => {
      const names = freed
      freed = []
      return names
    },
  }
}
