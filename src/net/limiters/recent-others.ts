/** Whether several organizations (or domains) are active. One that is active alone need not leave capacity to others. */
export interface RecentOthers {
  /** Records that `id` is active, and returns whether another one was within the time. */
  than(id: string): boolean
}

/** Creates a RecentOthers without activity. */
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
