import { createBodyRoom } from '../net/limiters/memory-budget.ts'
import type { Clock } from '../os/clock.ts'
import { createCollector } from '../os/collector.ts'
import type { Memory } from '../os/memory.ts'
import { unavailable } from './errors.ts'

/** Bounds the memory of answers that are made of stored mail, until their clients have them. */
export interface LargeResponses {
  /** What one request of this organization holds; nothing yet. */
  open(request: Request, organizationId: string): LargeResponse
}

export interface LargeResponse {
  /** Waits for room for what is made of so much mail. Rejects with `unavailable` when there was none for twenty seconds. */
  enter(sizeBytes: number): Promise<void>
  /** What is to be sent, when it has room and is large → the same in slices as the client takes them, for five minutes at most;
   *  the room is given back with the last of them, or when the client has gone. Else null: it goes as it is. */
  slicesOf(body: string | Uint8Array): ReadableStream | null
  /** Gives the room back, unless slices are still to go. */
  leave(): void
}

/** One organization has at most half of the room, however many keys it makes. */
export function createLargeResponses({ clock, memory }: { clock: Clock; memory: Memory }): LargeResponses {
  const room = createBodyRoom({
    totalBytes: ROOM_BYTES,
    clock,
    beyond: (...bytes) => memory.enter('answer', ...bytes),
  })
  const releaseUncollected = createCollector(LOOSE_BYTES)
  return {
    open: (request, organizationId) => {
      let end = nothing
      return {
        enter: async (sizeBytes) => {
          if (sizeBytes <= SMALL_BYTES) return
          const leave = await room.enter(organizationId, sizeBytes, PATIENCE_MS, request.signal)
          if (leave === null) throw unavailable('Too many large responses at once. Try again in a few seconds.')
          const before = end
          end = () => {
            end = nothing
            before()
            leave()
            releaseUncollected(sizeBytes)
          }
        },
        slicesOf: (body) => {
          if (end === nothing || body.length <= SMALL_BYTES) return null
          const sent = end
          end = nothing
          return inSlices(typeof body === 'string' ? Buffer.from(body) : body, clock, sent)
        },
        leave: () => end(),
      }
    },
  }
}

/** Bytes → a stream of them that is asked for one slice after the other. `sent` is called once it is over, however. */
function inSlices(bytes: Uint8Array, clock: Clock, sent: () => void): ReadableStream {
  const endsAt = clock.now() + LONGEST_MS
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.byteLength && clock.now() < endsAt) {
        controller.enqueue(bytes.subarray(at, at + SLICE_BYTES))
        at += SLICE_BYTES
        return
      }
      sent()
      if (at < bytes.byteLength) controller.error(new Error('the client read too slowly'))
      else controller.close()
    },
    cancel: sent,
  })
}

const nothing = () => {}

const ROOM_BYTES = 64 * 2 ** 20
const LOOSE_BYTES = 16 * 2 ** 20
const SMALL_BYTES = 2 ** 20
const SLICE_BYTES = 256 * 1024
const PATIENCE_MS = 20_000
const LONGEST_MS = 300_000
