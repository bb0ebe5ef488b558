import { isAscii, isUtf8 } from 'node:buffer'
import { type HeaderField, readHeaderFields } from './header-fields.ts'
import { hasLongLine, wrapBase64 } from './long-lines.ts'
import { fieldOf } from './mime-parts.ts'
import { mediaType, parameterOf } from './parameters.ts'
import { bytesOfQuotedPrintable } from './transfer-decoding.ts'
import { quotedPrintable } from './transfer-encoding.ts'

/** Raw mail → the same with its parts in 7-bit ASCII and lines of at most 998 octets, and the number of parts that were
 *  re-encoded. Only parts with octets above 127 or longer lines change, each as a whole: to quoted-printable, while
 *  base64 is wrapped. Their Content-Transfer-Encoding follows, as does that of the multiparts and messages around them.
 *  An attached message may not be encoded, so its own parts are (RFC 2046 §5.2.1).
 *
 *  As they came stay headers, the texts around the parts of a multipart, unknown encodings, parts below 20 levels, and
 *  everything behind 1,000 parts; also `message` types other than those of RFC 6532 and RFC 6533, which may be encoded.
 *  The signed content of a `multipart/signed` stays too, unless `signedContent`, for a server that takes no 8-bit mail
 *  (RFC 1847 §2.1).
 *
 *  Returns the same object if nothing changes. Linear, never throws. RFC 6152 §3, RFC 6376 §5.3 */
export function toSevenBit(mail: Uint8Array, signedContent: boolean): { bytes: Uint8Array; encoded: number } {
  if (isAscii(mail) && !hasLongLine(mail)) return { bytes: mail, encoded: 0 }
  const rewriting = new Rewriting(mail, signedContent)
  rewriting.entity('text/plain', 0)
  if (rewriting.encoded === 0) return { bytes: mail, encoded: 0 }
  return { bytes: rewriting.result(), encoded: rewriting.encoded }
}

const MAX_LEVELS = 20
const MAX_PARTS = 1_000
const LONGEST_BOUNDARY = 200 // RFC 2046 §5.1.1 allows 70
const [TAB, LF, CR, SPACE, DASH] = [9, 10, 13, 32, 45]
const NEXT_DASHES = Buffer.from('\n--')
const EMPTY = new Uint8Array()
const MIME_VERSION = Buffer.from('MIME-Version: 1.0\r\n')
/** Encodings that leave the octets as they are. '' is 7bit (RFC 2045 §6.1). */
const IDENTITY = new Set(['', '7bit', '8bit', 'binary'])

/** One pass over a mail: reads at `#at` and collects what it writes. */
class Rewriting {
  encoded = 0
  readonly #bytes: Buffer
  readonly #signedContent: boolean
  readonly #written: Uint8Array[] = []
  /** Of the multiparts around the current position, the innermost last. */
  readonly #boundaries: Buffer[] = []
  #at = 0
  #parts = 0

  constructor(mail: Uint8Array, signedContent: boolean) {
    this.#bytes = Buffer.from(mail.buffer, mail.byteOffset, mail.byteLength)
    this.#signedContent = signedContent
  }

