/** A text body in wire form: 7-bit ASCII, CRLF line ends, no NUL, limited line length. */
export interface EncodedText {
  encoding: '7bit' | 'quoted-printable' | 'base64'
  body: string
}

/** Text with any line ends → body and encoding: unchanged if ASCII with lines that fit, base64 if more than about two
 *  fifths of its bytes are not ASCII, else quoted-printable. NUL is dropped, lone surrogates become U+FFFD. RFC 2045
 *  §2.7, §6 */
export function encodeText(text: string): EncodedText {
  const sizeBytes = Buffer.byteLength(text)
  if (sizeBytes === text.length) {
    const body = withCrlf(text)
    if (hasShortLines(body)) return { encoding: '7bit', body }
  }
  // UTF-8 needs one byte more than UTF-16 code units for two-byte characters and two more for longer ones, so the
  // difference gives the share of non-ASCII without a scan.
  if (sizeBytes - text.length > sizeBytes / 5) {
    return { encoding: 'base64', body: base64Text(Buffer.from(withCrlf(text))) }
  }
  return { encoding: 'quoted-printable', body: quotedPrintable(Buffer.from(text)) }
}

/** Length of the base64 of `sizeBytes` bytes in lines of 76 separated by CRLF, without a final line end. */
export function base64Length(sizeBytes: number): number {
  const chars = 4 * Math.ceil(sizeBytes / 3)
  return chars + 2 * Math.max(Math.ceil(chars / LINE) - 1, 0)
}

/** Writes `bytes` as base64 lines into `out` from `offset`; returns the next offset. RFC 2045 §6.8 */
export function writeBase64(bytes: Uint8Array, out: Buffer, offset: number): number {
  let end = offset
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    const block = bytes.subarray(start, start + BLOCK_BYTES)
    const chars = Buffer.from(Buffer.from(block.buffer, block.byteOffset, block.length).toString('base64'), 'latin1')
    for (let from = 0; from < chars.length; from += LINE) {
      if (end > offset) {
        out[end++] = CR
        out[end++] = LF
      }
      end += chars.copy(out, end, from, from + LINE)
    }
  }
  return end
}

/** UTF-8 bytes with any line ends → quoted-printable with CRLF line ends, lines within 76, without NUL. RFC 2045 §6.7. */
export function quotedPrintable(bytes: Uint8Array): string {
  const size = bytes.length
  const longest = size * 3 + Math.ceil((size * 3) / 73) * 3
  const out = longest <= scratch.length ? scratch : Buffer.allocUnsafe(longest)
  let end = 0
  let full = LINE - 1 // offset in `out` where the line has space only for the `=` of a soft break
  for (let at = 0; at < size; at++) {
    const byte = bytes[at]!
    const kind = KIND[byte]!
    if (kind === PLAIN || (kind === BLANK && at + 1 < size && KIND[bytes[at + 1]!] !== LINE_END)) {
      if (end >= full) {
        end = softBreak(out, end)
        full = end + LINE - 1
      }
      out[end++] = byte
    } else if (kind === LINE_END) {
      out[end++] = CR
      out[end++] = LF
      full = end + LINE - 1
      if (byte === CR && bytes[at + 1] === LF) at++
    } else if (byte !== 0) {
      if (end + 3 > full) {
        end = softBreak(out, end)
        full = end + LINE - 1
      }
      out[end++] = EQUALS
      out[end++] = HEX[byte >> 4]!
      out[end++] = HEX[byte & 15]!
    }
  }
  return out.toString('latin1', 0, end)
}

const LINE = 76
const LONGEST_LINE = 998 // RFC 5322 §2.1.1
const BLOCK_BYTES = 57 * 4096 // whole lines; limits the memory beside a large attachment
const CR = 13
const LF = 10
const EQUALS = 61
const HEX = Buffer.from('0123456789ABCDEF')
const [PLAIN, BLANK, LINE_END, ESCAPED] = [0, 1, 2, 3]
const KIND = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === CR || byte === LF) return LINE_END
  if (byte === 9 || byte === 32) return BLANK
  return byte > 32 && byte < 127 && byte !== EQUALS ? PLAIN : ESCAPED
})
// One buffer for ordinary mails: the encoder is synchronous, so it is never shared.
const scratch = Buffer.allocUnsafe(262_144)

function softBreak(out: Buffer, end: number): number {
  out[end] = EQUALS
  out[end + 1] = CR
  out[end + 2] = LF
  return end + 3
}

/** All line ends → CRLF, NUL dropped. Plain string replacements run in native code. */
function withCrlf(text: string): string {
  let normal = text
  if (normal.includes('\0')) normal = normal.replaceAll('\0', '')
  if (normal.includes('\r')) normal = normal.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  return normal.replaceAll('\n', '\r\n')
}

function hasShortLines(normal: string): boolean {
  for (let start = 0; normal.length - start > LONGEST_LINE; ) {
    const end = normal.lastIndexOf('\r\n', start + LONGEST_LINE)
    if (end < start) return false
    start = end + 2
  }
  return true
}

function base64Text(bytes: Buffer): string {
  const out = Buffer.allocUnsafe(base64Length(bytes.length))
  return out.toString('latin1', 0, writeBase64(bytes, out, 0))
}
