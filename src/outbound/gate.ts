/** At most so many at once per key; who comes later waits in the order of coming. */
export interface Gate {
  /** Undefined when there was room; else a promise that resolves with the place taken. */
  enter(key: string): Promise<void> | undefined
  /** Gives the place to the one who waits longest, if anybody does. */
  leave(key: string): void
}

/** `limit` places per key → Gate. Forgets a key when nobody is inside. Unlike platform/slots.ts it makes the
 *  late wait instead of telling them that there is no room. Never throws, never rejects. */
export function createGate(limit: number): Gate {
  const rooms = new Map<string, { inside: number; waiting: (() => void)[] }>()

  return {
    enter(key) {
      const room = rooms.get(key)
      if (room === undefined) {
        rooms.set(key, { inside: 1, waiting: [] })
        return undefined
      }
      if (room.inside < limit) {
        room.inside++
        return undefined
      }
      return new Promise((resolve) => room.waiting.push(resolve))
    },
    leave(key) {
      const room = rooms.get(key)
      if (room === undefined) return
      const next = room.waiting.shift()
      if (next !== undefined) return next()
      room.inside--
      if (room.inside === 0) rooms.delete(key)
    },
  }
}
