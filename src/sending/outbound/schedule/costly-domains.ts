import { createRecentOthers } from '../../../net/limiters/recent-others.ts'
import { setNewest } from '../../../os/set-newest.ts'

/** Sending domains whose mail takes much CPU to prepare. Their mail goes to threads of lower priority and leaves the
 *  others to all other domains. */
export interface CostlyDomains {
  /** Records that this many mails of the domain together took `ms`. */
  learned(domain: string, ms: number, mails: number): void
  /** True if a mail of the domain that is sent now is costly; false while no other domain sends. */
  isCostly(domain: string): boolean
}

/** Per mail: one of 10 KB takes 0.8 ms, one of 25 MB half a second. */
const COSTLY_MS = 50
/** All mails of a domain together, as a fraction of the time of all delivery threads. */
const COSTLY_PART = 0.125
/** Weight of the latest measurement. */
const WEIGHT = 0.3
/** Time constant: use of that long ago counts a third (1/e). */
const MEMORY_MS = 2_000
/** Another domain counts as sending for this long after its last mail. */
const MIXED_MS = 10_000
const MOST_DOMAINS = 10_000

interface Use {
  averageMs: number
  /** Decaying sum of the time for its mails, as of `at`. */
  usedMs: number
  at: number
}

/** Steady clock (ms) and number of delivery threads → CostlyDomains without measurements. */
export function createCostlyDomains(now: () => number, threads: number): CostlyDomains {
  const uses = new Map<string, Use>()
  const recentOthers = createRecentOthers(now, MIXED_MS)
  const usedMs = (use: Use) => use.usedMs * Math.exp((use.at - now()) / MEMORY_MS)
  return {
    learned: (domain, ms, mails) => {
      const before = uses.get(domain)
      const averageMs = before === undefined ? ms / mails : before.averageMs + WEIGHT * (ms / mails - before.averageMs)
      const use = { averageMs, usedMs: ms + (before === undefined ? 0 : usedMs(before)), at: now() }
      setNewest(uses, domain, use, MOST_DOMAINS)
    },
    isCostly: (domain) => {
      const hasOthers = recentOthers.than(domain)
      const use = uses.get(domain)
      if (!hasOthers || use === undefined) return false
      return use.averageMs > COSTLY_MS || usedMs(use) > COSTLY_PART * threads * MEMORY_MS
    },
  }
}
