/** Work that pauses (yields) until more bytes arrive, and returns T. Throws an AnswerFault. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Ends a response. The message is one of the phrases in limits.ts. */
export class AnswerFault extends Error {}

/** Bytes that may still be read as lines, and the phrase of the fault beyond them. */
export interface Allowance {
  leftBytes: number
  phrase: string
}

/** The bytes of a response, in the pieces in which they arrive. Each piece is read to its end before the next one. */
export class AnswerInput {
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0

  push(bytes: Buffer): void {
    this.#bytes = bytes
    this.#at = 0
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length
  }

  /** At least one byte, and at most `most`. The result shares memory with the piece. */
  *take(most: number): Steps<Buffer> {
    while (!this.hasMore) yield
    const taken = this.#bytes.subarray(this.#at, this.#at + most)
    this.#at += taken.length
    return taken
  }

  /** The next line without its end, one character per byte. A bare line feed also ends a line (RFC 9112 §2.2). */
  *line(allowance: Allowance): Steps<string> {
    for (let line = ''; ; ) {
      while (!this.hasMore) yield
      const lineFeed = this.#bytes.indexOf(LF, this.#at)
      const end = lineFeed < 0 ? this.#bytes.length : lineFeed + 1
      allowance.leftBytes -= end - this.#at
      if (allowance.leftBytes < 0) throw new AnswerFault(allowance.phrase)
      line += this.#bytes.toString('latin1', this.#at, end)
      this.#at = end
      if (lineFeed >= 0) return line.slice(0, line.endsWith('\r\n') ? -2 : -1)
    }
  }
}

const LF = 10
