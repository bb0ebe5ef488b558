/** Time as the server sees it: milliseconds since 1970 UTC, and a nap that a signal can end.
 *  Everything that waits or stamps takes a Clock, so tests advance it by hand. */
export interface Clock {
  /** Milliseconds UTC. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The clock on the wall, which somebody may set: it stamps, and says when what has a date is due. `steady` beside it goes
 *  on evenly from the start of the process whatever the wall says: it measures, and ends what was given some time. */
export interface WallClock extends Clock {
  readonly steady: Clock
}

const sleep: Clock['sleep'] = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(ms, MAX_TIMER_MS))
    signal?.addEventListener('abort', done, { once: true })
  })

export const systemClock: WallClock = {
  now: () => Date.now(),
  sleep,
  steady: { now: () => Math.round(performance.timeOrigin + performance.now()), sleep },
}

/** Timers past 2^31 ms fire at once in every JavaScript runtime; a longer nap simply ends early. */
const MAX_TIMER_MS = 2 ** 31 - 1
