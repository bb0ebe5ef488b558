/** Time and chance, for a test to put its own in their place. */
export interface Clock {
  /** ms */
  now(): number
  /** Resolves after so many ms, or at once when the signal ends. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** 0 ≤ x < 1 */
  random(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, Math.min(ms, LONGEST_MS))
      signal.addEventListener('abort', done)
    }),
  random: () => Math.random(),
}

/** What a timer can hold; more would be over at once. */
const LONGEST_MS = 2 ** 31 - 1
