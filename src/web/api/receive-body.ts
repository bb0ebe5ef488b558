import { Refusal } from '../../model/refusal.ts'
import type { BodyPace } from './body-pace.ts'
import { createByteBlocks } from './byte-blocks.ts'
import { notABody } from './read.ts'

/** Bodies up to this size need no reservation of their own (request-body.ts). */
export const SMALL_BYTES = 256 * 1024
/** Bun (1.4.5) reads this much of a body, with what it still takes from the socket, before anybody asks for it. Then
 *  it stops reading the connection (measured). */
export const READ_AHEAD_BYTES = 1_310_720

/** Reads a small body without a stream, which takes half as long. Rejects with `request_timeout`, or with
 *  `validation_error` if the body ends early. */
export async function readAtOnce(request: Request, pace: BodyPace): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<ArrayBuffer>()
  const paced = pace.begin(() => reject(tooSlow()))
  request.arrayBuffer().then(resolve, () => reject(endedEarly()))
  try {
    return new Uint8Array(await promise)
  } finally {
    pace.end(paced)
  }
}

/** How a body is read in pieces. */
export interface Pieces {
  /** Content-Length, null without. */
  size: number | null
  limit: number
  /** Reserves memory for a body of more than 256 KiB. */
  enter: (sizeBytes: number) => Promise<void>
  /** Counts so many bytes for the body now. Throws if there is no room. */
  hold: (bytes: number) => void
  pace: BodyPace
}

/** Reads a body piece by piece and counts what has arrived. Rejects with `payload_too_large` as soon as it exceeds the limit,
 *  as readAtOnce, and with the errors of `enter` and `hold`; then the rest is discarded. */
export async function readInPieces(body: ReadableStream<Uint8Array>, pieces: Pieces): Promise<Uint8Array> {
  const { size, limit, enter, hold, pace } = pieces
  let isSlow = false
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  const paced = pace.begin(() => {
    isSlow = true
    cancel()
  })
  /** Bun reads ahead while this waits. */
  const reserve = async (held: number, sizeBytes: number) => {
    pace.pause(paced)
    hold(held + Math.min(sizeBytes, READ_AHEAD_BYTES))
    await enter(sizeBytes)
    hold(0)
    pace.resume(paced)
  }
  try {
    let isReserved = size !== null && size > SMALL_BYTES
    if (size !== null && size > SMALL_BYTES) await reserve(0, size)
    // One buffer of the known size, because joining the blocks at the end would block the thread.
    const blocks = createByteBlocks(isReserved ? size : null)
    hold(0)
    for (;;) {
      const chunk = await reader.read().catch(() => null)
      if (isSlow) throw tooSlow()
      if (chunk === null) throw endedEarly()
      if (chunk.done) return blocks.joined()
      paced.arrived += chunk.value.byteLength
      if (paced.arrived > limit) throw tooLarge(limit)
      blocks.add(chunk.value)
      if (isReserved) continue
      hold(blocks.heldBytes())
      isReserved = paced.arrived > SMALL_BYTES
      if (isReserved) await reserve(blocks.heldBytes(), limit)
    }
  } catch (error) {
    cancel()
    throw error
  } finally {
    pace.end(paced)
  }
}

const endedEarly = () => notABody('The connection ended before the body was complete.')
const tooSlow = () => new Refusal('request_timeout', 'The body arrived too slowly. Send it again.')
/** The refusal (413) of a body of more than `limit` bytes. */
export const tooLarge = (limit: number) =>
  new Refusal('payload_too_large', `The body is larger than ${limit} bytes.`, { details: { limit_bytes: limit } })
