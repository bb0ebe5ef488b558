import { createRecentOthers } from '../../net/limiters/recent-others.ts'
import { deleteOldest } from '../../os/delete-oldest.ts'

/** Which sending domains have mail that takes much of the processor to prepare, so that it goes to threads of a lower priority
 *  and leaves the others to the mail of everybody else. */
export interface CostlyDomains {
  /** So many mails of the domain took so long together, ms. */
  learned(domain: string, ms: number, mails: number): void
  /** Whether a mail of the domain that is to be sent now belongs to the costly ones; false while no other domain sends. */
  isCostly(domain: string): boolean
}

/** Each mail: one of 10 KB takes 0.8 ms, one of 25 MB half a second. */
const COSTLY_MS = 50
/** All mails together, of the time of all delivery threads. */
const COSTLY_PART = 0.125
/** The latest figure counts so much. */
const WEIGHT = 0.3
/** What was used so long ago counts a third (1/e). */
const MEMORY_MS = 2_000
/** Another domain counts as sending so long after its last mail. */
const MIXED_MS = 10_000
const MOST_DOMAINS = 10_000

interface Use {
  averageMs: number
  /** Fading sum of what its mails took, as it was at `at`. */
  usedMs: number
  at: number
}

/** A steady clock, ms, and the number of delivery threads → nothing known. */
export function createCostlyDomains(now: () => number, threads: number): CostlyDomains {
  const uses = new Map<string, Use>()
  const recentOthers = createRecentOthers(now, MIXED_MS)
  const usedMs = (use: Use) => use.usedMs * Math.exp((use.at - now()) / MEMORY_MS)
  return {
    learned: (domain, ms, mails) => {
      const before = uses.get(domain)
      uses.delete(domain)
      if (uses.size >= MOST_DOMAINS) deleteOldest(uses)
      const averageMs = before === undefined ? ms / mails : before.averageMs + WEIGHT * (ms / mails - before.averageMs)
      uses.set(domain, { averageMs, usedMs: ms + (before === undefined ? 0 : usedMs(before)), at: now() })
    },
    isCostly: (domain) => {
      const hasOthers = recentOthers.than(domain)
      const use = uses.get(domain)
      if (!hasOthers || use === undefined) return false
      return use.averageMs > COSTLY_MS || usedMs(use) > COSTLY_PART * threads * MEMORY_MS
    },
  }
}
