import { createRecentOthers } from '../../net/limiters/recent-others.ts'

/** Divides limited places (deliveries in progress, questions to DNS) among organizations, so that one whose destinations hang,
 *  however many, leaves places for the others. */
export interface OwnerShares {
  /** How many more of the pool's `total` places the owner may take; zero or less when it has its part. While no other owner
   *  asked within the last hour it may take all; else, with n other owners that hold places, total / (n + 2): a part is left
   *  for an owner that holds none yet. `planned`: owners that are about to take places. */
  placesFor(pool: string, owner: string, total: number, planned?: ReadonlySet<string>): number
  took(pool: string, owner: string, count: number): void
  gaveBack(pool: string, owner: string, count: number): void
  /** The blocker's name. */
  nameOf(pool: string, owner: string): string
  /** What the owner waits for when it has no room. */
  blockerOf(pool: string, owner: string): { name: string; until: null }
  /** Blockers that may be gone since the last call. */
  freed(): string[]
}

/** An owner counts as active so long after it last asked. */
const MIXED_MS = 3_600_000

const nameOf = (pool: string, owner: string) => `${pool} of ${owner}`

/** A clock, ms → all places are free. */
export function createOwnerShares(now: () => number): OwnerShares {
  /** Pool → owner → places. */
  const held = new Map<string, Map<string, number>>()
  /** Pool → those that were told to wait. */
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
      // Who has fewer makes room for others as well.
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
