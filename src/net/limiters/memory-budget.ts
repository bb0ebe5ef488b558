import type { Clock } from '../../os/clock.ts'

/** Bounded memory for bodies under way. */
export interface BodyRoom {
  /** Waits until there is room for a body of about `sizeBytes` → what gives the room back, to be called once. Null
   *  when there was none within `withinMs`, or `signal` ended the wait. Whoever is in already and needs more asks to be
   *  `ahead` of those who are not: they may wait for what he has. */
  enter(
    ownerId: string,
    sizeBytes: number,
    withinMs: number,
    signal: AbortSignal,
    order?: 'ahead',
  ): Promise<Leave | null>
}

/** Gives back all, or all but so much. */
export type Leave = (keepBytes?: number) => void

/** Bytes in all → BodyRoom. One owner has at most half of them unless said, so that one that hangs leaves room for the others.
 *  A body larger than that, or than all, enters when nothing else of the owner, or nothing at all, is under way.
 *  Who came first enters first; only who waits for room of its own owner lets others pass, and of the same owner none, or
 *  small ones would keep a large one out for ever. Where owners stand for many (`arePassing`) they do pass, but for one minute
 *  of the wait: most of what is in has left by then, and one that is slow holds up the others no longer. Who is in may have
 *  to enter a larger room as well, in what is left of the time (`beyond`: memory.ts). */
export function createBodyRoom(options: {
  totalBytes: number
  clock: Clock
  shareOf?: (ownerId: string) => number
  arePassing?: boolean
  beyond?: (sizeBytes: number, withinMs: number, signal: AbortSignal) => Promise<Leave | null>
}): BodyRoom {
  const { totalBytes, clock, shareOf = () => totalBytes / 2, arePassing = false, beyond } = options
  const usedBy = new Map<string, number>()
  let used = 0
  let waiting: Waiting[] = []

  const admit = () => {
    let isFull = false
    const full = new Set<string>()
    waiting = waiting.filter((next) => {
      const { ownerId, sizeBytes } = next
      if (isFull || full.has(ownerId)) return true
      const mine = usedBy.get(ownerId) ?? 0
      if (mine > 0 && mine + sizeBytes > shareOf(ownerId)) {
        if (!arePassing || isItsMinute(next)) full.add(ownerId)
        return true
      }
      if (used > 0 && used + sizeBytes > totalBytes) {
        isFull = true
        return true
      }
      take(next, mine)
      return false
    })
  }

  const isItsMinute = ({ since }: Waiting) => {
    const waitedMs = clock.now() - since
    return waitedMs >= PASSED_MS && waitedMs < PASSED_MS + MINUTE_MS
  }

  const take = ({ ownerId, sizeBytes, enter }: Waiting, mine: number) => {
    used += sizeBytes
    usedBy.set(ownerId, mine + sizeBytes)
    let held = sizeBytes
    enter((keepBytes = 0) => {
      const back = Math.max(0, held - keepBytes)
      held -= back
      used -= back
      const left = usedBy.get(ownerId)! - back
      if (left > 0) usedBy.set(ownerId, left)
      else usedBy.delete(ownerId)
      admit()
    })
  }

  const enter: BodyRoom['enter'] = async (ownerId, sizeBytes, withinMs, signal, order) => {
    const { promise, resolve } = Promise.withResolvers<Leave | null>()
    const nap = new AbortController()
    const isAhead = order === 'ahead'
    const next: Waiting = { ownerId, sizeBytes: Math.max(1, sizeBytes), enter: resolve, isAhead, since: clock.now() }
    waiting.splice(isAhead ? waiting.findLastIndex((other) => other.isAhead) + 1 : waiting.length, 0, next)
    admit()
    if (!waiting.includes(next)) return promise
    const leave = () => nap.abort()
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    void promise.then(leave)
    if (arePassing) void clock.sleep(PASSED_MS + MINUTE_MS, nap.signal).then(admit)
    await clock.sleep(withinMs, nap.signal)
    signal.removeEventListener('abort', leave)
    if (waiting.includes(next)) {
      waiting = waiting.filter((other) => other !== next)
      resolve(null)
      admit() // it may have been what stood in the way
    }
    return promise
  }

  const enterBoth: BodyRoom['enter'] = async (ownerId, sizeBytes, withinMs, signal) => {
    const endsAt = clock.now() + withinMs
    const leave = await enter(ownerId, sizeBytes, withinMs, signal)
    const leaveBeyond = leave && (await beyond!(sizeBytes, Math.max(0, endsAt - clock.now()), signal))
    if (leaveBeyond === null) {
      leave?.()
      return null
    }
    return () => {
      leaveBeyond()
      leave!()
    }
  }

  return { enter: beyond === undefined ? enter : enterBoth }
}

const PASSED_MS = 30_000
const MINUTE_MS = 60_000

interface Waiting {
  ownerId: string
  sizeBytes: number
  enter: (leave: Leave) => void
  isAhead: boolean
  since: number
}
