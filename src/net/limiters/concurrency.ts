/** Bounded work: so many things at once in all, and so many per key (a destination, a webhook). */
export interface Slots {
  /** How many more may start now. */
  free(): number
  /** How many more may start now for this key; never more than free(). */
  freeFor(key: string): number
  /** Takes a slot of `key`, runs `work`, gives the slot back however it ends, then calls `onFree`. */
  start(key: string, work: () => Promise<void>): void
  /** Work under way, of all keys or of one. */
  running(key?: string): number
  /** Resolves when nothing is under way. */
  drained(): Promise<void>
}

/** Options → Slots. `perKey` may depend on the key, so that a destination in trouble gets fewer. */
export function createSlots(options: {
  total: number
  perKey: number | ((key: string) => number)
  onFree: () => void
}): Slots {
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
