/** Sets an entry as the newest of a Map, and deletes the oldest ones beyond `max`. A reader that sets what it has found
 *  keeps the entries used last. */
export function setNewest<K, V>(entries: Map<K, V>, key: K, value: V, max: number): void {
  entries.delete(key)
  entries.set(key, value)
  for (const oldest of entries.keys()) {
    if (entries.size <= max) return
    entries.delete(oldest)
  }
}
