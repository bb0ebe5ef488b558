/** Lets one part wait for news that another part has of the same key, within this process only. */
export interface Bells {
  ring(key: string): void
  /** Resolves at the next ring of `key`, or after `timeoutMs`. Never rejects. */
  wait(key: string, timeoutMs: number): Promise<void>
}

export function createBells(sleep: (ms: number, signal: AbortSignal) => Promise<void>): Bells {
  const waiting = new Map<string, Set<AbortController>>()
  return {
    ring: (key) => {
      for (const sleeper of waiting.get(key) ?? []) sleeper.abort()
    },
    wait: async (key, timeoutMs) => {
      const sleeper = new AbortController()
      const sleepers = waiting.get(key) ?? new Set()
      waiting.set(key, sleepers.add(sleeper))
      await sleep(timeoutMs, sleeper.signal)
      sleepers.delete(sleeper)
      if (sleepers.size === 0 && waiting.get(key) === sleepers) waiting.delete(key)
    },
  }
}
