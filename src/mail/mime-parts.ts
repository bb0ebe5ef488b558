import { decodeCharset, guessed } from './charset.ts'
import { cutText } from './cut-text.ts'
import type { WordBudget } from './encoded-words.ts'
import { typeByName } from './file-name.ts'
import { type HeaderField, readHeaderFields, withLineFeeds } from './header-fields.ts'
import { mediaType, type Parameters, parameterIn, readParameters } from './parameters.ts'
import { bytesOfBase64, bytesOfQuotedPrintable } from './transfer-decoding.ts'
import { bytesOfUuencoded, nameOfUuencoded, piecesOfUuencoded, type UuencodedPiece } from './uuencode.ts'

/** One part of a mail, or the mail itself. */
export interface MimePart {
  fields: HeaderField[]
  /** Lower case; `text/plain` if missing. RFC 2045 §5.2 */
  type: string
  /** In its transfer encoding: contentOf decodes it. */
  body: Uint8Array
  /** Parts of a multipart, or of a text with uuencoded files; empty otherwise. */
  parts: MimePart[]
  /** A multipart beyond the limits, whose parts were not read. */
  isCut: boolean
}

/** Limits on reading a mail. */
export interface MimeLimits {
  bytes: number
  parts: number
  /** Nesting of multiparts: each level costs a pass over its content. */
  levels: number
  /** Encoded words; without it all are decoded. */
  words?: WordBudget
  /** Stops reading further parts once true. */
  isLate?: () => boolean
}

/** Raw mail → the tree of its parts in its first `mostBytes`. Accepts common faults: no closing delimiter, a wrong or
 *  missing boundary parameter, padding behind a delimiter, a delimiter of an outer multipart inside an inner one, a
 *  part without the empty line behind its header, line ends in LF or CR CR LF. An attached message is a leaf. At most
 *  20 levels and 1,000 parts, beyond which a multipart is a leaf; linear, never throws. RFC 2046 §5.1 */
export function readParts(raw: Uint8Array, mostBytes = MAX_BYTES): MimePart {
  return readMime(raw, { bytes: mostBytes, parts: MAX_PARTS, levels: MAX_LEVELS }).mail
}

export interface MimeReading {
  mail: MimePart
  /** The first limit reached; null if everything was read. */
  reached: string | null
}

/** The same within other limits, with the first limit reached; null if everything was read. */
export function readMime(raw: Uint8Array, limits: MimeLimits): MimeReading {
  const steps = mimeSteps(raw, limits)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same in steps of about 20 ms, between which the caller may yield the thread. */
export function* mimeSteps(raw: Uint8Array, limits: MimeLimits): Generator<void, MimeReading> {
  const budget: Budget = { limits, partsLeft: limits.parts, reached: null, isDecoded: false, work: 0 }
  const bytes = withSingleReturns(withLineFeeds(raw.subarray(0, limits.bytes)))
  const mail = yield* readPart(bytes, 0, budget)
  return { mail, reached: budget.reached }
}

/** Mail whose first line ends in CR CR LF, from programs that add a CR before each line end → the same with CR LF;
 *  others unchanged. */
function withSingleReturns(bytes: Buffer): Buffer {
  const newline = bytes.indexOf(LF)
  if (newline < 2 || bytes[newline - 1] !== CR || bytes[newline - 2] !== CR) return bytes
  const single = Buffer.allocUnsafe(bytes.length)
  let end = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === CR && bytes[at + 1] === CR && bytes[at + 2] === LF) continue
    single[end++] = bytes[at]!
  }
  return single.subarray(0, end)
}

/** The part and its descendants that are not multiparts, in order. */
export function leavesOf(part: MimePart): MimePart[] {
  return part.parts.length === 0 ? [part] : part.parts.flatMap(leavesOf)
}

/** Value of the part's first field with that lower-case name; '' if none. */
export function fieldOf(part: Pick<MimePart, 'fields'>, key: string): string {
  return part.fields.find((field) => field.key === key)?.value ?? ''
}

/** Parameter of such a field, both names lower case; null if missing. Each field is parsed once. */
export function partParameter(
  part: Pick<MimePart, 'fields'>,
  key: 'content-type' | 'content-disposition',
  name: PartParameter,
  words?: WordBudget,
): string | null {
  const field = part.fields.find((each) => each.key === key)
  if (field === undefined) return null
  let parameters = PARAMETERS.get(field)
  if (parameters === undefined) {
    parameters = readParameters(field.value, NAMES)
    PARAMETERS.set(field, parameters)
  }
  return parameterIn(parameters, name, words)
}

type PartParameter = 'boundary' | 'charset' | 'delsp' | 'filename' | 'format' | 'name'
const NAMES: ReadonlySet<string> = new Set<PartParameter>([
  'boundary',
  'charset',
  'delsp',
  'filename',
  'format',
  'name',
])
const PARAMETERS = new WeakMap<HeaderField, Parameters>()