  /** Without MIME-Version, readers may ignore an encoding. RFC 2045 §4 */
  result(): Uint8Array {
    const isMime = readHeaderFields(this.#written[0] ?? EMPTY).fields.some(({ key }) => key === 'mime-version')
    return Buffer.concat(isMime ? this.#written : [MIME_VERSION, ...this.#written])
  }

  /** Reads the mail, or a part, up to the delimiter behind it. Returns whether it is 7-bit now. */
  entity(usual: string, depth: number): boolean {
    const head = this.#takeHead()
    const { fields } = readHeaderFields(head)
    const type = mediaType(fieldOf({ fields }, 'content-type')) || usual
    const encoding = mediaType(fieldOf({ fields }, 'content-transfer-encoding'))
    const headAt = this.#written.push(head) - 1
    const before = this.encoded
    this.#parts++
    const boundary = type.startsWith('multipart/') ? boundaryOf(fields) : null
    const isInside = depth < MAX_LEVELS
    let isClean: boolean
    // No encoding is allowed for a multipart (RFC 2045 §6.4), so readers ignore one.
    if (boundary !== null && isInside) isClean = this.#multipart(type, boundary, depth)
    else if (type === 'message/rfc822' && isInside && IDENTITY.has(encoding))
      isClean = this.entity('text/plain', depth + 1)
    else return this.#leaf(type, encoding, { headAt, fields }) && isAscii(this.#written[headAt] ?? head)
    const isNew = isClean && this.encoded > before && IDENTITY.has(encoding) && encoding !== '' && encoding !== '7bit'
    if (isNew) this.#written[headAt] = withEncoding(head, fields, '7bit')
    return isClean && isAscii(head)
  }

  /** Header section with its empty line, if it has one. */
  #takeHead(): Buffer {
    const start = this.#at
    while (this.#at < this.#bytes.length && !this.#isDelimiter()) {
      const isEnd = this.#isEmptyLine()
      this.#at = this.#nextLine()
      if (isEnd) break
    }
    return this.#bytes.subarray(start, this.#at)
  }

  #multipart(type: string, boundary: Buffer, depth: number): boolean {
    const below = type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    this.#boundaries.push(boundary)
    let isClean = this.#copyToDelimiter()
    for (let count = 0; this.#delimiterOf(boundary) === 'part'; count++) {
      if (this.#parts >= MAX_PARTS) return this.#copyRest()
      this.#writeLine()
      const isSigned = type === 'multipart/signed' && count === 0 && !this.#signedContent
      isClean = (isSigned ? this.#copyToDelimiter() : this.entity(below, depth + 1)) && isClean
    }
    const isClosed = this.#delimiterOf(boundary) === 'end'
    this.#boundaries.pop()
    if (isClosed) {
      this.#writeLine()
      isClean = this.#copyToDelimiter() && isClean
    }
    return isClean
  }

  #leaf(type: string, encoding: string, { headAt, fields }: { headAt: number; fields: HeaderField[] }): boolean {
    const start = this.#at
    this.#skipToDelimiter()
    const lineEnd = this.#at < this.#bytes.length ? this.#lineEndBefore(start) : 0
    const body = this.#bytes.subarray(start, this.#at - lineEnd)
    const changed = isEncodable(type) && (!isAscii(body) || hasLongLine(body)) ? encodedBody(body, encoding) : null
    if (changed !== null) {
      this.encoded++
      const head = this.#written[headAt]
      if (IDENTITY.has(encoding) && head) this.#written[headAt] = withEncoding(head, fields, 'quoted-printable', body)
    }
    this.#written.push(changed ?? body, this.#bytes.subarray(this.#at - lineEnd, this.#at))
    return isAscii(changed ?? body)
  }

  #copyToDelimiter(): boolean {
    const start = this.#at
    this.#skipToDelimiter()
    const text = this.#bytes.subarray(start, this.#at)
    this.#written.push(text)
    return isAscii(text)
  }

