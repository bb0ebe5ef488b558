import type { WallClock } from './clock.ts'

/** A wall clock that follows the clock of another machine, whatever time this machine has. */
export interface FollowingClock extends WallClock {
  /** Corrects the clock by an exchange that began `tookMs` ago and ends now, and during which the other clock showed
   *  `time` (ms UTC). */
  follow(time: number, tookMs: number): void
}

/** Starts with the time of `own`. It runs as evenly as the steady clock, and is corrected only by what an exchange
 *  proves, so that exchanges of different length do not make it jump. */
export function createFollowingClock(own: WallClock): FollowingClock {
  const { steady, sleep } = own
  let aheadMs = own.now() - steady.now()
  return {
    now: () => Math.round(steady.now() + aheadMs),
    sleep,
    steady,
    follow: (time, tookMs) => {
      const ahead = time - steady.now()
      aheadMs = Math.min(Math.max(aheadMs, ahead), ahead + tookMs)
    },
  }
}
