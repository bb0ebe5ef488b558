import type { Clock } from '../platform/clock.ts'

/** Bounded memory for bodies under way. */
export interface BodyRoom {
  /** Waits until there is room for a body of about `sizeBytes` → what gives the room back, to be called once. Null
   *  when there was none within `withinMs`, or `signal` ended the wait. */
  enter(endpointId: string, sizeBytes: number, withinMs: number, signal: AbortSignal): Promise<(() => void) | null>
}

/** Bytes in all → BodyRoom. One endpoint has at most half of them, so that one that hangs leaves room for the others.
 *  A body larger than that, or than all, enters when nothing else of the endpoint, or nothing at all, is under way.
 *  Who came first enters first; only who waits for room of its own endpoint lets others pass. */
export function createBodyRoom(options: { totalBytes: number; clock: Clock }): BodyRoom {
  const { totalBytes, clock } = options
  const usedBy = new Map<string, number>()
  let used = 0
  let waiting: Waiting[] = []

  const admit = () => {
    let isFull = false
    waiting = waiting.filter((next) => {
      if (isFull) return true
      const mine = usedBy.get(next.endpointId) ?? 0
      if (mine > 0 && mine + next.sizeBytes > totalBytes / 2) return true
      if (used > 0 && used + next.sizeBytes > totalBytes) {
        isFull = true
        return true
      }
      take(next, mine)
      return false
    })
  }

  const take = ({ endpointId, sizeBytes, enter }: Waiting, mine: number) => {
    used += sizeBytes
    usedBy.set(endpointId, mine + sizeBytes)
    enter(() => {
      used -= sizeBytes
      const left = usedBy.get(endpointId)! - sizeBytes
      if (left > 0) usedBy.set(endpointId, left)
      else usedBy.delete(endpointId)
      admit()
    })
  }

  return {
    async enter(endpointId, sizeBytes, withinMs, signal) {
      const { promise, resolve } = Promise.withResolvers<(() => void) | null>()
      const nap = new AbortController()
      const next: Waiting = { endpointId, sizeBytes: Math.max(1, sizeBytes), enter: resolve }
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
  endpointId: string
  sizeBytes: number
  enter: (leave: () => void) => void
}
