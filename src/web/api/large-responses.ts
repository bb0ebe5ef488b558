import { createMemoryBudget } from '../../net/limiters/memory-budget.ts'
import type { Clock } from '../../os/clock.ts'
import { createGcTrigger } from '../../os/gc-trigger.ts'
import type { Memory } from '../../os/memory.ts'
import { unavailable } from './errors.ts'

/** Limits the memory that responses with stored mail use until their clients have received them. */
export interface LargeResponses {
  /** Opens the response of one request of this organization. It reserves nothing until `enter` is called. */
  open(request: Request, organizationId: string): LargeResponse
}

/** The memory reservation of one response. */
export interface LargeResponse {
  /** Reserves memory for a response of this size; up to 1 MiB needs no reservation. Rejects with `unavailable` if no
   *  memory becomes free within 20 s. */
  enter(sizeBytes: number): Promise<void>
  /** Body → a stream of 256 KiB slices, sent as the client reads them, for at most five minutes. The reservation ends
   *  with the last slice or when the client disconnects. Null for a body of at most 1 MiB or without a reservation:
   *  send it whole. */
  slicesOf(body: string | Uint8Array): ReadableStream | null
  /** Releases the reservation unless slices are still being sent. */
  leave(): void
}

/** Creates LargeResponses, with a budget of 64 MiB, from a clock and memory. One organization can reserve at most half
 *  of it. */
export function createLargeResponses({ clock, memory }: { clock: Clock; memory: Memory }): LargeResponses {
  const budget = createMemoryBudget({
    totalBytes: BUDGET_BYTES,
    clock,
    beyond: (...bytes) => memory.enter('answer', ...bytes),
  })
  const releaseUncollected = createGcTrigger(GC_AFTER_BYTES)
  return {
    open: (request, organizationId) => {
      let end = nothing
      return {
        enter: async (sizeBytes) => {
          if (sizeBytes <= SMALL_BYTES) return
          const leave = await budget.reserve(organizationId, sizeBytes, PATIENCE_MS, request.signal)
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

/** Bytes → a stream of slices. Calls `sent` once when the stream ends, for any reason. */
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

const BUDGET_BYTES = 64 * 2 ** 20
const GC_AFTER_BYTES = 16 * 2 ** 20
const SMALL_BYTES = 2 ** 20
const SLICE_BYTES = 256 * 1024
const PATIENCE_MS = 20_000
const LONGEST_MS = 300_000
