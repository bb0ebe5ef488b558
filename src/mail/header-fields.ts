export { addressesOf, firstAddress } from './address-list.ts'
export { decodeWords } from './encoded-words.ts'
export { parameterOf } from './parameters.ts'

/** One header field as it stands in a mail. RFC 5322 §2.2. */
export interface HeaderField {
  /** As written. */
  name: string
  /** Name in lower case. */
  key: string
  /** Unfolded and trimmed; UTF-8, or latin1 when it is none. Encoded words are left: decodeWords reads them. */
  value: string
  /** Byte offsets in the mail; `end` stands behind the line end. */
  start: number
  end: number
}

/** Raw mail (or one MIME part) → its header fields in order, and where the body begins: behind the first empty line, or
 *  at the end when there is none. Lines end in CRLF or LF, or in CR where the mail has no LF at all. A line that is neither field nor continuation is passed over with
 *  its continuations: an mbox `From ` line, a word of garbage. Only the first 2,000 fields of the first MiB are
 *  read; `bodyAt` is right beyond that. Linear, never throws. RFC 5322 §2.2, RFC 6532 §3.2. */
export function readHeaderFields(raw: Uint8Array): { fields: HeaderField[]; bodyAt: number } {
  const fields: HeaderField[] = []
  const bytes = withLineFeeds(raw)
  let start = 0 // of the field or garbage that goes on
  for (let at = 0; at < bytes.length; ) {
    const next = lineAfter(bytes, at)
    if (isEmptyLine(bytes, at)) return { fields: withField(fields, bytes, start, at), bodyAt: next }
    if (!isBlank(bytes[at]!)) {
      withField(fields, bytes, start, at)
      start = at
    }
    at = next
  }
  return { fields: withField(fields, bytes, start, bytes.length), bodyAt: bytes.length }
}

/** Bytes whose lines end in CR alone → the same with LF in their place; all others as they are. */
export function withLineFeeds(raw: Uint8Array): Buffer {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  if (bytes.includes(LF) || !bytes.includes(CR)) return bytes
  return Buffer.from(bytes.map((byte) => (byte === CR ? LF : byte)))
}

/** Bytes of a header → text: UTF-8 when they are, else latin1, where each byte is a character. */
function headerText(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const MAX_FIELDS = 2_000 // mails from the wild have some dozens; Postfix bounds the header to 102,400 bytes
const MAX_BYTES = 1_048_576
const [TAB, LF, CR, SPACE, COLON] = [9, 10, 13, 32, 58]

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB
}

function isEmptyLine(bytes: Buffer, at: number): boolean {
  return bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF)
}

function lineAfter(bytes: Buffer, at: number): number {
  const newline = bytes.indexOf(LF, at)
  return newline < 0 ? bytes.length : newline + 1
}

/** Adds the field that stands from `start` to `end`, when there is one and room for it. */
function withField(fields: HeaderField[], bytes: Buffer, start: number, end: number): HeaderField[] {
  if (start === end || end > MAX_BYTES || fields.length >= MAX_FIELDS) return fields
  const field = bytes.subarray(start, end)
  const colon = field.indexOf(COLON)
  // RFC 5322 §4.5.1 has blanks in front of the colon.
  const name = field.toString('latin1', 0, Math.max(colon, 0)).trimEnd()
  if (!FIELD_NAME.test(name)) return fields
  const value = headerText(field.subarray(colon + 1))
    .replace(/\r?\n/g, '')
    .trim()
  fields.push({ name, key: name.toLowerCase(), value, start, end })
  return fields
}

const FIELD_NAME = /^[!-9;-~]+$/
