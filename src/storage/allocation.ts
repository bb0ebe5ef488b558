import type { Quota } from './roles/claims.ts'

/** Counts what one claim takes against the quotas of its plan. Pure: no SQL, no clock. */
export interface Allocation {
  /** How many more deliveries the claim may take in total. */
  left(): number
  /** How many more it may take of a key with these quotas. */
  capacityFor(quotas: readonly Quota[]): number
  /** The first of these quotas that is used up; null if none is. */
  blockedBy(quotas: readonly Quota[]): string | null
  took(quotas: readonly Quota[], count: number): void
}

export function createAllocation(limit: number): Allocation {
  const taken = new Map<string, number>()
  let left = limit

  const leftOf = (quota: Quota): number => {
    const own = taken.get(quota.name) ?? 0
    if ('most' in quota) return quota.most - own
    const underWay = quota.underWay + own
    // Solves underWay + more <= (left - more) / parts for `more`.
    return Math.max(underWay === 0 ? 1 : 0, Math.floor((left - quota.parts * underWay) / (quota.parts + 1)))
  }

  return {
    left: () => left,
    capacityFor: (quotas) => {
      let capacity = left
      for (const quota of quotas) capacity = Math.min(capacity, leftOf(quota))
      return capacity
    },
    blockedBy: (quotas) => quotas.find((quota) => leftOf(quota) <= 0)?.name ?? null,
    took: (quotas, count) => {
      left -= count
      for (const { name } of quotas) taken.set(name, (taken.get(name) ?? 0) + count)
    },
  }
}
