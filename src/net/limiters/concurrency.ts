/** Limits concurrent work in total and per key (a destination, a webhook). */
export interface ConcurrencyLimiter {
  /** How many more jobs may start now. */
  free(): number
  /** How many more jobs may start now for this key; never more than free(). */
  freeFor(key: string): number
  /** Runs `work` in a slot of `key`. When it ends, successfully or not, frees the slot and calls `onFree`. */
  start(key: string, work: () => Promise<void>): void
  /** Running jobs, of all keys or of one. */
  running(key?: string): number
  /** Resolves when no job is running. */
  drained(): Promise<void>
}

/** Creates a ConcurrencyLimiter. `perKey` may depend on the key, so that a failing destination gets fewer slots. */
export function createConcurrencyLimiter(options: {
  total: number
  perKey: number | ((key: string) => number)
  onFree: () => void
}): ConcurrencyLimiter {
  const { total, perKey, onFree } = options
  const limitOf = typeof perKey === 'number' ? () => perKey : perKey
  const taken = new Map<string, number>()
  let running = 0
  let waiting: (() => void)[] = []

  const release = (key: string) => {
    running--
    const left = (taken.get(key) ?? 1) - 1
    if (left > 0) taken.set(key, left)
    else taken.delete(key)
    if (running === 0) {
      for (const resolve of waiting) resolve()
      waiting = []
    }
    onFree()
  }

  return {
    free: () => total - running,
    freeFor: (key) => Math.max(0, Math.min(total - running, limitOf(key) - (taken.get(key) ?? 0))),
    start: (key, work) => {
      running++
      taken.set(key, (taken.get(key) ?? 0) + 1)
      void work().finally(() => release(key))
    },
    running: (key) => (key === undefined ? running : (taken.get(key) ?? 0)),
    drained: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
