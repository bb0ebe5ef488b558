/** True for an object that is not an array: its fields may be read. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The field of an unknown value; undefined if it is not an object or lacks the field. */
export function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}

/** Keys of a table as its type lists them. For literals of our own: an object from outside may have more keys. */
export function keysOf<K extends string>(table: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(table) as K[] // TypeScript types the result as string[], because objects may have further keys
}

/** Names → a table with the value of each. */
export function tableOf<K extends string, V>(names: readonly K[], make: (name: K) => V): Record<K, V> {
  // Object.fromEntries widens the keys to string.
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, V>
}

/** True if the text is one of the names, which narrows its type. */
export function isOneOf<T extends string>(names: readonly T[], value: unknown): value is T {
  return names.some((name) => name === value)
}
