import { type AnswerHead, CONTROLS, readFields, readHead } from './answer-head.ts'
import { AnswerFault, AnswerInput, type Steps } from './answer-input.ts'
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

/** Decides by the head of the final response: read the body, end the response there, or refuse it with a phrase. */
export type JudgeHead = (head: AnswerHead) => 'read' | 'skip' | { fault: string }

/** Reads one HTTP/1.1 response from pieces of any size. A response with a longer body than wanted is complete, and not
 *  whole, as soon as one more byte arrives. Each byte is read once or twice, however the response is split; limits.ts
 *  ends unusual responses. Interim responses are skipped. RFC 9112 */
export class AnswerReader {
  readonly #keepBytes: number
  readonly #judge: JudgeHead | undefined
  readonly #input = new AnswerInput()
  readonly #body: BodyBuffer
  readonly #steps: Steps<void>
  #head: AnswerHead | null = null
  #isSkipped = false
  #reads = 0

  /** With `judge` the body is a file, which may have more reads and chunks. */
  constructor(keepBytes: number, judge?: JudgeHead) {
    this.#keepBytes = keepBytes
    this.#judge = judge
    this.#body = new BodyBuffer(keepBytes)
    this.#steps = this.#read()
  }

  /** Must not be called again after a response or a fault. */
  push(bytes: Uint8Array): Reading {
    const mostReads = ANSWER_LIMITS.reads.most + (this.#judge ? this.#keepBytes / FILE_LIMITS.bytesPerRead : 0)
    if (++this.#reads > mostReads) return faultOf(ANSWER_LIMITS.reads.phrase)
    this.#input.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    try {
      return this.#steps.next().done ? this.#answer() : { kind: 'more' }
    } catch (error) {
      if (error instanceof AnswerFault) return faultOf(error.message)
      throw error
    }
  }

  /** The peer closed the connection: a response whose body ends there, or a fault. */
  end(): Reading {
    return this.#head?.framing.kind === 'close' ? this.#answer() : faultOf(ANSWER_FAULTS.closed)
  }

  /** The response as far as it was received, not to be reused; null before the end of its head. */
  cut(): Answer | null {
    if (this.#head === null) return null
    const { status, headers, isCoded } = this.#head
    return { status, headers, body: this.#body.bytes, isWhole: false, isCoded, canReuse: false }
  }

  /** True if any byte was received. */
  get hasBegun(): boolean {
    return this.#reads > 0
  }

  /** Size in bytes of a body that needs a reservation of memory: its length, or the wanted size if the length is
   *  unknown and more than FILE_LIMITS.smallBytes arrived. Null for a smaller body. */
  get largeBytes(): number | null {
    const announced = this.#head?.framing.kind === 'length' ? this.#head.framing.bytes : null
    const sizeBytes = announced ?? (this.#body.bytes.length > FILE_LIMITS.smallBytes ? this.#keepBytes : 0)
    return sizeBytes > FILE_LIMITS.smallBytes ? Math.min(sizeBytes, this.#keepBytes) : null
  }

  #answer(): Reading {
    const received = this.cut()
    if (this.#head === null || received === null) return faultOf(ANSWER_FAULTS.notHttp)
    const { framing, keepsAlive } = this.#head
    const isWhole = !this.#body.isFull
    const endsAlone = !this.#input.hasMore && framing.kind !== 'close'
    const canReuse = isWhole && !this.#isSkipped && keepsAlive && endsAlone
    return { kind: 'answer', answer: { ...received, isWhole, canReuse } }
  }

  *#read(): Steps<void> {
    const heads = { leftBytes: ANSWER_LIMITS.headBytes.most, phrase: ANSWER_LIMITS.headBytes.phrase }
    const head = yield* readHead(this.#input, heads)
    this.#head = head
    const verdict = this.#judge?.(head) ?? 'read'
    if (typeof verdict === 'object') throw new AnswerFault(verdict.fault)
    this.#isSkipped = verdict === 'skip'
    if (this.#isSkipped) return
    switch (head.framing.kind) {
      case 'length':
        this.#body.expect(head.framing.bytes)
        return yield* this.#readBody(head.framing.bytes)
      case 'close':
        return yield* this.#readBody(Number.POSITIVE_INFINITY)
      case 'chunked':
        yield* this.#readChunks()
        if (!this.#body.isFull) yield* readFields(this.#input, heads) // trailers, which are ignored
    }
  }

  *#readBody(bytes: number): Steps<void> {
    for (let left = bytes; left > 0 && !this.#body.isFull; ) {
      const taken = yield* this.#input.take(left)
      this.#body.add(taken)
      left -= taken.length
    }
  }

  /** Up to the last chunk, or until the body is full. RFC 9112 §7.1 */
  *#readChunks(): Steps<void> {
    for (let chunks = 1; ; chunks++) {
      const size = chunkSize(yield* this.#chunkLine())
      if (size === null) throw new AnswerFault(ANSWER_FAULTS.chunks)
      const most = ANSWER_LIMITS.chunks.most + (this.#judge ? this.#body.total / FILE_LIMITS.bytesPerChunk : 0)
      if (chunks > most) throw new AnswerFault(ANSWER_LIMITS.chunks.phrase)
      if (size === 0) return
      yield* this.#readBody(size)
      if (this.#body.isFull) return
      if ((yield* this.#chunkLine()) !== '') throw new AnswerFault(ANSWER_FAULTS.chunks)
    }
  }

  #chunkLine(): Steps<string> {
    const { most, phrase } = ANSWER_LIMITS.chunkLineBytes
    return this.#input.line({ leftBytes: most, phrase })
  }
}

const faultOf = (error: string): Reading => ({ kind: 'fault', error })

/** Keeps that many bytes and records if there were more. */
class BodyBuffer {
  readonly #keepBytes: number
  #kept: Buffer = Buffer.alloc(0)
  #size = 0
  #mostBytes: number
  total = 0

  constructor(keepBytes: number) {
    this.#keepBytes = keepBytes
    this.#mostBytes = keepBytes
  }

  /** The body has so many bytes: a larger buffer would have to be copied once more. */
  expect(bytes: number): void {
    this.#mostBytes = Math.min(this.#keepBytes, bytes)
  }

  add(bytes: Buffer): void {
    this.total += bytes.length
    const size = Math.min(this.#size + bytes.length, this.#keepBytes)
    if (size > this.#kept.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#mostBytes, Math.max(size, this.#kept.length * 2, 512)))
      this.#kept.copy(larger, 0, 0, this.#size)
      this.#kept = larger
    }
    bytes.copy(this.#kept, this.#size, 0, size - this.#size)
    this.#size = size
  }

  get isFull(): boolean {
    return this.total > this.#keepBytes
  }

  get bytes(): Buffer {
    return this.#kept.subarray(0, this.#size)
  }
}

/** `size [; extensions]` → bytes, or null. Twelve digits are more than any body we read. RFC 9112 §7.1 */
function chunkSize(line: string): number | null {
  const digits = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line)?.[1]
  return digits === undefined || CONTROLS.test(line) ? null : Number.parseInt(digits, 16)
}