/** Body of a leaf without its transfer encoding; unchanged if the encoding is unknown. RFC 2045 §6 */
export function contentOf(part: Pick<MimePart, 'fields' | 'body'>): Uint8Array {
  switch (encodingOf(part)) {
    case 'base64':
      return bytesOfBase64(part.body)
    case 'quoted-printable':
      return bytesOfQuotedPrintable(part.body)
    case 'x-uuencode':
    case 'uuencode':
    case 'x-uue':
    case 'uue':
      return bytesOfUuencoded(part.body) ?? part.body
    default:
      return part.body
  }
}

/** Content of a leaf as text with LF line ends; windows-1252 if the charset is unknown and they are not UTF-8.
 *  `format=flowed` stays unchanged. */
export function textOf(part: Pick<MimePart, 'fields' | 'body'>, words?: WordBudget): string {
  const bytes = contentOf(part)
  const charset = partParameter(part, 'content-type', 'charset', words) ?? ''
  const text = decodeCharset(bytes, charset) ?? guessed(bytes)
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
}

/** The file name in the headers of a leaf; null if none. RFC 2183 §2.3, RFC 2045 §5 */
export function nameOf(part: MimePart, words?: WordBudget): string | null {
  const said =
    partParameter(part, 'content-disposition', 'filename', words) ||
    partParameter(part, 'content-type', 'name', words) ||
    null
  if (said !== null || !encodingOf(part).includes('uu')) return said
  return nameOfUuencoded(part.body)
}

/** The first characters of a text, decoding no more than needed: four bytes per character, as in an encoding. */
export function beginningOf(part: MimePart, characters: number): string {
  return cutText(textOf({ ...part, body: part.body.subarray(0, 4 * characters) }), characters)
}

/** Raw mail → its first plain text and first HTML that are not attachments, with LF line ends; null if missing. Reads
 *  the whole mail: a text may follow an attachment. Linear, never throws. */
export function readTexts(raw: Uint8Array): { html: string | null; text: string | null } {
  const shown = leavesOf(readParts(raw, raw.length)).filter((part) => !isAttachment(part))
  const plain = shown.find((part) => part.type === 'text/plain')
  const html = shown.find((part) => part.type === 'text/html')
  return { html: html ? textOf(html) : null, text: plain ? textOf(plain) : null }
}

/** Whether the author marked it as one; pictures shown in a text are not. RFC 2183 §2.2 */
export function isAttachment(part: MimePart): boolean {
  return mediaType(fieldOf(part, 'content-disposition')) === 'attachment'
}

const MAX_BYTES = 1_048_576 // reports precede the mail they are about
const MAX_PARTS = 1_000
const MAX_LEVELS = 20 // real mail has up to six levels
const LONGEST_BOUNDARY = 8_000 // RFC 2046 §5.1.1 allows 70; longer ones occur
const LONGEST_HEADER = 1_048_576 // the limit of readHeaderFields
const MAX_BLANKS = 1_000
const [LF, CR, DASH] = [10, 13, 45]

interface Budget {
  limits: MimeLimits
  partsLeft: number
  reached: string | null
  /** Whether a multipart was decoded: only one per mail, or each level would cost as much as the mail. */
  isDecoded: boolean
  /** Work since the last pause. */
  work: number
}

function encodingOf(part: Pick<MimePart, 'fields'>): string {
  return mediaType(fieldOf(part, 'content-transfer-encoding'))
}

function* readPart(bytes: Uint8Array, depth: number, budget: Budget, usual = 'text/plain'): Generator<void, MimePart> {
  budget.partsLeft--
  const { fields, bodyAt, sizeBytes } = readPartHeader(bytes, depth === 0)
  yield* spend(sizeBytes, budget)
  if (depth > 0 && bodyAt > LONGEST_HEADER) budget.reached ??= 'the header of a part is longer than 1 MiB'
  const part: MimePart = { fields, type: usual, body: bytes.subarray(bodyAt), parts: [], isCut: false }
  const contentType = fieldOf(part, 'content-type')
  const said = mediaType(contentType)
  if (said.includes('/')) part.type = said
  else if (said === 'multipart' || (said === '' && boundaryOf(part, budget) !== '')) part.type = 'multipart/mixed'
  if (!part.type.startsWith('multipart/')) {
    if (encodingOf(part).includes('uu')) splitUuencoded(part, budget)
    return part
  }

  yield* split(part, part.body, depth, budget)
  // RFC 2045 §6.4 forbids encoded multiparts; some exist.
  if (part.parts.length > 0 || part.isCut || budget.isDecoded) return part
  const content = contentOf(part)
  if (content === part.body) return part
  budget.isDecoded = true
  yield* split(part, content, depth, budget)
  return part
}

