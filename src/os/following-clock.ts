import type { WallClock } from './clock.ts'

/** A wall clock that follows that of another machine, whatever the own one is set to. */
export interface FollowingClock extends WallClock {
  /** `time` (ms UTC) was the other clock's while an exchange took place that began `tookMs` ago and ends now. */
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
