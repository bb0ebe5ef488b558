import type { Clock } from '../../os/clock.ts'

/** Bounds the memory of large bodies in flight. */
export interface MemoryBudget<Owner extends string = string> {
  /** Reserves about `sizeBytes` and resolves with a function that releases them, to be called once. Resolves with null if
   *  nothing was free within `withinMs`, or at once if too many wait already (MOST_WAITING), or `signal` aborted the wait.
   *  A holder that needs more reserves `ahead` of others,
   *  which may wait for what it holds. */
  reserve(
    ownerId: Owner,
    sizeBytes: number,
    withinMs: number,
    signal: AbortSignal,
    order?: 'ahead',
  ): Promise<Release | null>
  /** Takes bytes that are free now, past all that wait. Null if they are not free, or the owner has its share. */
  takeFree(ownerId: Owner, sizeBytes: number): Release | null
}

/** Releases everything, or everything except `keepBytes`. */
export type Release = (keepBytes?: number) => void

/** Creates a MemoryBudget of `totalBytes`. One owner gets at most half of them by default, so that a stalled owner leaves
 *  memory for others. A body larger than its owner's share, or than the total, enters when its owner, or all owners, hold
 *  nothing else. Requests are served in order of arrival. Only a request that waits for its own owner's share lets other
 *  owners pass; requests of the same owner never pass it, or small ones would starve a large one. If owners stand for many
 *  clients (`arePassing`) they do pass, except during one minute of the wait: most holders have released by then, and a
 *  slow one delays the others no longer. `beyond` is a second, larger budget (memory.ts) to reserve in the remaining
 *  time. */
export function createMemoryBudget<Owner extends string = string>(options: {
  totalBytes: number
  clock: Clock
  shareOf?: (ownerId: Owner) => number
  arePassing?: boolean
  /** If owners are tenants: the most requests of one that wait. */
  mostWaitingOfOwner?: number
  beyond?: (sizeBytes: number, withinMs: number, signal: AbortSignal) => Promise<Release | null>
}): MemoryBudget<Owner> {
  const { totalBytes, clock, shareOf = () => totalBytes / 2, arePassing = false, beyond } = options
  const { mostWaitingOfOwner = MOST_WAITING } = options
  const usedBy = new Map<Owner, number>()
  let used = 0
  let waiting: Waiting<Owner>[] = []

  const admit = () => {
    let isFull = false
    const full = new Set<Owner>()
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
      next.enter(take(ownerId, sizeBytes, mine))
      return false
    })
  }

  const isCrowded = (ownerId: Owner) => {
    if (waiting.length >= MOST_WAITING) return true
    let ofOwner = 0
    for (const each of waiting) if (each.ownerId === ownerId) ofOwner++
    return ofOwner >= mostWaitingOfOwner
  }
  const isItsMinute = ({ since }: Waiting<Owner>) => {
    const waitedMs = clock.now() - since
    return waitedMs >= PASSED_MS && waitedMs < PASSED_MS + MINUTE_MS
  }

  const take = (ownerId: Owner, sizeBytes: number, mine: number): Release => {
    used += sizeBytes
    usedBy.set(ownerId, mine + sizeBytes)
    let held = sizeBytes
    return (keepBytes = 0) => {
      const back = Math.max(0, held - keepBytes)
      held -= back
      used -= back
      const left = (usedBy.get(ownerId) ?? 0) - back
      if (left > 0) usedBy.set(ownerId, left)
      else usedBy.delete(ownerId)
      admit()
    }
  }

  const reserve: MemoryBudget<Owner>['reserve'] = async (ownerId, sizeBytes, withinMs, signal, order) => {
    const isAhead = order === 'ahead'
    if (!isAhead && isCrowded(ownerId)) return null
    const { promise, resolve } = Promise.withResolvers<Release | null>()
    const pause = new AbortController()
    const since = clock.now()
    const next: Waiting<Owner> = { ownerId, sizeBytes: Math.max(1, sizeBytes), enter: resolve, isAhead, since }
    waiting.splice(isAhead ? waiting.findLastIndex((other) => other.isAhead) + 1 : waiting.length, 0, next)
    admit()
    if (!waiting.includes(next)) return promise
    const leave = () => pause.abort()
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    void promise.then(leave)
    if (arePassing) void clock.sleep(PASSED_MS + MINUTE_MS, pause.signal).then(admit)
    await clock.sleep(withinMs, pause.signal)
    signal.removeEventListener('abort', leave)
    if (waiting.includes(next)) {
      waiting = waiting.filter((other) => other !== next)
      resolve(null)
      admit() // it may have blocked others
    }
    return promise
  }

  const takeFree: MemoryBudget<Owner>['takeFree'] = (ownerId, sizeBytes) => {
    const mine = usedBy.get(ownerId) ?? 0
    return used + sizeBytes > totalBytes || mine + sizeBytes > shareOf(ownerId) ? null : take(ownerId, sizeBytes, mine)
  }

  if (beyond === undefined) return { reserve, takeFree }
  const reserveBoth: MemoryBudget<Owner>['reserve'] = async (ownerId, sizeBytes, withinMs, signal) => {
    const endsAt = clock.now() + withinMs
    const release = await reserve(ownerId, sizeBytes, withinMs, signal)
    if (release === null) return null
    const releaseBeyond = await beyond(sizeBytes, Math.max(0, endsAt - clock.now()), signal)
    if (releaseBeyond === null) {
      release()
      return null
    }
    return () => {
      releaseBeyond()
      release()
    }
  }

  return { reserve: reserveBoth, takeFree }
}

/** Every arrival and departure walks through the list, so that it must stay short. */
const MOST_WAITING = 1_000
const PASSED_MS = 30_000
const MINUTE_MS = 60_000

interface Waiting<Owner> {
  ownerId: Owner
  sizeBytes: number
  enter: (leave: Release) => void
  isAhead: boolean
  since: number
}
