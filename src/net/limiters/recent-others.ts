/** Whether several organizations (or domains) are active: one that is active alone has nobody to leave anything to. */
export interface RecentOthers {
  /** `id` is active now → whether another was active within the time, too. */
  than(id: string): boolean
}

/** A clock, ms, and the time → nobody was active yet. */
export function createRecentOthers(now: () => number, withinMs: number): RecentOthers {
  let latest: string | null = null
  let changedAt = Number.NEGATIVE_INFINITY
  return {
    than: (id) => {
      if (id !== latest) {
        if (latest !== null) changedAt = now()
        latest = id
      }
      return now() - changedAt < withinMs
    },
  }
}
