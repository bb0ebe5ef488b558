import { createHash, type Hash } from 'node:crypto'

/** Body hashes of one mail. Each canonicalization runs once for all signatures: 20 signatures with an `l=` each over 25
 *  MB took 39 s when each had its own. Input lines end in CRLF. RFC 6376 §3.4.3, §3.4.4. */
export interface BodyHashes {
  /** `mostBytes`: `l=`, Infinity for the whole body. Call it before `update`. */
  add(isRelaxed: boolean, algorithm: 'sha256' | 'sha1', mostBytes: number): BodyHash
  /** Adds the next piece of the body, split anywhere. */
  update(piece: Uint8Array): void
}

/** The hash of the canonical body, or of its start; the same object for equal options. */
export interface BodyHash {
  /** Call it after the last piece. */
  digest(encoding: 'base64'): string
  /** Bytes of the canonical body that were not hashed, known after `digest`. */
  unhashedBytes(): number
}

/** Returns hashes for a new body. */
export function createBodyHashes(): BodyHashes {
  const canonicals = new Map<boolean, Canonical>()
  return {
    add: (isRelaxed, algorithm, mostBytes) => {
      const canonical = canonicals.get(isRelaxed) ?? new Canonical(isRelaxed)
      canonicals.set(isRelaxed, canonical)
      return canonical.hash(algorithm, mostBytes)
    },
    update: (piece) => {
      for (const canonical of canonicals.values()) canonical.update(piece)
    },
  }
}

/** Adds a whole body; a large one yields to other work. */
export async function hashBody(hashes: BodyHashes, body: Uint8Array): Promise<void> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve))
    hashes.update(body.subarray(at, at + PIECE_BYTES))
  }
}

const PIECE_BYTES = 65_536
const [TAB, LF, CR, SPACE] = [9, 10, 13, 32]
const CRLF = Buffer.from('\r\n')
const MANY_CRLF = Buffer.from('\r\n'.repeat(4_096))

interface Sink {
  hash: Hash
  mostBytes: number
  hashedBytes: number
}

/** One canonicalization of one body with its hashes. */
class Canonical {
  #bytes = 0
  /** Line ends that count only if content follows. */
  #breaks = 0
  /** Relaxed: white space in the current line that counts only if content follows. */
  #isBlank = false
  #isAfterCr = false
  #isOver = false
  readonly #isRelaxed: boolean
  readonly #sinks: Sink[] = []
  readonly #known = new Map<string, BodyHash>()

  constructor(isRelaxed: boolean) {
    this.#isRelaxed = isRelaxed
  }

  hash(algorithm: string, mostBytes: number): BodyHash {
    const key = `${algorithm} ${mostBytes}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const sink = { hash: createHash(algorithm), mostBytes, hashedBytes: 0 }
    this.#sinks.push(sink)
    let digest: string | null = null
    const hash: BodyHash = {
      digest: (encoding) => {
        this.#end()
        digest ??= sink.hash.digest(encoding)
        return digest
      },
      unhashedBytes: () => this.#bytes - sink.hashedBytes,
    }
    this.#known.set(key, hash)
    return hash
  }

  update(piece: Uint8Array): void {
    // Most pieces are already canonical except for white space and line ends at their edges.
    const [start, end] = contentOf(piece)
    if (start === end || !this.#isCanonical(piece.subarray(start, end))) this.#rewrite(piece)
    else {
      this.#rewrite(piece.subarray(0, start + 1))
      this.#write(piece.subarray(start + 1, end))
      this.#rewrite(piece.subarray(end))
    }
  }

  #isCanonical(content: Uint8Array): boolean {
    if (!this.#isRelaxed) return true
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    return !bytes.includes(TAB) && !bytes.includes('  ', 0, 'latin1') && !bytes.includes(' \r\n', 0, 'latin1')
  }

  /** Canonicalizes byte by byte. */
  #rewrite(piece: Uint8Array): void {
    const isRelaxed = this.#isRelaxed
    let breaks = this.#breaks
    let isBlank = this.#isBlank
    let isAfterCr = this.#isAfterCr
    // Earlier pieces leave at most one CR, one blank, and line ends; these fit here or are written separately.
    const out = Buffer.allocUnsafe(piece.length + 2 + Math.min(2 * breaks, MANY_CRLF.length))
    let filled = 0
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]!
      if (byte === LF) {
        breaks++
        isAfterCr = false
        isBlank = false
        continue
      }
      if (isRelaxed && (byte === SPACE || byte === TAB) && !isAfterCr) {
        isBlank = true
        continue
      }
      if (byte === CR && !isAfterCr) {
        isAfterCr = true
        continue
      }
      if (breaks > 0) {
        if (filled + 2 * breaks + 2 + piece.length - at <= out.length) {
          for (; breaks > 0; breaks--) {
            out[filled++] = CR
            out[filled++] = LF
          }
        } else {
          this.#write(out.subarray(0, filled))
          filled = 0
          this.#lineEnds(breaks)
          breaks = 0
        }
      }
      if (isBlank) out[filled++] = SPACE
      isBlank = false
      if (isAfterCr) out[filled++] = CR // a bare CR is content
      isAfterCr = byte === CR
      if (byte === CR) continue
      if (isRelaxed && (byte === SPACE || byte === TAB)) isBlank = true
      else out[filled++] = byte
    }
    this.#write(out.subarray(0, filled))
    this.#breaks = breaks
    this.#isBlank = isBlank
    this.#isAfterCr = isAfterCr
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#isAfterCr) {
      this.#lineEnds(this.#breaks)
      if (this.#isBlank) this.#write(Buffer.from(' '))
      this.#write(Buffer.from('\r'))
    }
    if (!this.#isRelaxed || this.#bytes > 0) this.#write(CRLF)
  }

  #lineEnds(count: number): void {
    for (let left = count; left > 0; left -= MANY_CRLF.length / 2)
      this.#write(MANY_CRLF.subarray(0, Math.min(left * 2, MANY_CRLF.length)))
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

/** Start and end of the content in a piece, without white space and line ends at its edges; equal if there is none. */
function contentOf(piece: Uint8Array): [start: number, end: number] {
  let start = 0
  let end = piece.length
  while (start < end && isBlankOrBreak(piece[start]!)) start++
  while (end > start && isBlankOrBreak(piece[end - 1]!)) end--
  return [start, end]
}

function isBlankOrBreak(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === CR || byte === LF
}
