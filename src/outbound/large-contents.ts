import { createMemoryBudget } from '../net/limiters/memory-budget.ts'
import type { Clock } from '../os/clock.ts'
import type { Memory } from '../os/memory.ts'
import type { ClaimedDelivery, Deliveries } from '../storage/store.ts'

/** Contents up to this size come with their claim: a hundred, the most one claim has, use little memory. With little
 *  memory it is a share of that, since a thousand deliveries may run. */
const SMALL_BYTES = { most: 2 ** 20, least: 64 * 1024, ofMemory: 1 / 4000 }
/** Content of larger messages in memory, in total. A mail in delivery takes about three times its size. */
const ROOM_BYTES = 64 * 2 ** 20
/** Longer than most mail of others takes; after it the delivery is given back and goes to the end of the queue. */
const WAIT_MS = 20 * 60_000

/** Contents of deliveries. Small ones come with the claim and never wait. Large ones, which many recipients or messages
 *  may have at the same time, are read when memory is free. One destination gets at most half of the memory, so that a
 *  slow one does not block the others. */
export interface LargeContents {
  /** Contents up to this size come with their claims. */
  readonly smallBytes: number
  /** Runs `work` with a claim's content. Null when no memory was free for 20 minutes or `signal` aborted: `work` did
   *  not run. Rejects when the content cannot be read or no longer exists, and with what `work` throws. */
  during<T>(
    claim: ClaimedDelivery,
    site: string,
    signal: AbortSignal,
    work: (content: Uint8Array) => Promise<T>,
  ): Promise<T | null>
}

export function createLargeContents(
  deliveries: Pick<Deliveries, 'content'>,
  clock: Clock,
  memory: Memory,
): LargeContents {
  const budget = createMemoryBudget({
    totalBytes: ROOM_BYTES,
    clock,
    beyond: (...bytes) => memory.enter('delivery', ...bytes),
  })
  return {
    smallBytes: Math.min(SMALL_BYTES.most, Math.max(SMALL_BYTES.least, memory.limitBytes * SMALL_BYTES.ofMemory)),
    async during({ message, content }, site, signal, work) {
      if (content !== null) return work(content)
      const leave = await budget.reserve(site, message.sizeBytes, WAIT_MS, signal)
      if (leave === null) return null
      try {
        const read = await deliveries.content(message.id)
        if (read === null) throw new Error('the content is gone')
        return await work(read)
      } finally {
        leave()
      }
    },
  }
}
