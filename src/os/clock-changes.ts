import type { WallClock } from './clock.ts'

/** Detects that the wall clock was set. */
export interface ClockChanges {
  /** By how many ms the clock was set forward since the last call; negative = back, 0 = not set. */
  look(): number
  /** Time (ms UTC) since which the clock was not set: right after the last change that `look` found, or the start of
   *  the watch. Differences between two later times are true durations. */
  goodSince(): number
}

/** Smaller steps are the ordinary correction of a clock that runs a little fast or slow. They add up. */
const CHANGE_MS = 10_000

/** Starts watching the clock. */
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

/** Time of the steady clock → the same moment by the current wall clock (ms UTC). */
export const wallTimeOf = (clock: WallClock, steadyAt: number): number => steadyAt - clock.steady.now() + clock.now()
