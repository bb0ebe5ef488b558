import { type AnswerHead, CONTROLS, createHeadReader, type Framing } from './answer-head.ts'
import { ANSWER_FAULTS, ANSWER_LIMITS, FILE_LIMITS } from './limits.ts'

/** The response to one request. */
export interface Answer {
  status: number
  /** By lower-case name; repeated headers are joined by `, `. */
  headers: ReadonlyMap<string, string>
  /** At most the requested number of bytes, without chunk framing. */
  body: Buffer
  /** False if the body was, or would have been, longer than requested. */
  isWhole: boolean
  /** True for a transfer coding other than chunked, which we did not request. */
  isCoded: boolean
  /** True if the connection may carry another request. */
  canReuse: boolean
}

/** `more`: the response is incomplete. A fault ends the request; its text is one of the phrases in limits.ts. */
export type Reading = { kind: 'more' } | { kind: 'answer'; answer: Answer } | { kind: 'fault'; error: string }

/** Reads one HTTP/1.1 response from chunks of any size. */
export interface AnswerReader {
  /** Must not be called again after a response or a fault. */
  push(bytes: Uint8Array): Reading
  /** The peer closed the connection: a response whose body ends there, or a fault. */
  end(): Reading
  /** The response as far as it was received, not to be reused; null before the end of its head. */
  cut(): Answer | null
  /** True if any byte was received. */
  hasBegun(): boolean
  /** Size in bytes of a body that needs a reservation of memory: its length, or the wanted size if the length is
   *  unknown and more than FILE_LIMITS.smallBytes arrived. Null for a smaller body. */
  largeBytes(): number | null
}

/** Decides by the head of the final response: read the body, end the response there, or refuse it with a phrase. */
export type JudgeHead = (head: AnswerHead) => 'read' | 'skip' | { fault: string }

/** Wanted body size → a reader. A response with a longer body is complete, and not whole, as soon as one more byte
 *  arrives. Each byte is read once or twice, however the response is split; limits.ts ends unusual responses.
 *  Interim responses are skipped. With `judge` the body is a file, which may have more reads and chunks. RFC 9112 */
export function createAnswerReader(keepBytes: number, judge?: JudgeHead): AnswerReader {
  const maxReads = ANSWER_LIMITS.reads.most + (judge ? keepBytes / FILE_LIMITS.bytesPerRead : 0)
  const maxChunks = () => ANSWER_LIMITS.chunks.most + (judge ? body.total() / FILE_LIMITS.bytesPerChunk : 0)
  const head = createHeadReader()
  const partial = createLineBuffer()
  const body = createBodyBuffer(keepBytes)
  let state: 'head' | 'length' | 'close' | 'chunk line' | 'chunk' | 'chunk end' | 'trailers' = 'head'
  let answered: AnswerHead | null = null
  let left = 0
  let reads = 0
  let chunks = 0
  let trailers = 0
  let trailerBytes = 0
  let isSkipped = false

  const cut = (): Answer | null => {
    if (answered === null) return null
    const { status, headers, isCoded } = answered
    return { status, headers, body: body.bytes(), isWhole: false, isCoded, canReuse: false }
  }

  const answer = (rest: number): Reading => {
    const received = cut()
    if (answered === null || received === null) return fault(ANSWER_FAULTS.notHttp)
    const isWhole = !body.isFull()
    const canReuse = isWhole && !isSkipped && answered.keepsAlive && rest === 0 && answered.framing.kind !== 'close'
    return { kind: 'answer', answer: { ...received, isWhole, canReuse } }
  }

  const begin = (framing: Framing): boolean => {
    if (framing.kind === 'length') {
      body.expect(framing.bytes)
      left = framing.bytes
      state = 'length'
      return left === 0
    }
    state = framing.kind === 'chunked' ? 'chunk line' : 'close'
    return false
  }

  /** One line without its end → true if the response is complete; a string is a fault. */
  const takeLine = (line: string, bytes: number): boolean | string => {
    switch (state) {
      case 'head': {
        const step = head.take(line, bytes)
        if (step === 'more') return false
        if ('fault' in step) return step.fault
        answered = step
        const verdict = judge?.(step) ?? 'read'
        if (typeof verdict === 'object') return verdict.fault
        isSkipped = verdict === 'skip'
        return isSkipped || begin(step.framing)
      }
      case 'chunk line': {
        const size = chunkSize(line)
        if (size === null) return ANSWER_FAULTS.chunks
        if (++chunks > maxChunks()) return ANSWER_LIMITS.chunks.phrase
        left = size
        state = size === 0 ? 'trailers' : 'chunk'
        return false
      }
      case 'chunk end':
        state = 'chunk line'
        return line === '' ? false : ANSWER_FAULTS.chunks
      default: // trailers are ignored
        if (line === '') return true
        trailerBytes += bytes
        if (++trailers > ANSWER_LIMITS.headerLines.most) return ANSWER_LIMITS.headerLines.phrase
        return trailerBytes > ANSWER_LIMITS.headBytes.most ? ANSWER_LIMITS.headBytes.phrase : false
    }
  }

  /** Reads body bytes from `at`; returns where they end. */
  const takeBody = (bytes: Buffer, at: number): number => {
    const end = state === 'close' ? bytes.length : Math.min(bytes.length, at + left)
    body.add(bytes, at, end)
    left -= end - at
    return end
  }

  const read = (bytes: Buffer): Reading => {
    let at = 0
    while (at < bytes.length) {
      if (state === 'length' || state === 'close' || state === 'chunk') {
        at = takeBody(bytes, at)
        if (body.isFull()) return answer(bytes.length - at)
        if (state === 'close' || left > 0) continue
        if (state === 'length') return answer(bytes.length - at)
        state = 'chunk end'
        continue
      }
      const lineFeed = bytes.indexOf(LF, at)
      const end = lineFeed < 0 ? bytes.length : lineFeed + 1
      const limit = state === 'head' || state === 'trailers' ? ANSWER_LIMITS.lineBytes : ANSWER_LIMITS.chunkLineBytes
      const size = partial.size() + end - at
      if (size > limit.most) return fault(limit.phrase)
      partial.add(bytes, at, end)
      at = end
      if (lineFeed < 0) break
      const done = takeLine(partial.take(), size)
      if (typeof done === 'string') return fault(done)
      if (done) return answer(bytes.length - at)
    }
    return MORE
  }

  return {
    push: (bytes) => {
      if (++reads > maxReads) return fault(ANSWER_LIMITS.reads.phrase)
      return read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    },
    end: () => (state === 'close' ? answer(0) : fault(ANSWER_FAULTS.closed)),
    cut,
    hasBegun: () => reads > 0,
    largeBytes: () => {
      const announced = answered?.framing.kind === 'length' ? answered.framing.bytes : null
      const sizeBytes = announced ?? (body.bytes().length > FILE_LIMITS.smallBytes ? keepBytes : 0)
      return sizeBytes > FILE_LIMITS.smallBytes ? Math.min(sizeBytes, keepBytes) : null
    },
  }
}

