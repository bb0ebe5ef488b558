import { createAllocation } from '../allocation.ts'
import type { DueIndex } from '../due-index.ts'
import type { ClaimRequest } from '../store.ts'
import type { Writer } from './writer.ts'

/** The claim that all three queues share: the keys of the plan in their order, as many of each as its quotas leave. Touches
 *  only rows it takes, so its cost does not depend on what is waiting.
 *
 *  The plan took its keys off the due index. Each is put back here, inside the change. A change may run twice (writer.ts);
 *  the second run overwrites what the first set. When it fails, the scheduler puts the plan back. */
export function claimFrom<T>(
  writer: Writer,
  dueIndex: DueIndex,
  { now, limit, plan }: Pick<ClaimRequest, 'now' | 'limit' | 'plan'>,
  queue: {
    /** Leases up to `most` rows of the key that are due by `dueUntil` to the worker. */
    take: (key: string, most: number, dueUntil: number) => T[]
    /** When the key's next row is due. */
    nextAt: (key: string) => number | null
  },
): Promise<T[]> {
  if (plan.length === 0) return Promise.resolve([])
  const change = () => {
    const allocation = createAllocation(limit)
    const claimed: T[] = []
    const usedUp: { key: string; at: number; blocker: string }[] = []
    for (const { key, dueAt, dueUntil, quotas } of plan) {
      if (allocation.left() <= 0) {
        dueIndex.offer(key, dueAt)
        continue
      }
      const blocker = allocation.blockedBy(quotas)
      if (blocker !== null) {
        dueIndex.putBehind(key, dueAt, blocker)
        continue
      }
      const rows = queue.take(key, allocation.capacityFor(quotas), dueUntil ?? now)
      for (const row of rows) claimed.push(row)
      allocation.took(quotas, rows.length)
      const at = queue.nextAt(key)
      const filled = at === null || at > now || allocation.left() <= 0 ? null : allocation.blockedBy(quotas)
      if (at === null || filled === null) dueIndex.set(key, at)
      else usedUp.push({ key, at, blocker: filled })
    }
    // Behind keys that found nothing left, so that keys of one quota take turns.
    for (const { key, at, blocker } of usedUp) dueIndex.setBehind(key, at, blocker)
    return claimed
  }
  return writer.write(change)
}
