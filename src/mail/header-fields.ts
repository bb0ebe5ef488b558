import { guessed } from './charset.ts'

export { addressesOf, firstAddress } from './address-list.ts'
export { decodeWords } from './encoded-words.ts'
export { parameterOf } from './parameters.ts'

/** One header field of a mail. RFC 5322 §2.2 */
export interface HeaderField {
  /** As written. */
  name: string
  /** Name in lower case. */
  key: string
  /** Unfolded and trimmed; UTF-8, or windows-1252 where it is not. Encoded words stay encoded: see decodeWords. */
  value: string
  /** Byte offsets in the mail; `end` is behind the line end. */
  start: number
  end: number
}

/** Raw mail (or one MIME part) → its header fields in order, and the offset of the body: behind the first empty line,
 *  or the end if there is none. Lines end in CRLF or LF, or in CR if the mail has no LF. A line that is neither field
 *  nor continuation is skipped with its continuations, such as an mbox `From ` line. Reads only the first 2,000 fields
 *  of the first MiB; `bodyAt` is correct beyond that. Linear, never throws. RFC 5322 §2.2, RFC 6532 §3.2 */
export function readHeaderFields(raw: Uint8Array): { fields: HeaderField[]; bodyAt: number } {
  const fields: HeaderField[] = []
  const bytes = withLineFeeds(raw)
  let start = 0 // start of the current field or skipped text
  for (let at = 0; at < bytes.length; ) {
    const next = lineAfter(bytes, at)
    if (isEmptyLine(bytes, at)) return { fields: withField(fields, bytes, start, at), bodyAt: next }
    if (!isBlank(bytes[at])) {
      withField(fields, bytes, start, at)
      start = at
    }
    at = next
  }
  return { fields: withField(fields, bytes, start, bytes.length), bodyAt: bytes.length }
}

/** Mail → offset behind its header section and empty line; its length when there is no body. One search for four
 *  bytes. */
export function endOfHead(raw: Uint8Array): number {
  const at = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).indexOf('\r\n\r\n')
  return at < 0 ? raw.byteLength : at + 4
}

/** Bytes with CR line ends only → the same with LF; all others unchanged. */
export function withLineFeeds(raw: Uint8Array): Buffer {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  if (bytes.includes(LF) || !bytes.includes(CR)) return bytes
  return Buffer.from(bytes.map((byte) => (byte === CR ? LF : byte)))
}

const MAX_FIELDS = 2_000 // real mail has some dozens; Postfix limits the header to 102,400 bytes
const MAX_BYTES = 1_048_576
const [TAB, LF, CR, SPACE, COLON, DEL] = [9, 10, 13, 32, 58, 127]

/** Whether a field begins here: a name, perhaps blanks, a colon. RFC 5322 §3.6.8, §4.5.8 */
export function startsField(bytes: Uint8Array, at: number): boolean {
  let next = at
  while (isOfName(bytes[next])) next++
  if (next === at) return false
  while (isBlank(bytes[next])) next++
  return bytes[next] === COLON
}

const isOfName = (byte: number | undefined) => byte !== undefined && byte > SPACE && byte < DEL && byte !== COLON

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}

function isEmptyLine(bytes: Buffer, at: number): boolean {
  return bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF)
}

function lineAfter(bytes: Buffer, at: number): number {
  const newline = bytes.indexOf(LF, at)
  return newline < 0 ? bytes.length : newline + 1
}

/** Adds the field from `start` to `end`, if it is one and the limit allows. */
function withField(fields: HeaderField[], bytes: Buffer, start: number, end: number): HeaderField[] {
  if (start === end || end > MAX_BYTES || fields.length >= MAX_FIELDS) return fields
  if (!startsField(bytes, start)) return fields
  const field = bytes.subarray(start, end)
  const colon = field.indexOf(COLON)
  const name = field.toString('latin1', 0, colon).trimEnd()
  const value = guessed(field.subarray(colon + 1))
    .replace(/\r?\n/g, '')
    .trim()
  fields.push({ name, key: name.toLowerCase(), value, start, end })
  return fields
}
