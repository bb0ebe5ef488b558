import type { Clock } from '../../os/clock.ts'

/** Something that expires at `dueAt`. */
export interface Due {
  /** ms UTC, or Infinity for no deadline. May change at any time. */
  dueAt: number
  expire(): void
}

/** One timer for all deadlines: a thousand idle connections need one timer. */
export interface Deadlines {
  add(due: Due): void
  remove(due: Due): void
  /** Call this when `dueAt` moves earlier. A later `dueAt` needs no call. */
  nearer(due: Due): void
  /** After this nothing expires. */
  stop(): void
}

/** Creates Deadlines without entries from a clock. Each entry expires once, at most LATE_MS late, and is removed. */
export function createDeadlines(clock: Clock): Deadlines {
  const all = new Set<Due>()
  let pause: { until: number; end: AbortController } | null = null
  let stopped = false

  const sleepUntil = async (until: number) => {
    const end = new AbortController()
    pause = { until, end }
    await clock.sleep(Math.max(until - clock.now(), LATE_MS), end.signal)
    if (pause?.end !== end) return // a newer sleep has replaced this one
    pause = null
    sweep()
  }

  const sweep = () => {
    const now = clock.now()
    let next = Number.POSITIVE_INFINITY
    for (const due of all) {
      if (due.dueAt <= now) {
        all.delete(due)
        due.expire()
      } else if (due.dueAt < next) next = due.dueAt
    }
    if (next < Number.POSITIVE_INFINITY && !stopped) void sleepUntil(next)
  }

  const nearer = (due: Due) => {
    if (stopped || due.dueAt === Number.POSITIVE_INFINITY || !all.has(due)) return
    if (pause !== null && pause.until <= due.dueAt) return
    const before = pause
    void sleepUntil(due.dueAt)
    before?.end.abort()
  }

  return {
    add: (due) => {
      all.add(due)
      nearer(due)
    },
    remove: (due) => void all.delete(due),
    nearer,
    stop: () => {
      stopped = true
      const before = pause
      pause = null
      before?.end.abort()
      all.clear()
    },
  }
}

const LATE_MS = 100 // merges deadlines that are close together into one sweep