  /** Returns false: nothing is known about the rest of the mail. */
  #copyRest(): false {
    this.#written.push(this.#bytes.subarray(this.#at))
    this.#at = this.#bytes.length
    return false
  }

  #skipToDelimiter(): void {
    while (this.#at < this.#bytes.length && !this.#isDelimiter()) {
      const next = this.#boundaries.length === 0 ? -1 : this.#bytes.indexOf(NEXT_DASHES, this.#at)
      this.#at = next < 0 ? this.#bytes.length : next + 1
    }
  }

  #writeLine(): void {
    const start = this.#at
    this.#at = this.#nextLine()
    this.#written.push(this.#bytes.subarray(start, this.#at))
  }

  /** Whether the line here is a delimiter of a multipart around. */
  #isDelimiter(): boolean {
    const { length } = this.#boundaries
    if (length === 0 || this.#bytes[this.#at] !== DASH || this.#bytes[this.#at + 1] !== DASH) return false
    const first = this.#bytes[this.#at + 2]
    for (const boundary of this.#boundaries) {
      if (boundary[0] === first && this.#delimiterOf(boundary) !== null) return true
    }
    return false
  }

  /** The line here as a delimiter with this boundary: before a part, or at the end. Blanks may follow. RFC 2046 §5.1.1 */
  #delimiterOf(boundary: Buffer): 'part' | 'end' | null {
    const bytes = this.#bytes
    let at = this.#at
    if (bytes[at++] !== DASH || bytes[at++] !== DASH) return null
    for (let index = 0; index < boundary.length; index++) if (bytes[at++] !== boundary[index]) return null
    const isEnd = bytes[at] === DASH && bytes[at + 1] === DASH
    if (isEnd) at += 2
    while (bytes[at] === SPACE || bytes[at] === TAB || bytes[at] === CR) at++
    if (at < bytes.length && bytes[at] !== LF) return null
    return isEnd ? 'end' : 'part'
  }

  #isEmptyLine(): boolean {
    const byte = this.#bytes[this.#at]
    return byte === LF || (byte === CR && this.#bytes[this.#at + 1] === LF)
  }

  #nextLine(): number {
    const newline = this.#bytes.indexOf(LF, this.#at)
    return newline < 0 ? this.#bytes.length : newline + 1
  }

  /** Length of the line end before a delimiter, which belongs to it. RFC 2046 §5.1.1 */
  #lineEndBefore(start: number): number {
    if (this.#at <= start || this.#bytes[this.#at - 1] !== LF) return 0
    return this.#at - 1 > start && this.#bytes[this.#at - 2] === CR ? 2 : 1
  }
}

function boundaryOf(fields: readonly HeaderField[]): Buffer | null {
  const value = fields.find(({ key }) => key === 'content-type')?.value ?? ''
  const boundary = Buffer.from(parameterOf(value, 'boundary')?.trimEnd() ?? '')
  return boundary.length === 0 || boundary.length > LONGEST_BOUNDARY ? null : boundary
}

/** Of the `message` types only those for UTF-8 mail may be encoded. RFC 2046 §5.2, RFC 6532 §3.7, RFC 6533 §6 */
function isEncodable(type: string): boolean {
  if (type.startsWith('multipart/')) return false
  return !type.startsWith('message/') || type.startsWith('message/global')
}

/** Null for an encoding that cannot be kept. */
function encodedBody(body: Buffer, encoding: string): Uint8Array | null {
  if (IDENTITY.has(encoding)) return Buffer.from(quotedPrintable(body), 'latin1')
  if (encoding === 'quoted-printable') return Buffer.from(quotedPrintable(bytesOfQuotedPrintable(body)), 'latin1')
  return encoding === 'base64' && hasLongLine(body) ? wrapBase64(body) : null
}

/** Header section → the same with this Content-Transfer-Encoding, behind the other fields. A `body` without a type is
 *  plain text; readers would no longer guess its charset, so it is named. */
function withEncoding(
  head: Uint8Array,
  fields: readonly HeaderField[],
  encoding: string,
  body?: Uint8Array,
): Uint8Array {
  const pieces: Uint8Array[] = []
  let at = 0
  for (const { key, start, end } of fields) {
    if (key !== 'content-transfer-encoding') continue
    pieces.push(head.subarray(at, start))
    at = end
  }
  const hasType = fields.some(({ key }) => key === 'content-type')
  const type = !hasType && body && isUtf8(body) ? 'Content-Type: text/plain; charset=utf-8\r\n' : ''
  const line = Buffer.from(`${type}Content-Transfer-Encoding: ${encoding}\r\n`)
  const [, end = ''] = /(?:^|\n)(\r?\n)$/.exec(Buffer.from(head.subarray(-3)).toString('latin1')) ?? []
  const endAt = head.length - end.length
  pieces.push(head.subarray(at, endAt), line, head.subarray(endAt))
  return Buffer.concat(pieces)
}