/** Adds the parts in the body of a multipart. */
function* split(part: MimePart, body: Uint8Array, depth: number, budget: Budget): Generator<void, void> {
  const below = part.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
  for (const boundary of [boundaryOf(part, budget), guessedBoundary(body) ?? '']) {
    if (boundary === '') continue
    const inner = { open: 0 }
    for (const piece of piecesOf(body, boundary, inner)) {
      if (piece === null) {
        yield* spend(LOOK_ALIKES * 20, budget)
        if (!isLate(budget)) continue
      }
      part.isCut = isUsedUp(depth, budget)
      if (part.isCut || piece === null) return
      const read = yield* readPart(piece, depth + 1, budget, below)
      part.parts.push(read)
      if (read.type.startsWith('multipart/') && boundaryOf(read, budget) === boundary) inner.open++
    }
    if (part.parts.length > 0) return
  }
}

/** Adds uuencoded files and the texts around them, unless the part is a single file. A file in a text is an attachment,
 *  unless it is the whole text. */
function splitUuencoded(part: MimePart, budget: Budget): void {
  const pieces: UuencodedPiece[] = []
  for (const piece of piecesOfUuencoded(part.body)) {
    if (piece.name === null && isBlank(piece.content)) continue
    if (isUsedUp(0, budget)) break
    budget.partsLeft--
    pieces.push(piece)
  }
  const first = pieces.find(({ name }) => name !== null)
  const isText = part.type.startsWith('text/') && !isAttachment(part)
  if (first === undefined || (pieces.length === 1 && (!isText || isNameOfText(first.name ?? '')))) return

  const ofText = part.fields.filter(({ key }) => isText && key === 'content-type')
  const ofFile = part.fields.filter(({ key }) => key === 'content-transfer-encoding')
  ofFile.push({ name: 'Content-Disposition', key: 'content-disposition', value: 'attachment', start: 0, end: 0 })
  part.parts = pieces.map((piece) => {
    const below = { body: piece.content, parts: [], isCut: false }
    if (piece.name === null) return { ...below, fields: ofText, type: isText ? part.type : 'text/plain' }
    const isOfPart = piece === first && !isText
    return isOfPart
      ? { ...below, fields: part.fields, type: part.type }
      : { ...below, fields: ofFile, type: 'application/octet-stream' }
  })
}

function isNameOfText(name: string): boolean {
  return !/\.\w{1,10}$/.test(name) || typeByName(name).startsWith('text/')
}

/** '' if none. A blank at its end is padding (RFC 2046 §5.1.1). */
function boundaryOf(part: MimePart, budget: Budget): string {
  return partParameter(part, 'content-type', 'boundary', budget.limits.words)?.trimEnd() ?? ''
}

/** A header byte takes about 50 ns, a line that looks like a delimiter twenty times that. */
function* spend(work: number, budget: Budget): Generator<void, void> {
  budget.work += work
  if (budget.work < WORK_BETWEEN_PAUSES) return
  budget.work = 0
  yield
}

const WORK_BETWEEN_PAUSES = 400_000
const LOOK_ALIKES = 10_000

function isLate({ limits }: Budget): boolean {
  return limits.isLate?.() ?? false
}

function isUsedUp(depth: number, budget: Budget): boolean {
  const { levels, parts } = budget.limits
  if (isLate(budget)) budget.reached ??= 'parsing took too long'
  else if (depth >= levels) budget.reached ??= `more than ${levels} levels of parts`
  else if (budget.partsLeft <= 0) budget.reached ??= `more than ${parts.toLocaleString('en')} parts`
  else return false
  return true
}

/** Header and body of a part. Without an empty line, the body starts at the first line that is not a field and has no
 *  MIME field behind it; for a mail, also no field that every mail has, since such a line in its header is usually a
 *  fold without its blank. If such a line ends the header, the empty line behind it counts. */
function readPartHeader(bytes: Uint8Array, isMail: boolean): PartHeader {
  const { fields, bodyAt } = readHeaderFields(bytes)
  const isKnown = isMail ? MAIL_FIELD : MIME_FIELD
  const last = fields.findLastIndex(({ key }) => isKnown.test(key))
  let count = last + 1
  let at = fields[last]?.end ?? 0
  for (const { start, end } of fields.slice(count)) {
    if (start !== at) break
    at = end
    count++
  }
  if (at >= bodyAt || isHeaderLine(bytes, at)) return { fields, bodyAt, sizeBytes: bodyAt }
  if (last < 0) return { fields: [], bodyAt: 0, sizeBytes: bodyAt } // text whose first lines look like fields
  if (isLostFold(bytes, at, bodyAt, fields.slice(0, count))) return { fields, bodyAt, sizeBytes: bodyAt }
  return { fields: fields.slice(0, count), bodyAt: at, sizeBytes: bodyAt }
}

