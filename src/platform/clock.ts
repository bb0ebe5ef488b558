/** Time as the house sees it: milliseconds since 1970 UTC, and a nap that a signal can end.
 *  Everything that waits or stamps takes a Clock, so tests advance it by hand. */
export interface Clock {
  /** Milliseconds UTC. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, Math.min(ms, MAX_TIMER_MS))
      signal?.addEventListener('abort', done, { once: true })
    }),
}

/** Timers past 2^31 ms fire at once in every JavaScript runtime; a longer nap simply ends early. */
const MAX_TIMER_MS = 2 ** 31 - 1
