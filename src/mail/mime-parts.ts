import { decodeCharset } from './charset.ts'
import { type HeaderField, parameterOf, readHeaderFields } from './header-fields.ts'
import { mediaType } from './parameters.ts'
import { bytesOfBase64, bytesOfQuotedPrintable } from './transfer-decoding.ts'

/** One part of a mail, the mail itself among them. */
export interface MimePart {
  fields: HeaderField[]
  /** Lower-case; `text/plain` when not said. RFC 2045 §5.2. */
  type: string
  /** As it was transferred: contentOf decodes it. */
  body: Uint8Array
  /** Of a multipart; empty otherwise. */
  parts: MimePart[]
}

/** Raw mail → the tree of its parts, as far as its first `mostBytes` tell. Takes what is common in the wild: no closing
 *  delimiter, no boundary parameter, LF line ends. An attached message is a leaf. At most 20 levels and 1,000 parts, beyond
 *  which a multipart is a leaf; linear, never throws. RFC 2046 §5.1. */
export function readParts(raw: Uint8Array, mostBytes = MOST_BYTES): MimePart {
  const budget = { parts: MOST_PARTS }
  return readPart(raw.subarray(0, mostBytes), 0, budget)
}

/** The part and all below it that are no multiparts, in order. */
export function leavesOf(part: MimePart): MimePart[] {
  return part.parts.length === 0 ? [part] : part.parts.flatMap(leavesOf)
}

/** Value of the part's first field of that lower-case name; '' when there is none. */
export function fieldOf(part: Pick<MimePart, 'fields'>, key: string): string {
  return part.fields.find((field) => field.key === key)?.value ?? ''
}

/** Body of a leaf without its transfer encoding; as it is in an encoding that is not known. RFC 2045 §6. */
export function contentOf(part: MimePart): Uint8Array {
  switch (mediaType(fieldOf(part, 'content-transfer-encoding'))) {
    case 'base64':
      return bytesOfBase64(part.body)
    case 'quoted-printable':
      return bytesOfQuotedPrintable(part.body)
    default:
      return part.body
  }
}

/** Content of a leaf as text with LF line ends; latin1 in a charset that is not known. */
export function textOf(part: MimePart): string {
  const bytes = contentOf(part)
  const charset = parameterOf(fieldOf(part, 'content-type'), 'charset') ?? ''
  const text = decodeCharset(bytes, charset) ?? Buffer.from(bytes).toString('latin1')
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
}

/** Raw mail → its first plain text and its first HTML that are no attachments, with LF line ends; null for what it has not.
 *  Reads the whole mail: a text may stand behind an attachment. Linear, never throws. */
export function readTexts(raw: Uint8Array): { html: string | null; text: string | null } {
  const shown = leavesOf(readParts(raw, raw.length)).filter((part) => !isAttachment(part))
  const plain = shown.find((part) => part.type === 'text/plain')
  const html = shown.find((part) => part.type === 'text/html')
  return { html: html ? textOf(html) : null, text: plain ? textOf(plain) : null }
}

/** Said to be one by its author; pictures that a text shows are not. RFC 2183 §2.2 */
export function isAttachment(part: MimePart): boolean {
  return mediaType(fieldOf(part, 'content-disposition')) === 'attachment'
}

const MOST_BYTES = 1_048_576 // reports stand in front of the mail that they are about
const MOST_PARTS = 1_000
const DEEPEST = 20 // mails from the wild have up to six levels
const [LF, CR, DASH] = [10, 13, 45]

function readPart(bytes: Uint8Array, depth: number, budget: { parts: number }, usual = 'text/plain'): MimePart {
  budget.parts--
  const { fields, bodyAt } = readHeaderFields(bytes)
  const part: MimePart = { fields, type: usual, body: bytes.subarray(bodyAt), parts: [] }
  const contentType = fieldOf(part, 'content-type')
  const said = mediaType(contentType)
  if (said.includes('/')) part.type = said
  if (!part.type.startsWith('multipart/') || depth >= DEEPEST) return part

  const boundary = parameterOf(contentType, 'boundary') ?? guessedBoundary(part.body)
  if (boundary === null || boundary === '') return part
  const below = part.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
  for (const piece of piecesOf(part.body, boundary)) {
    if (budget.parts <= 0) break
    part.parts.push(readPart(piece, depth + 1, budget, below))
  }
  return part
}

/** What stands between the delimiter lines. */
function* piecesOf(body: Uint8Array, boundary: string): Generator<Uint8Array> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const delimiter = Buffer.from(`--${boundary}`)
  let start = -1
  for (let from = 0; ; ) {
    const at = bytes.indexOf(delimiter, from)
    if (at < 0) break
    from = at + delimiter.length
    if (at > 0 && bytes[at - 1] !== LF) continue
    const isLast = bytes[from] === DASH && bytes[from + 1] === DASH
    const newline = bytes.indexOf(LF, from)
    const lineEnd = newline < 0 ? bytes.length : newline
    // Another boundary may begin with this one.
    if (!isLast && !isPadding(bytes.subarray(from, Math.min(lineEnd, from + LONGEST_PADDING)))) continue
    if (start >= 0) yield bytes.subarray(start, Math.max(withoutLineEnd(bytes, at), start))
    if (isLast) return
    start = Math.min(lineEnd + 1, bytes.length)
    from = start
  }
  if (start >= 0) yield bytes.subarray(start)
}

const LONGEST_PADDING = 1_000

function isPadding(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 32 || byte === 9 || byte === CR)
}

/** The line end in front of a delimiter belongs to the delimiter. RFC 2046 §5.1.1. */
function withoutLineEnd(bytes: Buffer, at: number): number {
  if (at > 0 && bytes[at - 1] === LF) return bytes[at - 2] === CR ? at - 2 : at - 1
  return at
}

/** The first line that begins with `--`, for multiparts whose boundary parameter was lost. */
function guessedBoundary(body: Uint8Array): string | null {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 4_000)).toString('latin1')
  return /^--([!-~]{1,70})[ \t]*\r?$/m.exec(start)?.[1] ?? null
}
