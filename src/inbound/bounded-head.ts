import { rangesOf } from '../mail/authentication-results.ts'

/** Raw mail → the same; but when its header is beyond measure, a mail of its From fields alone, and `isCut`. mailauth
 *  joins header lines in a time that grows with the square of their number: a quarter of a million one-byte
 *  continuations would hold a processor for minutes. Signatures of such a mail are not verified, SPF and DMARC are. */
export function bounded(raw: Uint8Array): { raw: Buffer; isCut: boolean } {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  let lines = 0
  for (let at = 0; ; lines++) {
    if (lines > MOST_LINES || at > MOST_BYTES) return { raw: fromFieldsOf(bytes), isCut: true }
    const newline = bytes.indexOf(LF, at)
    if (newline < 0 || newline === at || (newline === at + 1 && bytes[at] === CR)) return { raw: bytes, isCut: false }
    at = newline + 1
  }
}

const [LF, CR] = [10, 13]
const MOST_LINES = 5_000 // mails from the wild have some hundred
const MOST_BYTES = 1_048_576

/** Fewer than 64 KiB of them, else none: then the author counts as unclear. */
function fromFieldsOf(bytes: Buffer): Buffer {
  const fields = rangesOf(bytes, 'from').map(({ start, end }) => bytes.subarray(start, end))
  const head = Buffer.concat([...fields, Buffer.from('\r\n')])
  return head.length > 65_536 || head.filter((byte) => byte === LF).length > MOST_LINES ? Buffer.from('\r\n') : head
}
