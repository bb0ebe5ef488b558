import type { WallClock } from './clock.ts'

/** Notices that the wall clock was set. */
export interface ClockChanges {
  /** By how many ms the clock was set forward since the last look; negative = back, 0 = not at all. */
  look(): number
  /** Since when (ms UTC) the clock has run without being set: the time right after the last change that `look` found, or the
   *  time at which the watch began. Differences between two times from then on are true durations. */
  goodSince(): number
}

/** Smaller steps are the ordinary correction of a clock that runs a little fast or slow. They add up. */
const CHANGE_MS = 10_000

/** Clock → its changes from now on. */
export function watchClockChanges(clock: WallClock): ClockChanges {
  const aheadMs = () => clock.now() - clock.steady.now()
  let knownAheadMs = aheadMs()
  let goodSince = clock.now()

  return {
    look: () => {
      const byMs = aheadMs() - knownAheadMs
      if (Math.abs(byMs) < CHANGE_MS) return 0
      knownAheadMs += byMs
      goodSince = clock.now()
      return byMs
    },
    goodSince: () => goodSince,
  }
}

/** A time of the steady clock → the same moment by the wall clock as it is set now (ms UTC). */
export const wallTimeOf = (clock: WallClock, steadyAt: number): number => steadyAt - clock.steady.now() + clock.now()
