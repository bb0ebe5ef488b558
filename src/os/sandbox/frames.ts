/** Message encoding between two processes: 4 bytes length of everything after the first 8 bytes and 4 bytes length
 *  of the JSON, both little-endian; the JSON; then the byte arrays of the message. In the JSON, a byte array is
 *  `{"$bytes": length}`, in order; a file is `{"$file": length}`, and its descriptor is passed separately. */

/** Largest JSON of a message in either direction: the parsed header of a mail. */
export const MAX_JSON_BYTES = 3 * 2 ** 20
/** Paths at which byte arrays are allowed, for example `message.job.raw`, `message.answer.forwards[0]`. */
const MAX_DEPTH = 5
const HEAD_BYTES = 8

/** Message → the pieces to write, byte arrays uncopied, and the descriptors to pass, in order. A plain object with
 *  numbers `fd` and `byteLength` is a file. Throws if its JSON is too large. */
export function encodeFrame(message: unknown): { pieces: Uint8Array[]; bytes: number; files: number[] } {
  const blobs: Uint8Array[] = []
  const files: number[] = []
  const json = Buffer.from(JSON.stringify(stripped(message, 0, blobs, files)))
  if (json.length > MAX_JSON_BYTES) throw new Error(`a message of ${json.length} bytes is too large`)
  const blobBytes = blobs.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const head = Buffer.allocUnsafe(HEAD_BYTES + json.length)
  head.writeUInt32LE(json.length + blobBytes, 0)
  head.writeUInt32LE(json.length, 4)
  head.set(json, HEAD_BYTES)
  return { pieces: [head, ...blobs], bytes: head.length + blobBytes, files }
}

function stripped(value: unknown, depth: number, blobs: Uint8Array[], files: number[]): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  if (value instanceof Uint8Array) {
    blobs.push(value)
    return { $bytes: value.byteLength }
  }
  if (Array.isArray(value)) return value.map((each) => stripped(each, depth + 1, blobs, files))
  if ('fd' in value && typeof value.fd === 'number' && 'byteLength' in value && typeof value.byteLength === 'number') {
    files.push(value.fd)
    return { $file: value.byteLength }
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, stripped(each, depth + 1, blobs, files)]))
}

/** Incoming chunks → complete messages, in order. `maxBytes`: limit of one frame. `takeFile`: returns the next
 *  passed descriptor; without it, a file is a fault. Throws FrameFault for anything else; then the other side must
 *  not be trusted any more. */
export function createFrameReader(options: {
  maxBytes: number
  onMessage: (message: unknown) => void
  takeFile?: () => number
  /** Called when a frame begins, with its sizes; an exception from it ends reading. */
  onFrame?: (totalBytes: number, jsonBytes: number) => void
}): (piece: Uint8Array) => void {
  const head = Buffer.alloc(HEAD_BYTES)
  let headFilled = 0
  let body: Buffer | null = null
  let bodyFilled = 0

  return (piece) => {
    for (let at = 0; at < piece.length || (body !== null && body.length === bodyFilled); ) {
      if (body === null) {
        const taken = Math.min(HEAD_BYTES - headFilled, piece.length - at)
        head.set(piece.subarray(at, at + taken), headFilled)
        headFilled += taken
        at += taken
        if (headFilled < HEAD_BYTES) return
        const [total, json] = [head.readUInt32LE(0), head.readUInt32LE(4)]
        if (total > options.maxBytes)
          throw new FrameFault(`a frame of ${total} bytes exceeds the limit of ${options.maxBytes}`)
        if (json > total || json > MAX_JSON_BYTES) throw new FrameFault(`a frame contains ${json} bytes of JSON`)
        options.onFrame?.(total, json)
        body = Buffer.from(new ArrayBuffer(total)) // a separate buffer, because its parts may be transferred to a thread
        bodyFilled = 0
      }
      const taken = Math.min(body.length - bodyFilled, piece.length - at)
      body.set(piece.subarray(at, at + taken), bodyFilled)
      bodyFilled += taken
      at += taken
      if (bodyFilled < body.length) return
      const whole = body
      body = null
      headFilled = 0
      options.onMessage(decoded(whole, head.readUInt32LE(4), options.takeFile))
    }
  }
}

/** The other side violated the protocol. */
export class FrameFault extends Error {
  override name = 'FrameFault'
}

function decoded(body: Buffer, jsonBytes: number, takeFile: (() => number) | undefined): unknown {
  let json: unknown
  try {
    json = JSON.parse(body.toString('utf8', 0, jsonBytes))
  } catch {
    throw new FrameFault('a frame contains invalid JSON')
  }
  let at = jsonBytes
  const bytesOf = (length: unknown): Uint8Array => {
    if (typeof length !== 'number' || !(length >= 0) || !Number.isInteger(length) || length > body.length - at) {
      throw new FrameFault('a byte array exceeds its frame')
    }
    // Parts of one buffer are not copied. If there is only one part, as usual, its owner may transfer the buffer.
    const part = new Uint8Array(body.buffer, body.byteOffset + at, length)
    at += length
    return part
  }
  const revived = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
    if (Array.isArray(value)) return value.map((each) => revived(each, depth + 1))
    if ('$bytes' in value) return bytesOf(value.$bytes)
    if ('$file' in value) {
      const byteLength = value.$file
      if (takeFile === undefined || typeof byteLength !== 'number')
        throw new FrameFault('a frame contains an unexpected file')
      return { fd: takeFile(), byteLength }
    }
    for (const [key, each] of Object.entries(value)) {
      if (typeof each === 'object' && each !== null) Reflect.set(value, key, revived(each, depth + 1))
    }
    return value
  }
  return revived(json, 0)
}
