import type { ClockChanges } from './clock-changes.ts'

/** What a queue of deliveries does for its recovery (storage/roles/claims.ts). */
export interface RecoverableQueue {
  endLeases(worker: string, underWay: ReadonlySet<string>, now: number): Promise<number>
  endFutureWaits(now: number): Promise<boolean>
}

/** Makes due what nothing else would: claims that were lost in this process, and waits from a time when the clock was ahead. */
export interface QueueRecovery {
  /** Call it at the start of each turn of the scheduler, before it claims. True = call it again soon. Rejects with the
   *  store's error; the next call tries again. */
  turn(): Promise<boolean>
  /** Call it when a turn of the scheduler failed. The store may have made its claim anyway, so the next turn looks for
   *  lost claims. */
  turnFailed(): void
}

/** Interval of checks for lost claims. */
const LEASES_MS = 60_000

/** `underWay`: ids of the deliveries that this process works on. `onClockSet` gets by how many ms the clock was set.
 *
 *  Lost claims are looked for once a minute, and after a failed turn. Waits are looked at when the scheduler starts,
 *  because the clock may have been set while it did not run, and whenever the clock was set back. */
export function createQueueRecovery(options: {
  queue: RecoverableQueue
  clock: { now(): number; steady: { now(): number } }
  clockChanges: ClockChanges
  workerId: string
  underWay: () => Iterable<string>
  onClockSet: (byMs: number) => void
}): QueueRecovery {
  const { queue, clock, clockChanges, workerId, underWay, onClockSet } = options
  let leasesAt = clock.steady.now() + LEASES_MS
  let isWalking = false
  let walksLeft = 1

  return {
    turn: async () => {
      const byMs = clockChanges.look()
      if (byMs !== 0) onClockSet(byMs)
      // A walk that has begun has passed waits that only this change puts in the future.
      if (byMs < 0) walksLeft = isWalking ? 2 : 1
      if (clock.steady.now() >= leasesAt) {
        await queue.endLeases(workerId, new Set(underWay()), clock.now())
        leasesAt = clock.steady.now() + LEASES_MS
      }
      if (walksLeft === 0) return false
      isWalking = await queue.endFutureWaits(clock.now())
      if (!isWalking) walksLeft--
      return walksLeft > 0
    },
    turnFailed: () => {
      leasesAt = clock.steady.now()
    },
  }
}
