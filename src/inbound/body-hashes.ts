import { createHash, type Hash } from 'node:crypto'

/** The body hashes of one mail, in the shape that mailauth asks for. Each canonicalization runs once, however many
 *  signatures use it: mailauth runs it for every `l=` anew, and 20 signatures over 25 MB took 39 s. RFC 6376 §3.4.3, §3.4.4.
 *  Input lines end in CRLF. */
export interface BodyHashes {
  /** `canonicalization`: `simple` or `relaxed`; `mostBytes`: `l=`, '' for the whole body. Call it before `update`. */
  add(canonicalization: string, algorithm: string, mostBytes: number | ''): BodyHash
  /** Takes the next piece of the body, cut anywhere. */
  update(piece: Uint8Array): void
}

/** What mailauth reads of a body hash. */
export interface BodyHash {
  /** Bytes of the body as it came. */
  byteLength: number
  /** Bytes of the canonical body. */
  canonicalizedLength: number
  /** Those that were hashed: at most `l=`. */
  bodyHashedBytes: number
  digest(encoding: 'base64'): string
  update(piece: Uint8Array): void
  setContentType(): void
  getMimeStructureStart(): undefined
}

/** → the hashes of a mail whose body has not begun. */
export function createBodyHashes(): BodyHashes {
  const canonicals = new Map<string, Canonical>()
  return {
    add: (canonicalization, algorithm, mostBytes) => {
      const canonical = canonicals.get(canonicalization) ?? new Canonical(canonicalization === 'relaxed')
      canonicals.set(canonicalization, canonical)
      return canonical.hash(algorithm, mostBytes === '' ? Number.POSITIVE_INFINITY : mostBytes)
    },
    update: (piece) => {
      for (const canonical of canonicals.values()) canonical.update(piece)
    },
  }
}

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32]
const CRLF = Buffer.from('\r\n')
const MANY_CRLF = Buffer.from('\r\n'.repeat(4_096))

interface Sink {
  hash: Hash
  mostBytes: number
  hashedBytes: number
}

/** One canonicalization of one body, and the hashes that read it. */
class Canonical {
  #sourceBytes = 0
  #bytes = 0
  /** Line ends that count only when content follows them. */
  #breaks = 0
  /** White space of the line under way that counts only when content follows it; relaxed. */
  #isBlank = false
  #isAfterCr = false
  #isOver = false
  readonly #isRelaxed: boolean
  readonly #sinks: Sink[] = []

  constructor(isRelaxed: boolean) {
    this.#isRelaxed = isRelaxed
  }

  hash(algorithm: string, mostBytes: number): BodyHash {
    const sink = { hash: createHash(algorithm), mostBytes, hashedBytes: 0 }
    this.#sinks.push(sink)
    const { source, canonical, end } = {
      source: () => this.#sourceBytes,
      canonical: () => this.#bytes,
      end: () => this.#end(),
    }
    return {
      get byteLength() {
        return source()
      },
      get canonicalizedLength() {
        return canonical()
      },
      get bodyHashedBytes() {
        return sink.hashedBytes
      },
      digest: (encoding) => {
        end()
        return sink.hash.digest(encoding)
      },
      update: () => {},
      setContentType: () => {},
      getMimeStructureStart: () => undefined,
    }
  }

  update(piece: Uint8Array): void {
    this.#sourceBytes += piece.length
    // The pieces before leave a CR and a blank at most, and line ends, which have room here or are written on their own.
    const out = Buffer.allocUnsafe(piece.length + MANY_CRLF.length)
    let filled = 0
    const isRelaxed = this.#isRelaxed
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]!
      if (byte === LF) {
        this.#breaks++
        this.#isAfterCr = false
        this.#isBlank = false
        continue
      }
      if (isRelaxed && (byte === SPACE || byte === TAB) && !this.#isAfterCr) {
        this.#isBlank = true
        continue
      }
      if (byte === CR && !this.#isAfterCr) {
        this.#isAfterCr = true
        continue
      }
      if (this.#breaks > 0) {
        if (filled + 2 * this.#breaks + 2 + piece.length - at <= out.length) {
          for (; this.#breaks > 0; this.#breaks--) {
            out[filled++] = CR
            out[filled++] = LF
          }
        } else {
          this.#write(out.subarray(0, filled))
          filled = 0
          this.#lineEnds()
        }
      }
      if (this.#isBlank) out[filled++] = SPACE
      this.#isBlank = false
      if (this.#isAfterCr) out[filled++] = CR // a bare one is content
      this.#isAfterCr = byte === CR
      if (byte === CR) continue
      if (isRelaxed && (byte === SPACE || byte === TAB)) this.#isBlank = true
      else out[filled++] = byte
    }
    this.#write(out.subarray(0, filled))
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#isAfterCr) {
      this.#lineEnds()
      if (this.#isBlank) this.#write(Buffer.from(' '))
      this.#write(Buffer.from('\r'))
    }
    if (!this.#isRelaxed || this.#bytes > 0) this.#write(CRLF)
  }

  #lineEnds(): void {
    for (let left = this.#breaks; left > 0; left -= MANY_CRLF.length / 2)
      this.#write(MANY_CRLF.subarray(0, Math.min(left * 2, MANY_CRLF.length)))
    this.#breaks = 0
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#bytes += bytes.length
    for (const sink of this.#sinks) {
      const left = sink.mostBytes - sink.hashedBytes
      if (left <= 0) continue
      const own = bytes.length > left ? bytes.subarray(0, left) : bytes
      sink.hash.update(own)
      sink.hashedBytes += own.length
    }
  }
}
