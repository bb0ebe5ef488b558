/** Longest line of a mail in octets, without its CR LF. RFC 5322 §2.1.1, RFC 5321 §4.5.3.1.6 */
const LONGEST_LINE = 998

/** Whether a line has more than 998 octets. Linear. */
export function hasLongLine(bytes: Uint8Array): boolean {
  return longLineFrom(asBuffer(bytes), 0) >= 0
}

/** Raw mail → the same with every line over 998 octets continued on the next line, which begins with a space, as Postfix
 *  does (`smtp_line_length_limit`), and the number of lines that were too long. In the header, the line ends before a
 *  blank of its own where it has one, so that the field keeps its value; never within a character of UTF-8. The same
 *  object if no line is too long. Linear, never throws. */
export function foldLongLines(mail: Uint8Array): { bytes: Uint8Array; folded: number } {
  const bytes = asBuffer(mail)
  let start = longLineFrom(bytes, 0)
  if (start < 0) return { bytes: mail, folded: 0 }
  const headerEnd = bytes.indexOf('\r\n\r\n')
  const pieces: Uint8Array[] = []
  let copied = 0
  let folded = 0
  for (; start >= 0; start = longLineFrom(bytes, start)) {
    const end = lineEnd(bytes, start)
    folded++
    for (let room = LONGEST_LINE; end - start > room; ) {
      const blank = headerEnd < 0 || start < headerEnd ? lastBlank(bytes, start, room) : -1
      const cut = blank > 0 ? blank : characterStart(bytes, start + room)
      pieces.push(bytes.subarray(copied, cut), blank > 0 ? LINE_END : CONTINUED)
      copied = cut
      start = cut
      room = blank > 0 ? LONGEST_LINE : LONGEST_LINE - 1
    }
    start = end
  }
  pieces.push(bytes.subarray(copied))
  return { bytes: Buffer.concat(pieces), folded }
}

/** base64 → the same with its long lines broken into lines of 76 characters; no character is lost. RFC 2045 §6.8 */
export function wrapBase64(body: Uint8Array): Uint8Array {
  const bytes = asBuffer(body)
  const pieces: Uint8Array[] = []
  let copied = 0
  for (let start = longLineFrom(bytes, 0); start >= 0; start = longLineFrom(bytes, copied)) {
    const end = lineEnd(bytes, start)
    const wrapped = bytes.toString('latin1', start, end).replace(/.{76}(?=.)/gs, '$&\r\n')
    pieces.push(bytes.subarray(copied, start), Buffer.from(wrapped, 'latin1'))
    copied = end
  }
  pieces.push(bytes.subarray(copied))
  return Buffer.concat(pieces)
}

const LINE_END = Buffer.from('\r\n')
const CONTINUED = Buffer.from('\r\n ')
const [TAB, LF, CR, SPACE, COLON] = [9, 10, 13, 32, 58]

/** Offset of the first line from `start`, a line's start or end, that is too long; -1 if none. */
function longLineFrom(bytes: Buffer, start: number): number {
  let at = start
  while (bytes.length - at > LONGEST_LINE) {
    const end = bytes.subarray(at, at + LONGEST_LINE + 2).lastIndexOf(LF)
    if (end < 0) return at
    at += end + 1
  }
  return -1
}

/** Offset of the line's CR LF or LF, or the end. */
function lineEnd(bytes: Buffer, start: number): number {
  const newline = bytes.indexOf(LF, start)
  if (newline < 0) return bytes.length
  return newline > start && bytes[newline - 1] === CR ? newline - 1 : newline
}

/** Offset of the last blank of a header line within `room` octets, with text before it; -1 if none. Not the one
 *  behind the name: some readers lose a field whose first line is empty. */
function lastBlank(bytes: Buffer, start: number, room: number): number {
  for (let at = start + room; at > start; at--) {
    const before = bytes[at - 1]
    if (isBlank(bytes[at]) && !isBlank(before) && before !== COLON) return at
  }
  return -1
}

const isBlank = (byte: number | undefined) => byte === SPACE || byte === TAB

/** `at`, or up to three octets before it where the character of UTF-8 around it starts. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at
  while (start > at - 3 && (bytes[start] ?? 0) >> 6 === 0b10) start--
  return (bytes[start] ?? 0) >> 6 === 0b10 ? at : start
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