interface PartHeader {
  fields: HeaderField[]
  bodyAt: number
  /** Bytes read. */
  sizeBytes: number
}

const MIME_FIELD = /^(?:content-|mime-version$)/
const MAIL_FIELD =
  /^(?:content-|mime-version$|x-|received$|from$|to$|cc$|bcc$|subject$|date$|message-id$|reply-to$|return-path$|sender$|references$|in-reply-to$|delivered-to$|dkim-|arc-|authentication-|list-|resent-|thread-)/

/** Whether a field or the empty line starts here. */
function isHeaderLine(bytes: Uint8Array, at: number): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(bytes.byteLength - at, 200))
  return /^(?:\r?\n|[!-9;-~]{1,200}(?:[ \t]{0,20}:|$))/.test(start.toString('latin1'))
}

/** Whether the line that is not a field belongs to the header, which ends before `bodyAt`. A text may lack the empty
 *  line; a base64 file starts behind it. */
function isLostFold(bytes: Uint8Array, at: number, bodyAt: number, fields: HeaderField[]): boolean {
  if (!/\n\r?\n$/.test(latin1(bytes, Math.max(bodyAt - 3, 0), bodyAt))) return false
  const [line = ''] = latin1(bytes, at, Math.min(at + 1_000, bodyAt)).split(/\r?\n/, 1)
  const isParameter = /^[\w*-]{1,60}=[^=]/.test(line)
  const type = mediaType(fieldOf({ fields }, 'content-type'))
  if (encodingOf({ fields }) === 'base64') {
    if (isParameter) return true
    return !/^[A-Za-z0-9+/]+={0,2}$/.test(line) && !isBlank(bytes.subarray(bodyAt, bodyAt + MAX_BLANKS))
  }
  if (type !== '' && !/^(?:text|multipart)(?:\/|$)/.test(type))
    return isParameter || !isBlank(bytes.subarray(bodyAt, bodyAt + MAX_BLANKS))
  const isLastLine = bodyAt - at - line.length <= 4 // two line ends
  return isLastLine && (isParameter || fields.at(-1)?.value.endsWith(';') === true)
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte <= 32)
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1')
}

/** Yields the content between delimiter lines. `inner`: multiparts among the pieces with the same boundary, which own
 *  the first closing delimiters. null: 10,000 lines started like a delimiter without being one. */
function* piecesOf(body: Uint8Array, boundary: string, inner: { open: number }): Generator<Uint8Array | null> {
  if (boundary.length > LONGEST_BOUNDARY) return
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const delimiter = Buffer.from(`--${boundary}`)
  let start = -1
  let others = 0
  for (let from = 0; ; ) {
    const at = bytes.indexOf(delimiter, from)
    if (at < 0) break
    from = at + delimiter.length
    const isAtStart = at === 0 || bytes[at - 1] === LF
    const isLast = bytes[from] === DASH && bytes[from + 1] === DASH && isPadding(bytes, from + 2)
    // Another boundary may start with this one.
    if (!isAtStart || (!isLast && !isPadding(bytes, from))) {
      if (++others % LOOK_ALIKES === 0) yield null
      continue
    }
    const newline = bytes.indexOf(LF, from)
    const lineEnd = newline < 0 ? bytes.length : newline
    if (start >= 0) yield bytes.subarray(start, Math.max(withoutLineEnd(bytes, at), start))
    if (isLast && inner.open-- <= 0) return
    from = Math.min(lineEnd + 1, bytes.length)
    start = isLast ? -1 : from
  }
  if (start >= 0) yield bytes.subarray(start)
}

const LONGEST_PADDING = 1_000

/** Whether only blanks follow on the line, or in its part that is read. */
function isPadding(bytes: Buffer, from: number): boolean {
  for (let at = from; at < bytes.length && at < from + LONGEST_PADDING; at++) {
    const byte = bytes[at]
    if (byte === LF) return true
    if (byte !== 32 && byte !== 9 && byte !== CR) return false
  }
  return true
}

/** The line end before a delimiter belongs to the delimiter. RFC 2046 §5.1.1 */
function withoutLineEnd(bytes: Buffer, at: number): number {
  if (at > 0 && bytes[at - 1] === LF) return bytes[at - 2] === CR ? at - 2 : at - 1
  return at
}

/** The first line that starts with `--` and is followed by the start of a part, for multiparts whose boundary parameter
 *  is missing or damaged. */
function guessedBoundary(body: Uint8Array): string | null {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 4_000)).toString('latin1')
  return /^--([!-~]{1,70})[ \t]{0,70}\r?\n(?:\r?\n|Content-)/im.exec(start)?.[1] ?? null
}
