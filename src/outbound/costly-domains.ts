/** Which sending domains have mail that takes long to prepare, so that it stays in some of the threads and leaves the others
 *  to the mail of everybody else. */
export interface CostlyDomains {
  /** So long the mails of the domain took, each on average, ms. */
  learned(domain: string, msPerMail: number): void
  /** Whether a mail of the domain that is to be sent now belongs to the costly ones; false while no other domain sends. */
  isCostly(domain: string): boolean
}

/** One mail of 10 KB takes 0.8 ms, one of 25 MB half a second. */
const COSTLY_MS = 50
/** The latest figure counts so much. */
const WEIGHT = 0.3
/** Another domain counts as sending so long after its last mail. */
const MIXED_MS = 10_000
const MOST_DOMAINS = 10_000

/** A steady clock, ms → nothing known. */
export function createCostlyDomains(now: () => number): CostlyDomains {
  const averages = new Map<string, number>()
  let latest = ''
  let mixedAt = Number.NEGATIVE_INFINITY
  return {
    learned: (domain, msPerMail) => {
      const before = averages.get(domain)
      averages.delete(domain)
      if (averages.size >= MOST_DOMAINS) averages.delete(averages.keys().next().value!)
      averages.set(domain, before === undefined ? msPerMail : before + WEIGHT * (msPerMail - before))
    },
    isCostly: (domain) => {
      if (domain !== latest) {
        if (latest !== '') mixedAt = now()
        latest = domain
      }
      return (averages.get(domain) ?? 0) > COSTLY_MS && now() - mixedAt < MIXED_MS
    },
  }
}
