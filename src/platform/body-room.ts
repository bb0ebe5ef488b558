import type { Clock } from './clock.ts'

/** Bounded memory for bodies under way. */
export interface BodyRoom {
  /** Waits until there is room for a body of about `sizeBytes` → what gives the room back, to be called once. Null
   *  when there was none within `withinMs`, or `signal` ended the wait. */
  enter(ownerId: string, sizeBytes: number, withinMs: number, signal: AbortSignal): Promise<(() => void) | null>
}

/** Bytes in all → BodyRoom. One owner has at most half of them, so that one that hangs leaves room for the others.
 *  A body larger than that, or than all, enters when nothing else of the owner, or nothing at all, is under way.
 *  Who came first enters first; only who waits for room of its own owner lets others pass. */
export function createBodyRoom(options: { totalBytes: number; clock: Clock }): BodyRoom {
  const { totalBytes, clock } = options
  const usedBy = new Map<string, number>()
  let used = 0
  let waiting: Waiting[] = []

  const admit = () => {
    let isFull = false
    waiting = waiting.filter((next) => {
      if (isFull) return true
      const mine = usedBy.get(next.ownerId) ?? 0
      if (mine > 0 && mine + next.sizeBytes > totalBytes / 2) return true
      if (used > 0 && used + next.sizeBytes > totalBytes) {
        isFull = true
        return true
      }
      take(next, mine)
      return false
    })
  }

  const take = ({ ownerId, sizeBytes, enter }: Waiting, mine: number) => {
    used += sizeBytes
    usedBy.set(ownerId, mine + sizeBytes)
    enter(() => {
      used -= sizeBytes
      const left = usedBy.get(ownerId)! - sizeBytes
      if (left > 0) usedBy.set(ownerId, left)
      else usedBy.delete(ownerId)
      admit()
    })
  }

  return {
    async enter(ownerId, sizeBytes, withinMs, signal) {
      const { promise, resolve } = Promise.withResolvers<(() => void) | null>()
      const nap = new AbortController()
      const next: Waiting = { ownerId, sizeBytes: Math.max(1, sizeBytes), enter: resolve }
      waiting.push(next)
      admit()
      if (!waiting.includes(next)) return promise
      const leave = () => nap.abort()
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
      void promise.then(leave)
      await clock.sleep(withinMs, nap.signal)
      signal.removeEventListener('abort', leave)
      if (waiting.includes(next)) {
        waiting = waiting.filter((other) => other !== next)
        resolve(null)
        admit() // it may have been what stood in the way
      }
      return promise
    },
  }
}

interface Waiting {
  ownerId: string
  sizeBytes: number
  enter: (leave: () => void) => void
}
