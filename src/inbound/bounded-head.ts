import { rangesOf, without } from '../mail/field-ranges.ts'

/** Raw mail → what mailauth may look at; `isCut` when that is the From fields alone. It has no limits of its own:
 *  - each signature is a lookup and an RSA operation, so those behind the first 20 are left out;
 *  - it strips blanks in a time that grows with the square of their number, so signatures and seals that hold more than 256
 *    in a row are left out (20 with 45,000 each took 43 s);
 *  - it joins header lines in such a time too, so of a header beyond measure only From is left: a quarter of a million
 *    one-byte continuations would hold a processor for minutes. Signatures of such a mail are not verified, SPF and
 *    DMARC are. */
export function bounded(raw: Uint8Array): { raw: Buffer; isCut: boolean } {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const bodyAt = bodyWithin(bytes)
  if (bodyAt === null) return { raw: fromFieldsOf(bytes), isCut: true }
  const signatures = rangesOf(bytes, 'dkim-signature')
  const dropped = signatures.slice(MOST_SIGNATURES)
  if (LONG_BLANK.test(bytes.toString('latin1', 0, bodyAt))) dropped.push(...blankOnes(bytes, signatures))
  dropped.sort((a, b) => a.start - b.start)
  const left = without(bytes, dropped)
  return { raw: Buffer.from(left.buffer, left.byteOffset, left.byteLength), isCut: false }
}

const [LF, CR] = [10, 13]
const MOST_SIGNATURES = 20
const LONG_BLANK = /[ \t\r\n]{257}/
const MOST_LINES = 5_000 // mails from the wild have some hundred
const MOST_BYTES = 1_048_576
const SEALS = ['arc-seal', 'arc-message-signature', 'arc-authentication-results']

/** Where the body begins; null when that is too far down. */
function bodyWithin(bytes: Buffer): number | null {
  let lines = 0
  for (let at = 0; lines <= MOST_LINES && at <= MOST_BYTES; lines++) {
    const newline = bytes.indexOf(LF, at)
    if (newline < 0) return bytes.length
    if (newline === at || (newline === at + 1 && bytes[at] === CR)) return newline + 1
    at = newline + 1
  }
  return null
}

function blankOnes(bytes: Buffer, signatures: { start: number; end: number }[]) {
  const fields = [...signatures.slice(0, MOST_SIGNATURES), ...SEALS.flatMap((key) => rangesOf(bytes, key))]
  return fields.filter(({ start, end }) => LONG_BLANK.test(bytes.toString('latin1', start, end)))
}

/** Fewer than 64 KiB of them, else none: then the author counts as unclear. */
function fromFieldsOf(bytes: Buffer): Buffer {
  const fields = rangesOf(bytes, 'from').map(({ start, end }) => bytes.subarray(start, end))
  const head = Buffer.concat([...fields, Buffer.from('\r\n')])
  return head.length > 65_536 || head.filter((byte) => byte === LF).length > MOST_LINES ? Buffer.from('\r\n') : head
}
