/** Rates of this process, in memory: at most `burst` at once, and one more every `everyMs` (GCRA, ITU-T I.371). */
export interface LocalRates {
  /** Counts one for each rule if all of them allow it → 0, else the ms to wait. `now` is in ms. */
  take(rules: readonly LocalRate[], now: number): Promise<number>
}

export interface LocalRate {
  name: string
  everyMs: number
  burst: number
}

/** Creates LocalRates: one number per rule. */
export function createLocalRates(): LocalRates {
  const dueAt = new Map<string, number>()
  const waitMs = ({ name, everyMs, burst }: LocalRate, now: number) =>
    Math.max(0, (dueAt.get(name) ?? 0) - everyMs * (burst - 1) - now)
  return {
    take: async (rules, now) => {
      if (dueAt.size > MOST_NAMES) for (const [name, at] of dueAt) if (at <= now) dueAt.delete(name)
      const wait = Math.max(...rules.map((rule) => waitMs(rule, now)))
      if (wait > 0) return wait
      for (const { name, everyMs } of rules) dueAt.set(name, Math.max(now, dueAt.get(name) ?? 0) + everyMs)
      return 0
    },
  }
}

const MOST_NAMES = 10_000
