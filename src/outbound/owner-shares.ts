import { createCompany } from '../platform/company.ts'

/** Shares places that are few (deliveries under way, questions to DNS) among the organizations that want them, so that one of
 *  them whose destinations hang, however many it has, leaves places to the others. */
export interface OwnerShares {
  /** How many more places of the pool, which has `total`, the owner may take: all while no other wants any, else so many that
   *  one more owner finds as many. Who asks wants some, whatever else it has to wait for. */
  roomFor(pool: string, owner: string, total: number): number
  took(pool: string, owner: string, count: number): void
  gaveBack(pool: string, owner: string, count: number): void
  /** What the owner waits for when it has no room. */
  obstacleOf(pool: string, owner: string): { name: string; until: null }
  /** Obstacles that may be gone since the last call. */
  freed(): string[]
}

/** Another owner counts as one that wants places so long after it last asked. */
const MIXED_MS = 3_600_000

/** A clock, ms → nobody has taken anything. */
export function createOwnerShares(now: () => number): OwnerShares {
  /** Pool → owner → places. */
  const held = new Map<string, Map<string, number>>()
  /** Pool → those that were told to wait. */
  const waiting = new Map<string, Set<string>>()
  let freed: string[] = []
  const company = createCompany(now, MIXED_MS)

  const holdersOf = (pool: string) => held.get(pool) ?? new Map<string, number>()
  return {
    roomFor: (pool, owner, total) => {
      const isAlone = !company.has(owner)
      const holders = holdersOf(pool)
      const own = holders.get(owner) ?? 0
      const others = holders.size - (own > 0 ? 1 : 0)
      if (others === 0 && isAlone) return total - own
      return Math.ceil(total / (Math.max(1, others) + 1)) - own
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
    obstacleOf: (pool, owner) => {
      const name = `${pool} of ${owner}`
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
