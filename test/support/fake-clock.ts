import type { WallClock } from '../../src/os/clock.ts'

/** A Clock that only a test moves. */
export interface FakeClock extends WallClock {
  /** Advances by `ms`: sleeps end one after the other in due order (equal times: in start order), each at its own
   *  time, so that a caller that sleeps again within `ms` is woken again within this call. Between two sleeps,
   *  everything that needs no outside input has run, including the store's commits. A negative `ms` throws. */
  advance(ms: number): Promise<void>
  /** Advances by `ms` at once, as if the machine had been suspended: each pending sleep that is due ends once, late. Cheaper
   *  than `advance` for a time in which loops would wake often and find nothing to do. */
  leap(ms: number): Promise<void>
  /** Sets the wall clock by this many ms, back when negative; no sleep ends sooner or later. */
  jump(ms: number): void
  /** When the current sleeps end (ms UTC of a wall clock that was never set), soonest first. */
  sleeps(): number[]
  /** Resolves when at least `count` sleeps are pending: to wait until a loop sleeps. */
  untilSleeping(count?: number): Promise<void>
}

interface PendingSleep {
  until: number
  end: () => void
}

/** Start (ms UTC) → FakeClock. A sleep of 0 ms or less, or with an aborted signal, ends at once, as with
 *  systemClock. Time stands still while `isBusy`: a thread works on what was asked before. */
export function createFakeClock(startAt: number, isBusy = () => false): FakeClock {
  let now = startAt
  let setBy = 0
  let sleeps: PendingSleep[] = []
  let watchers: { count: number; resolve: () => void }[] = []

  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (ms <= 0 || signal?.aborted) return resolve()
      const end = () => {
        sleeps = sleeps.filter((other) => other !== sleeper)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const sleeper: PendingSleep = { until: now + ms, end }
      const later = sleeps.findIndex((other) => other.until > sleeper.until)
      sleeps.splice(later < 0 ? sleeps.length : later, 0, sleeper)
      signal?.addEventListener('abort', end, { once: true })
      for (const watcher of watchers) if (sleeps.length >= watcher.count) watcher.resolve()
      watchers = watchers.filter((watcher) => sleeps.length < watcher.count)
    })

  /** Some turns of the event loop: every promise that can continue by itself has done so, group commits included. */
  const settled = async () => {
    do for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    while (isBusy())
  }

  return {
    now: () => now + setBy,
    sleep,
    steady: { now: () => now, sleep },
    jump: (ms) => {
      setBy += ms
    },
    advance: async (ms) => {
      if (!(ms >= 0)) throw new RangeError(`time cannot go back: ${ms} ms`)
      const target = now + ms
      await settled()
      for (let sleeper = sleeps[0]; sleeper !== undefined && sleeper.until <= target; sleeper = sleeps[0]) {
        now = sleeper.until
        sleeper.end()
        await settled()
      }
      now = target
    },
    leap: async (ms) => {
      await settled()
      now += ms
      const due = sleeps.filter(({ until }) => until <= now)
      for (const sleeper of due) {
        sleeper.end()
        await settled()
      }
    },
    sleeps: () => sleeps.map((sleeper) => sleeper.until),
    untilSleeping: (count = 1) =>
      sleeps.length >= count ? Promise.resolve() : new Promise((resolve) => watchers.push({ count, resolve })),
  }
}

/** A claim and a record after it take two turns each; twice that is enough for both. */
const TURNS = 8
