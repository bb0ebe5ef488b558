import type { Clock } from '../../os/clock.ts'

/** Caches values for a time; beyond `maxEntries` or `maxBytes` it drops those used least recently. */
export interface DnsCache<T> {
  /** The value and its remaining time, at least one second; null if unknown or expired. */
  get(key: string): { value: T; secondsLeft: number } | null
  set(key: string, value: T, seconds: number): void
}

/** Clock and size → an empty cache. Size 0 caches nothing. A clock that was set back ends an entry instead of
 *  prolonging it. `bytesOf`: approximate memory of a value. A value of more than a hundredth of `maxBytes` is not
 *  cached, so that a few cannot displace all others. */
export function createDnsCache<T>(options: {
  clock: Clock
  maxEntries: number
  maxBytes: number
  bytesOf: (value: T) => number
}): DnsCache<T> {
  const { clock, maxEntries, maxBytes, bytesOf } = options
  const entries = new Map<string, { value: T; endsAt: number; seconds: number; bytes: number }>() // least recently used first
  let bytesHeld = 0
  const remove = (key: string) => {
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    bytesHeld -= entry.bytes
  }
  return {
    get: (key) => {
      const entry = entries.get(key)
      if (!entry) return null
      const secondsLeft = Math.ceil((entry.endsAt - clock.now()) / 1000)
      if (secondsLeft <= 0 || secondsLeft > entry.seconds) {
        remove(key)
        return null
      }
      entries.delete(key)
      entries.set(key, entry)
      return { value: entry.value, secondsLeft }
    },
    set: (key, value, seconds) => {
      if (maxEntries <= 0) return
      remove(key)
      const bytes = ENTRY_BYTES + 2 * key.length + bytesOf(value)
      if (bytes > maxBytes / 100) return
      entries.set(key, { value, endsAt: clock.now() + seconds * 1000, seconds, bytes })
      bytesHeld += bytes
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && bytesHeld <= maxBytes) break
        remove(oldest)
      }
    },
  }
}

/** For the map entry and the record of a value. */
const ENTRY_BYTES = 200
