import type { Clock } from './clock.ts'

/** Remembers values for a time, and of more than `maxEntries` those used last. */
export interface DnsCache<T> {
  /** The value and how much of its time is left, at least one second; null when unknown or over. */
  get(key: string): { value: T; secondsLeft: number } | null
  set(key: string, value: T, seconds: number): void
}

/** Clock and size → an empty cache. Size 0 remembers nothing. A clock set back ends an entry rather than
 *  prolonging it. */
export function createDnsCache<T>(options: { clock: Clock; maxEntries: number }): DnsCache<T> {
  const { clock, maxEntries } = options
  const entries = new Map<string, { value: T; endsAt: number; seconds: number }>() // oldest use first
  return {
    get: (key) => {
      const entry = entries.get(key)
      if (!entry) return null
      entries.delete(key)
      const secondsLeft = Math.ceil((entry.endsAt - clock.now()) / 1000)
      if (secondsLeft <= 0 || secondsLeft > entry.seconds) return null
      entries.set(key, entry)
      return { value: entry.value, secondsLeft }
    },
    set: (key, value, seconds) => {
      if (maxEntries <= 0) return
      entries.delete(key)
      entries.set(key, { value, endsAt: clock.now() + seconds * 1000, seconds })
      if (entries.size > maxEntries) entries.delete(entries.keys().next().value!)
    },
  }
}
