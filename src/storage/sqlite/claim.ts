import type { Obstacle, Room } from '../store.ts'
import type { Agenda } from './due-index.ts'
import type { Writer } from './writer.ts'

/** The claim both queues share: key by key, the longest due first, as many of each as have room. Touches only
 *  rows it takes, so its cost does not depend on what is waiting. */
export function claimFrom<T>(
  writer: Writer,
  agenda: Agenda,
  request: { now: number; limit: number } & Room,
  queue: {
    /** May anything of this key go now, besides having a free slot. */
    hasRoom: (key: string) => boolean
    /** Leases up to `most` due rows of the key. */
    take: (key: string, most: number) => T[]
    /** When the key's next row is due. */
    nextAt: (key: string) => number | null
  },
): Promise<T[]> {
  // A change may run twice (writer.ts); what the first run took off the agenda must be looked at again.
  const touched = new Set<string>()
  const lookAgain = () => {
    for (const key of touched) agenda.offer(key, 0)
    request.begin?.()
  }
  const change = () => {
    lookAgain()
    const claimed: T[] = []
    const taken = new Map<string, number>()
    let room = 0
    const look = (key: string, at: number) => {
      const free = queue.hasRoom(key) ? request.freeFor(key, at) : 0
      if (typeof free !== 'number') return free
      room = request.took === undefined ? free - (taken.get(key) ?? 0) : free
      return room > 0
    }
    while (claimed.length < request.limit) {
      const key = agenda.take(request.now, look)
      if (key === null) break
      touched.add(key)
      const rows = queue.take(key, Math.min(room, request.limit - claimed.length))
      claimed.push(...rows)
      taken.set(key, (taken.get(key) ?? 0) + rows.length)
      request.took?.(key, rows.length)
      agenda.set(key, queue.nextAt(key))
    }
    return claimed
  }
  return writer.write(change).catch((error) => {
    lookAgain()
    throw error
  })
}

/** What Room.freeFor said of a key → what the agenda asks about it. */
export const mayGo = (free: number | Obstacle): boolean | Obstacle => (typeof free === 'number' ? free > 0 : free)
