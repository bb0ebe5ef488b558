import type { WallClock } from './clock.ts'

/** Notices when somebody has set the clock on the wall. */
export interface Leaps {
  /** By how many ms it was set forward (back: negative) since the last look; 0 when it was not. */
  look(): number
  /** By how many ms it was set since `at` (ms UTC): what of `now - at` never passed. A time from before this process, or
   *  one that has not come yet, counts every leap there was. */
  since(at: number): number
}

/** Less is the ordinary correction of a clock that is a little fast or slow; it adds up until it is as much. */
const LEAP_MS = 10_000

/** Clock → its leaps from now on. */
export function createLeaps(clock: WallClock): Leaps {
  const aheadOf = () => clock.now() - clock.steady.now()
  let ahead = aheadOf()
  /** Newest first: the wall's time right after the leap. */
  const leaps: { to: number; byMs: number }[] = []

  return {
    look: () => {
      const byMs = aheadOf() - ahead
      if (Math.abs(byMs) < LEAP_MS) return 0
      ahead += byMs
      leaps.unshift({ to: clock.now(), byMs })
      return byMs
    },
    since: (at) => {
      let sum = 0
      let before = clock.now()
      for (const { to, byMs } of leaps) {
        if (at >= to && at <= before) break
        sum += byMs
        before = to - byMs
      }
      return sum
    },
  }
}
