import type { BodyRoom } from '../platform/body-room.ts'
import { createBodyRoom } from '../platform/body-room.ts'
import type { Clock } from '../platform/clock.ts'
import { createCollector } from '../platform/collector.ts'
import { unavailable } from './errors.ts'
import { announcedBytes, SMALL_BYTES } from './read.ts'

/** Bounds the memory that request bodies take. */
export interface LargeBodies {
  /** Before a body is read: waits for room for it, in the socket of its sender → what gives the room back once its
   *  request is answered. Rejects with `unavailable` when there was none for twenty seconds. */
  enter(request: Request, keyId: string): Promise<() => void>
}

/** Small bodies go by. One that does not say its size counts as the largest. One key has at most half of the room, so that
 *  whoever sends slowly leaves some for others. */
export function createLargeBodies(options: { bodyBytes: number; clock: Clock }): LargeBodies {
  const room: BodyRoom = createBodyRoom({ totalBytes: ROOM_BYTES, clock: options.clock })
  const letGo = createCollector(LOOSE_BYTES)
  return {
    enter: async (request, keyId) => {
      const sizeBytes = announcedBytes(request) ?? (request.body === null ? 0 : options.bodyBytes)
      if (sizeBytes <= SMALL_BYTES || sizeBytes > options.bodyBytes) return nothingHeld
      const leave = await room.enter(keyId, sizeBytes, PATIENCE_MS, request.signal)
      if (leave === null) throw unavailable('too many large requests at once, try again soon')
      return () => {
        leave()
        letGo(sizeBytes)
      }
    },
  }
}

const nothingHeld = () => {}
/** A body takes some times its size while it is read, checked and packed. */
const ROOM_BYTES = 64 * 2 ** 20
const LOOSE_BYTES = 32 * 2 ** 20
const PATIENCE_MS = 20_000
