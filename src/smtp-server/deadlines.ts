import type { Clock } from '../os/clock.ts'

/** Something that is over when its time comes. */
export interface Due {
  /** ms UTC, or Infinity for not now; it may move at any time. */
  dueAt: number
  expire(): void
}

/** One nap for all: a thousand idle connections cost no thousand timers. */
export interface Deadlines {
  add(due: Due): void
  remove(due: Due): void
  /** Say so when a `dueAt` has moved nearer; later ones need no word. */
  nearer(due: Due): void
  /** No one expires any more. */
  stop(): void
}

/** Clock → deadlines of nobody. Whoever is due is told once and forgotten, at most LATE_MS late. */
export function createDeadlines(clock: Clock): Deadlines {
  const all = new Set<Due>()
  let nap: { until: number; end: AbortController } | null = null
  let stopped = false

  const sleepUntil = async (until: number) => {
    const end = new AbortController()
    nap = { until, end }
    await clock.sleep(Math.max(until - clock.now(), LATE_MS), end.signal)
    if (nap?.end !== end) return // another nap has taken its place
    nap = null
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
    if (nap !== null && nap.until <= due.dueAt) return
    const before = nap
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
      const before = nap
      nap = null
      before?.end.abort()
      all.clear()
    },
  }
}

const LATE_MS = 100 // so that many deadlines close together are one sweep
