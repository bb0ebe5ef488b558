import { createMemoryBudget } from '../../net/limiters/memory-budget.ts'
import type { Clock } from '../../os/clock.ts'
import type { Memory } from '../../os/memory.ts'
import type { ClaimedDelivery, Deliveries } from '../../storage/store.ts'

/** Contents up to this size come with their claim: a hundred, the most one claim has, use little memory. With little
 *  memory it is a share of that, since a thousand deliveries may run. */
const SMALL_BYTES = { most: 2 ** 20, least: 64 * 1024, ofMemory: 1 / 4000 }
/** Content of larger messages in memory, in total. A mail in delivery takes about three times its size. */
const TOTAL_BYTES = 64 * 2 ** 20
/** Longer than most mail of others takes; after it the delivery is given back and goes to the end of the queue. */
const WAIT_MS = 20 * 60_000

/** Contents of deliveries. Small ones come with the claim and never wait. Large ones, which many recipients or messages
 *  may have at the same time, are read when memory is free. One destination gets at most half of the memory, so that a
 *  slow one does not block the others. */
export interface LargeContents {
  /** Contents up to this size come with their claims. */
  readonly smallBytes: number
  /** Gets a claim's content and, if it is large, memory for it until `leave`. Null when no memory was free for 20 minutes
   *  or `signal` aborted. Rejects when the content cannot be read or no longer exists. */
  hold(claim: ClaimedDelivery, destination: string, signal: AbortSignal): Promise<HeldContent | null>
}

export interface HeldContent {
  content: Uint8Array
  /** To be called once. */
  leave: () => void
}

export function createLargeContents(
  deliveries: Pick<Deliveries, 'content'>,
  clock: Clock,
  memory: Memory,
): LargeContents {
  const budget = createMemoryBudget({
    totalBytes: TOTAL_BYTES,
    clock,
    beyond: (...bytes) => memory.enter('delivery', ...bytes),
  })
  return {
    smallBytes: Math.min(SMALL_BYTES.most, Math.max(SMALL_BYTES.least, memory.limitBytes * SMALL_BYTES.ofMemory)),
    async hold({ message, content }, destination, signal) {
      if (content !== null) return { content, leave: nothing }
      const leave = await budget.reserve(destination, message.sizeBytes, WAIT_MS, signal)
      if (leave === null) return null
      try {
        const read = await deliveries.content(message.id)
        if (read === null) throw new Error('the message content no longer exists')
        return { content: read, leave }
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}

const nothing = () => {}
