/** Time in ms since 1970 UTC, and a sleep that a signal can end. Everything that waits or records a time takes a
 *  Clock, so that tests can advance it. */
export interface Clock {
  /** Milliseconds UTC. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The wall clock, which may be set at any time: for timestamps, and for work due at a date. `steady` runs evenly
 *  from the start of the process: for durations and timeouts. */
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

/** Timers beyond 2^31 ms fire immediately in every JavaScript runtime, so a longer sleep ends early. */
const MAX_TIMER_MS = 2 ** 31 - 1
