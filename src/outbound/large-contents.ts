import { createBodyRoom } from '../net/limiters/memory-budget.ts'
import type { Clock } from '../os/clock.ts'
import type { Memory } from '../os/memory.ts'
import type { ClaimedDelivery, Deliveries } from '../storage/store.ts'

/** Messages of up to so many bytes come with their claim: a hundred of them, which a claim has at most, are no burden. Where
 *  memory is little it is a share of that, for a thousand may be under way. */
const SMALL_BYTES = { most: 2 ** 20, least: 64 * 1024, ofMemory: 1 / 4000 }
/** Content of larger ones under way, in all. Composed and on its way a mail has about three times its size. */
const ROOM_BYTES = 64 * 2 ** 20
/** A lease is 60 minutes, an attempt at most 30 (timeouts.ts). */
const WAIT_MS = 20 * 60_000

/** The contents of deliveries: at hand for small mail; for large mail, which many recipients or many messages could have
 *  at the same time, read when there is room. A site has half of the room at most, so that one that takes its time leaves
 *  some to the others; small mail never waits. */
export interface LargeContents {
  /** Contents of up to this size are to come with their claims. */
  readonly smallBytes: number
  /** Does `work` with the content of a claim. Null when there was no room for it within 20 minutes, or `signal` ended the
   *  wait: then nothing was done. Rejects when the content cannot be read, or is gone, and with what `work` does. */
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
  const room = createBodyRoom({
    totalBytes: ROOM_BYTES,
    clock,
    beyond: (...bytes) => memory.enter('delivery', ...bytes),
  })
  return {
    smallBytes: Math.min(SMALL_BYTES.most, Math.max(SMALL_BYTES.least, memory.limitBytes * SMALL_BYTES.ofMemory)),
    async during({ message, content }, site, signal, work) {
      if (content !== null) return work(content)
      const leave = await room.enter(site, message.sizeBytes, WAIT_MS, signal)
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
