/** At most so many at once per key; who comes later waits in the order of coming. */
export interface Gate {
  /** Undefined when there was room; else a promise that resolves with the place taken. `limit` is the key's from now
   *  on; who is inside stays. */
  enter(key: string, limit: number): Promise<void> | undefined
  /** Gives the place to the one who waits longest, if anybody does. */
  leave(key: string): void
}

/** → Gate. Forgets a key when nobody is inside. Unlike net/limiters/concurrency.ts it makes the
 *  late wait instead of telling them that there is no room. Never throws, never rejects. */
export function createGate(): Gate {
  const rooms = new Map<string, { inside: number; limit: number; waiting: (() => void)[] }>()

  return {
    enter(key, limit) {
      const room = rooms.get(key)
      if (room === undefined) {
        rooms.set(key, { inside: 1, limit, waiting: [] })
        return undefined
      }
      room.limit = limit
      // A limit that has grown lets in those who came before.
      while (room.inside < limit && room.waiting.length > 0) {
        room.inside++
        room.waiting.shift()!()
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
      const next = room.inside <= room.limit ? room.waiting.shift() : undefined
      if (next !== undefined) return next()
      room.inside--
      if (room.inside === 0) rooms.delete(key)
    },
  }
}