const LF = 10
const CR = 13
const MORE: Reading = { kind: 'more' }
const fault = (error: string): Reading => ({ kind: 'fault', error })

/** Buffers a line that began in earlier chunks. Its size is limited, so it never grows further. */
function createLineBuffer() {
  let held: Buffer = Buffer.alloc(0)
  let size = 0
  let whole: Buffer | null = null

  return {
    size: () => size,
    /** Adds bytes from `at` to `end`, including the line feed if present. */
    add: (bytes: Buffer, at: number, end: number) => {
      if (size === 0 && bytes[end - 1] === LF) {
        whole = bytes.subarray(at, end)
        return
      }
      const needed = size + end - at
      if (needed > held.length) held = Buffer.concat([held.subarray(0, size)], Math.max(512, 2 * needed))
      bytes.copy(held, size, at, end)
      size += end - at
    },
    /** Returns the line, one character per byte, without its end. A bare line feed also ends a line (RFC 9112 §2.2). */
    take: (): string => {
      const line = whole ?? held.subarray(0, size)
      const end = line.length - (line[line.length - 2] === CR ? 2 : 1)
      whole = null
      size = 0
      return line.toString('latin1', 0, end)
    },
  }
}

/** Keeps that many bytes and records if there were more. */
function createBodyBuffer(keepBytes: number) {
  let kept = Buffer.alloc(0)
  let size = 0
  let total = 0
  let mostBytes = keepBytes

  return {
    /** The body has so many bytes: a larger buffer would have to be copied once more. */
    expect: (bytes: number) => {
      mostBytes = Math.min(keepBytes, bytes)
    },
    add: (bytes: Buffer, at: number, end: number) => {
      total += end - at
      const taken = Math.min(end - at, keepBytes - size)
      if (taken <= 0) return
      if (size + taken > kept.length) {
        const larger = Buffer.allocUnsafe(Math.min(mostBytes, Math.max(size + taken, kept.length * 2, 512)))
        kept.copy(larger, 0, 0, size)
        kept = larger
      }
      bytes.copy(kept, size, at, at + taken)
      size += taken
    },
    isFull: () => total > keepBytes,
    total: () => total,
    bytes: () => kept.subarray(0, size),
  }
}

/** `size [; extensions]` → bytes, or null. Twelve digits are more than any body we read. RFC 9112 §7.1 */
function chunkSize(line: string): number | null {
  const digits = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line)?.[1]
  return digits === undefined || CONTROLS.test(line) ? null : Number.parseInt(digits, 16)
}
