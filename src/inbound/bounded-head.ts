import { type FieldRange, rangesOf, without } from '../mail/field-ranges.ts'

/** What mailauth may look at of one mail. It has no limits of its own, and some of its steps take a time that grows with the
 *  square of what it is given. The figures are the time of one thread of 2026 for the worst mail within the limit. */
export const HEAD_LIMITS = {
  /** Each is a lookup and an RSA operation; those behind are left out. */
  signatures: 20,
  /** h= names of one signature or seal, each of which is looked for among all fields: 20 × 150 × 2,000 take 25 ms. Mails
   *  from the wild have at most some 60; a signature with more is left out. */
  signedNames: 150,
  /** A header with more fields is cut to its From. Mails from the wild have at most some hundred. */
  fields: 2_000,
  /** As above, in lines: a list of a thousand recipients is folded to as many. */
  lines: 5_000,
  /** Of one field: lines are joined one by one, 2,000 in 8 ms, 5,000 in 50. */
  linesInField: 2_000,
  bytes: 1_048_576,
  /** All From fields together; with more, the author counts as unclear. A quarter of a megabyte of colons took 480 ms. */
  fromBytes: 16_384,
  /** Blanks are stripped in a time that grows with the square of their number: 20 fields with 45,000 each took 43 s. A
   *  signature or seal with more in a row is left out. */
  blanksInRow: 256,
  /** In one signature or seal, and behind one @ of From: A-labels of a name take a time that grows with the square of its
   *  length, and mailauth makes them several times. Twenty names of 900 characters took 270 ms. Names have at most 253. */
  foreignBytes: 768,
  authorNameBytes: 512,
}

/** Raw mail → what mailauth may look at within HEAD_LIMITS; `isCut` when that is the From fields alone. Signatures of such a
 *  mail are not verified, SPF and DMARC are. Linear in the header, never throws. */
export function bounded(raw: Uint8Array): { raw: Buffer; isCut: boolean } {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const bodyAt = bodyWithin(bytes)
  const from = rangesOf(bytes, 'from')
  const fromBytes = from.reduce((sum, { start, end }) => sum + end - start, 0)
  if (
    from.some(
      ({ start, end }) => end - start <= HEAD_LIMITS.fromBytes && LONG_NAME.test(bytes.toString('latin1', start, end)),
    )
  )
    return { raw: Buffer.from('\r\n'), isCut: true }
  if (bodyAt === null || fromBytes > HEAD_LIMITS.fromBytes)
    return { raw: fromFieldsOf(bytes, from, fromBytes), isCut: true }
  const signatures = rangesOf(bytes, 'dkim-signature')
  const dropped = [
    ...signatures.slice(HEAD_LIMITS.signatures),
    ...[...signatures.slice(0, HEAD_LIMITS.signatures), ...SEALS.flatMap((key) => rangesOf(bytes, key))].filter(
      (field) => isExcessive(bytes, field),
    ),
  ]
  dropped.sort((a, b) => a.start - b.start)
  const left = without(bytes, dropped)
  return { raw: Buffer.from(left.buffer, left.byteOffset, left.byteLength), isCut: false }
}

const [TAB, LF, CR, SPACE, COLON] = [9, 10, 13, 32, 58]
const LONG_BLANK = new RegExp(`[ \\t\\r\\n]{${HEAD_LIMITS.blanksInRow + 1}}`)
const LONG_NAME = new RegExp(`@[^\\s<>(),;:"@]{${HEAD_LIMITS.authorNameBytes + 1}}`)
const SEALS = ['arc-seal', 'arc-message-signature', 'arc-authentication-results']

/** Where the body begins; null when that is beyond the limits. */
function bodyWithin(bytes: Buffer): number | null {
  const { lines: mostLines, bytes: mostBytes, fields: mostFields, linesInField } = HEAD_LIMITS
  let lines = 0
  let fields = 0
  let inField = 0
  for (let at = 0; lines <= mostLines && at <= mostBytes; lines++) {
    const newline = bytes.indexOf(LF, at)
    if (newline === at || (newline === at + 1 && bytes[at] === CR)) return newline + 1
    const isContinued = bytes[at] === SPACE || bytes[at] === TAB
    if (!isContinued) fields++
    inField = isContinued ? inField + 1 : 1
    if (fields > mostFields || inField > linesInField) return null
    if (newline < 0) return bytes.length
    at = newline + 1
  }
  return null
}

/** Names of h= are told apart by colons, of which other tags have next to none. */
function isExcessive(bytes: Buffer, { start, end }: FieldRange): boolean {
  let colons = 0
  let foreign = 0
  for (let at = start; at < end; at++) {
    if (bytes[at] === COLON) colons++
    else if (bytes[at]! > 0x7f) foreign++
  }
  if (foreign > HEAD_LIMITS.foreignBytes) return true
  return colons > HEAD_LIMITS.signedNames || LONG_BLANK.test(bytes.toString('latin1', start, end))
}

function fromFieldsOf(bytes: Buffer, from: readonly FieldRange[], fromBytes: number): Buffer {
  const none = Buffer.from('\r\n')
  if (fromBytes > HEAD_LIMITS.fromBytes || from.length > HEAD_LIMITS.fields) return none
  const head = Buffer.concat([...from.map(({ start, end }) => bytes.subarray(start, end)), none])
  return head.filter((byte) => byte === LF).length > HEAD_LIMITS.linesInField ? none : head
}
