import type { Clock } from '../../os/clock.ts'

/** Ends request bodies that arrive too slowly. */
export interface BodyPace {
  /** Starts to watch a body; `onSlow` is called at most once, and not after `end`. */
  begin(onSlow: () => void): PacedBody
  /** Nothing is expected until `resume`, because the reader waits. */
  pause(body: PacedBody): void
  /** Begins another period. */
  resume(body: PacedBody): void
  end(body: PacedBody): void
}

/** A body that is watched. Its reader adds to `arrived`. */
export interface PacedBody {
  /** Bytes until now. */
  arrived: number
  /** `arrived` when the current period began, and the time at which it ends. */
  before: number
  endsAt: number
  readonly startedAt: number
  readonly onSlow: () => void
}

/** The least that arrives in each period, unless the body ends in it: 546 bytes per second. The slowest mobile data still in
 *  use (GPRS, 2,500 bytes per second and more) brings it in 7 s, so that a phone may lose its signal for 20 s. Also the
 *  size of a body that one period must complete. */
export const LEAST_BYTES = 16 * 1024
const PERIOD_MS = 30_000
/** The most for a whole body: 25 MiB at 90 KB/s. Large bodies hold their memory for so long (request-body.ts). */
export const LONGEST_MS = 300_000
const LOOK_MS = 1_000

/** Creates BodyPace from a clock that runs evenly. One loop looks at all bodies every second, because most bodies
 *  arrive in a millisecond and a timer for each would cost more than reading it. */
export function createBodyPace(clock: Clock): BodyPace {
  const watched = new Set<PacedBody>()
  let isLooking = false

  const look = (now: number) => {
    for (const body of watched) {
      if (now < body.endsAt) continue
      if (body.arrived - body.before < LEAST_BYTES || now - body.startedAt >= LONGEST_MS) {
        watched.delete(body)
        body.onSlow()
        continue
      }
      beginPeriod(body, now)
    }
  }
  const beginPeriod = (body: PacedBody, now: number) => {
    body.before = body.arrived
    body.endsAt = now + PERIOD_MS
  }
  const keepLooking = async () => {
    while (watched.size > 0) {
      await clock.sleep(LOOK_MS)
      look(clock.now())
    }
    isLooking = false
  }
  const beginLooking = () => {
    isLooking = true
    setImmediate(keepLooking) // most bodies have arrived by then
  }

  return {
    begin: (onSlow) => {
      const startedAt = clock.now()
      const body = { arrived: 0, before: 0, endsAt: startedAt + PERIOD_MS, startedAt, onSlow }
      watched.add(body)
      if (!isLooking) beginLooking()
      return body
    },
    pause: (body) => {
      body.endsAt = Number.POSITIVE_INFINITY
    },
    resume: (body) => beginPeriod(body, clock.now()),
    end: (body) => {
      watched.delete(body)
    },
  }
}
