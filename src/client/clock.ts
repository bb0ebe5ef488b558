/** Time and randomness. Replace it in tests. */
export interface Clock {
  /** Current time in ms UTC. */
  now(): number
  /** Resolves after this many ms, or immediately when the signal is aborted. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** A random number x with 0 ≤ x < 1. */
  random(): number
}

/** The clock and random numbers of the runtime. */
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

/** Maximum delay of a timer. With a longer one it would fire immediately. */
const LONGEST_MS = 2 ** 31 - 1
