/** Time and randomness, replaceable in tests. */
export interface Clock {
  /** ms */
  now(): number
  /** Resolves after this many ms, or immediately when the signal is aborted. */
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

/** Largest delay of a timer; a longer one would fire immediately. */
const LONGEST_MS = 2 ** 31 - 1
