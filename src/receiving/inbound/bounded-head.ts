import { type FieldRange, rangesOf, without } from '../../mail/field-ranges.ts'
import { startsField } from '../../mail/header-fields.ts'

/** Limits on what authentication may process of one mail. mailauth has none of its own, and some of its steps take
 *  quadratic time. The times below are for one thread on 2026 hardware and the worst mail within the limit. */
export const HEAD_LIMITS = {
  /** Each costs a lookup and an RSA operation; further signatures are ignored. */
  signatures: 20,
  /** Bytes of the header times signatures: mailauth canonicalizes a field again for each signature, 25 ms for a
   *  megabyte of blanks. Signatures beyond this are ignored. */
  signedBytes: 1_048_576,
  /** h= names of one signature or seal. Real mail has at most about 60. A signature with more is ignored. */
  signedNames: 150,
  /** Tags or results of one signature, seal or list of results. mailauth removes empty results one by one: 180,000 took
   *  1.2 s. */
  tags: 500,
  /** A header with more fields is reduced to its From. Real mail has at most about a hundred. */
  fields: 2_000,
  /** The same limit in lines: a list of a thousand recipients folds to that many. */
  lines: 5_000,
  /** Per field. mailauth joins the lines of a seal one by one: 2,000 take 8 ms, 5,000 take 50 ms. */
  linesInField: 2_000,
  bytes: 1_048_576,
  /** All From fields together; beyond this the author is unclear. 256 KB of colons took 480 ms. */
  fromBytes: 16_384,
  /** Removing blanks takes quadratic time: 20 fields with 45,000 each took 43 s, and a megabyte of runs of 256 took 0.4
   *  s. Real mail has about ten. A signature or seal with a longer run is ignored. */
  blanksInRow: 100,
  /** Of i=; three times an address (RFC 5321 §4.5.3.1) with some folds. Names of its domain may be in quoted-printable,
   *  and 26,000 letters took 3.8 s. A signature with more is ignored. */
  identityBytes: 1_000,
  /** Limit for one signature or seal, and behind one @ of From. Converting a name to A-labels takes quadratic time, and
   *  mailauth does it several times. Names have at most 253 characters. */
  foreignBytes: 768,
  authorNameBytes: 512,
}

/** Why a header may not be read as a whole. A line that neither begins nor continues a field is malformed: readers of
 *  mail differ about it, so text in it might be shown as the body or as another field, and signed text might not. */
export type HeadFault = 'header too large' | 'malformed header'

/** Raw mail → the part that authentication may process. With a fault only its From field remains, or nothing if it has
 *  several or a large one; signatures and seals of such mail are not verified, SPF and DMARC are. Linear in the header,
 *  never throws. */
export function bounded(raw: Uint8Array): { raw: Buffer; fault: HeadFault | null } {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const from = rangesOf(bytes, 'from')
  const fromBytes = from.reduce((sum, { start, end }) => sum + end - start, 0)
  const isTooLong = ({ start, end }: FieldRange) =>
    end - start <= HEAD_LIMITS.fromBytes && LONG_NAME.test(bytes.toString('latin1', start, end))
  if (from.some(isTooLong)) return { raw: Buffer.from('\r\n'), fault: 'header too large' }
  const separator = separatorOf(bytes)
  const { fault, end } = scanned(bytes, separator.end)
  if (fromBytes > HEAD_LIMITS.fromBytes) return { raw: fromFieldOf(bytes, from), fault: 'header too large' }
  if (fault !== null) return { raw: fromFieldOf(bytes, from), fault }
  const signatures = rangesOf(bytes, 'dkim-signature')
  const most = Math.min(HEAD_LIMITS.signatures, Math.floor(HEAD_LIMITS.signedBytes / Math.max(1, end)))
  const dropped = [
    ...(separator.end > 0 ? [separator] : []),
    ...signatures.slice(most),
    ...[...signatures.slice(0, most), ...SEALS.flatMap((key) => rangesOf(bytes, key))].filter((field) =>
      isExcessive(bytes, field),
    ),
  ]
  dropped.sort((a, b) => a.start - b.start)
  const left = without(bytes, dropped)
  return { raw: Buffer.from(left.buffer, left.byteOffset, left.byteLength), fault: null }
}

const [TAB, LF, CR, SPACE, COLON, SEMICOLON] = [9, 10, 13, 32, 58, 59]
const IDENTITY = /^[ \t\r\n]*i[ \t\r\n]*=/
const LONG_NAME = new RegExp(`@[^\\s<>(),;:"@]{${HEAD_LIMITS.authorNameBytes + 1}}`)
const SEALS = ['arc-seal', 'arc-message-signature', 'arc-authentication-results']

/** `end`: the offset of the empty line, or of the line with the fault. */
function scanned(bytes: Buffer, start: number): { fault: HeadFault | null; end: number } {
  const { lines: mostLines, bytes: mostBytes, fields: mostFields, linesInField } = HEAD_LIMITS
  let lines = 0
  let fields = 0
  let inField = 0
  let at = start
  for (; lines <= mostLines && at <= mostBytes; lines++) {
    const newline = bytes.indexOf(LF, at)
    if (newline === at || (newline === at + 1 && bytes[at] === CR) || at === bytes.length)
      return { fault: null, end: at }
    const isContinued = bytes[at] === SPACE || bytes[at] === TAB
    if (isContinued ? fields === 0 : !startsField(bytes, at)) return { fault: 'malformed header', end: at }
    if (!isContinued) fields++
    inField = isContinued ? inField + 1 : 1
    if (fields > mostFields || inField > linesInField) break
    if (newline < 0) return { fault: null, end: bytes.length }
    at = newline + 1
  }
  return { fault: 'header too large', end: at }
}

/** h= names are separated by colons, which other tags hardly contain. */
function isExcessive(bytes: Buffer, { start, end }: FieldRange): boolean {
  let colons = 0
  let semicolons = 0
  let foreign = 0
  let blanks = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte === COLON) colons++
    else if (byte === SEMICOLON) semicolons++
    else if (byte > 0x7f) foreign++
    blanks = byte === SPACE || byte === TAB || byte === CR || byte === LF ? blanks + 1 : 0
    if (blanks > HEAD_LIMITS.blanksInRow) return true
  }
  if (foreign > HEAD_LIMITS.foreignBytes || semicolons > HEAD_LIMITS.tags) return true
  if (colons > HEAD_LIMITS.signedNames) return true
  const text = bytes.toString('latin1', start, end)
  const tags = text.slice(text.indexOf(':') + 1).split(';')
  return tags.some((tag) => tag.length > HEAD_LIMITS.identityBytes && IDENTITY.test(tag))
}

/** Several would be ambiguous, as readers differ about a malformed header. */
function fromFieldOf(bytes: Buffer, from: readonly FieldRange[]): Buffer {
  const none = Buffer.from('\r\n')
  const [first, ...more] = from
  if (first === undefined || more.length > 0 || first.end - first.start > HEAD_LIMITS.fromBytes) return none
  const head = Buffer.concat([bytes.subarray(first.start, first.end), none])
  return head.filter((byte) => byte === LF).length > HEAD_LIMITS.linesInField ? none : head
}

/** The line that separates mails in an mbox, which some programs send before the header; readers skip it. RFC 4155 */
function separatorOf(bytes: Buffer): FieldRange {
  const line = startsField(bytes, 0) ? null : MBOX_LINE.exec(bytes.toString('latin1', 0, 1_000))
  return { start: 0, end: line?.[0].length ?? 0 }
}

const MBOX_LINE = /^>?From [^\n]*\n(?![ \t])/
