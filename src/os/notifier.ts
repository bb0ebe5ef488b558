/** Wakes waiters for a key, within this process only. A notification without a waiter is dropped, so a waiter first
 *  starts to wait and then reads the state. */
export interface Notifier {
  notify(key: string): void
  /** Resolves at the next notification of `key`, or after `timeoutMs`. Never rejects. */
  wait(key: string, timeoutMs: number): Promise<void>
}

export function createNotifier(sleep: (ms: number, signal: AbortSignal) => Promise<void>): Notifier {
  const waiting = new Map<string, Set<AbortController>>()
  return {
    notify: (key) => {
      for (const waiter of waiting.get(key) ?? []) waiter.abort()
    },
    wait: async (key, timeoutMs) => {
      const waiter = new AbortController()
      const waiters = waiting.get(key) ?? new Set()
      waiting.set(key, waiters.add(waiter))
      await sleep(timeoutMs, waiter.signal)
      waiters.delete(waiter)
      if (waiters.size === 0 && waiting.get(key) === waiters) waiting.delete(key)
    },
  }
}
