/** Limits holders per key; callers beyond the limit wait in order of arrival. */
export interface KeyedSemaphore {
  /** Returns undefined if entered at once, else a promise that resolves on entry. `limit` replaces the key's limit; current
   *  holders keep their place. */
  enter(key: string, limit: number): Promise<void> | undefined
  /** Admits the caller that has waited longest, if any. */
  leave(key: string): void
}

/** Creates a KeyedSemaphore. A key without holders uses no memory. Callers wait here; with a ConcurrencyLimiter
 *  (concurrency.ts) they check for a free slot first. Never throws or rejects. */
export function createKeyedSemaphore(): KeyedSemaphore {
  const keys = new Map<string, { inside: number; limit: number; waiting: (() => void)[] }>()

  return {
    enter(key, limit) {
      const holders = keys.get(key)
      if (holders === undefined) {
        keys.set(key, { inside: 1, limit, waiting: [] })
        return undefined
      }
      holders.limit = limit
      // A higher limit admits earlier callers first.
      while (holders.inside < limit) {
        const next = holders.waiting.shift()
        if (next === undefined) break
        holders.inside++
        next()
      }
      if (holders.inside < limit) {
        holders.inside++
        return undefined
      }
      return new Promise((resolve) => holders.waiting.push(resolve))
    },
    leave(key) {
      const holders = keys.get(key)
      if (holders === undefined) return
      const next = holders.inside <= holders.limit ? holders.waiting.shift() : undefined
      if (next !== undefined) return next()
      holders.inside--
      if (holders.inside === 0) keys.delete(key)
    },
  }
}
