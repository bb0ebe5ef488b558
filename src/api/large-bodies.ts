import { type BodyRoom, createBodyRoom } from '../net/limiters/memory-budget.ts'
import type { Clock } from '../os/clock.ts'
import { createCollector } from '../os/collector.ts'
import type { Memory } from '../os/memory.ts'
import { unavailable } from './errors.ts'

/** Bounds the memory that request bodies take. Small ones never come here (read.ts). */
export interface LargeBodies {
  /** What one request of this organization holds; nothing yet. */
  open(request: Request, organizationId: string): LargeBody
  /** Does `work` when all that came before is done, and what follows from it at once: one large body is checked, packed
   *  and written at a time, or the thread would do it for several in one go. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

export interface LargeBody {
  /** Waits for room for so many bytes, in the socket of their sender. Rejects with `unavailable` when there was none for
   *  twenty seconds. */
  enter(sizeBytes: number): Promise<void>
  /** The body is in hand: waits for what is made of it. Rejects as `enter` does. */
  begin(readBytes: number): Promise<void>
  /** Gives the room back once the request is answered; `readBytes` is what the body came to. */
  leave(readBytes: number): void
}

/** One organization has at most half of the room, so that one that sends slowly leaves some for others, however many keys it
 *  makes. */
export function createLargeBodies({ clock, memory }: { clock: Clock; memory: Memory }): LargeBodies {
  const room: BodyRoom = createBodyRoom({
    totalBytes: ROOM_BYTES,
    clock,
    beyond: (...bytes) => memory.enter('upload', ...bytes),
  })
  const releaseUncollected = createCollector(LOOSE_BYTES)
  let last: Promise<unknown> = Promise.resolve()
  return {
    inTurn: (work) => {
      const done = last.then(work)
      last = done.catch(() => {}).then(restOfTurn)
      return done
    },
    open: (request, organizationId) => {
      const leaves: (() => void)[] = []
      const entered = (leave: (() => void) | null) => {
        if (leave === null) throw unavailable('Too many large requests at once. Try again in a few seconds.')
        leaves.push(leave)
      }
      return {
        enter: async (sizeBytes) => entered(await room.enter(organizationId, sizeBytes, PATIENCE_MS, request.signal)),
        begin: async (readBytes) => {
          if (leaves.length > 0) entered(await memory.enter('request', readBytes, PATIENCE_MS, request.signal))
        },
        leave: (readBytes) => {
          for (const leave of leaves) leave()
          if (leaves.length > 0) releaseUncollected(readBytes)
        },
      }
    },
  }
}

/** What follows from a body at once is packed before the first of these, and written (writer.ts) before the second. */
async function restOfTurn(): Promise<void> {
  await new Promise(setImmediate)
  await new Promise(setImmediate)
}

/** A body takes some times its size while it is read, checked and packed. */
const ROOM_BYTES = 64 * 2 ** 20
const LOOSE_BYTES = 48 * 2 ** 20
const PATIENCE_MS = 20_000
