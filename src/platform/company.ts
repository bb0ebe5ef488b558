/** Whether somebody else came lately: who is alone need not leave anything to others. */
export interface Company {
  /** He is here now → whether another was here within the time, too. */
  has(who: string): boolean
}

/** A clock, ms, and for how long one counts → nobody was here. */
export function createCompany(now: () => number, forMs: number): Company {
  let latest: string | null = null
  let changedAt = Number.NEGATIVE_INFINITY
  return {
    has: (who) => {
      if (who !== latest) {
        if (latest !== null) changedAt = now()
        latest = who
      }
      return now() - changedAt < forMs
    },
  }
}
