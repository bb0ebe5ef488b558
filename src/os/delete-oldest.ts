/** Deletes the entry that was added first. */
export function deleteOldest<K>(entries: { keys(): Iterator<K>; delete(key: K): boolean }): void {
  const { value, done } = entries.keys().next()
  if (!done) entries.delete(value)
}
