/** Values under keys, up to a total weight. */
export interface WeightedCache<T> {
  /** Undefined if it was not set or has been dropped. */
  get(key: string): T | undefined
  set(key: string, value: T): void
}

/** Weight of a value → an empty cache. Beyond `maxWeight` it drops the values used least recently. */
export function createWeightedCache<T>(maxWeight: number, weightOf: (value: T) => number): WeightedCache<T> {
  const values = new Map<string, T>() // least recently used first
  let held = 0
  const remove = (key: string, value: T) => {
    values.delete(key)
    held -= weightOf(value)
  }
  return {
    get: (key) => {
      const value = values.get(key)
      if (value !== undefined) {
        values.delete(key)
        values.set(key, value)
      }
      return value
    },
    set: (key, value) => {
      const before = values.get(key)
      if (before !== undefined) remove(key, before)
      values.set(key, value)
      held += weightOf(value)
      for (const [oldest, old] of values) {
        if (held <= maxWeight) return
        remove(oldest, old)
      }
    },
  }
}
