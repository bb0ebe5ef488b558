/** base64 with line ends, in any known alphabet → bytes; invalid characters are skipped. Reads several consecutive
 *  encodings, each with its padding, but not a text behind the padding, as mailing lists append it. RFC 2045 §6.8 */
export function bytesOfBase64(encoded: Uint8Array): Uint8Array {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
  const equals = bytes.indexOf(EQUALS)
  if (equals < 0 || !hasLetters(bytes, equals)) return Buffer.from(bytes.toString('latin1'), 'base64')
  return bytesOfSeveral(bytes.subarray(0, endOfData(bytes, endOfFirst(bytes))))
}

function hasLetters(bytes: Buffer, from: number): boolean {
  for (let at = from; at < bytes.length; at++) if (VALUES[bytes[at]!]! >= 0) return true
  return false
}

/** Offset behind the first `=` that pads, or the length: one before a group or after its first letter is stray. */
function endOfFirst(bytes: Buffer): number {
  let letters = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (VALUES[byte]! >= 0) letters++
    else if (byte === EQUALS && (letters & 3) > 1) return at + 1
  }
  return bytes.length
}

/** Finds the end of the last encoding; `from` is behind a padding. A footer starts with a line that has other characters
 *  or three words, or that is a rule of dashes or underscores. Lines between the last padding and a footer count if they
 *  are whole groups. */
function endOfData(bytes: Buffer, from: number): number {
  let padded = from // behind the last padding
  let line = from
  let letters = 0 // behind the last padding
  let lettersBeforeLine = 0
  let words = 0 // of the line, behind the last padding
  let isWord = false
  let isRule = true
  for (let at = from; at <= bytes.length; at++) {
    const byte = bytes[at] ?? LF
    if (VALUES[byte]! >= 0) {
      letters++
      if (!isWord) words++
      isWord = true
      isRule &&= byte === DASH || byte === UNDERSCORE
      continue
    }
    isWord = false
    const isLineOfFooter = byte === LF ? words > 2 || (isRule && words > 0) : !BETWEEN.has(byte)
    if (isLineOfFooter) return padded > line || (lettersBeforeLine & 3) !== 0 ? padded : line
    if (byte === LF) {
      line = at + 1
      lettersBeforeLine = letters
      words = 0
      isRule = true
    } else if (byte === EQUALS && ((letters & 3) > 1 || padded === at)) {
      padded = at + 1
      letters = 0
      lettersBeforeLine = 0
      words = 0
    }
  }
  return bytes.length
}

function bytesOfSeveral(encoded: Buffer): Uint8Array {
  const decoded = Buffer.allocUnsafe(Math.ceil(encoded.length * 0.75))
  let end = 0
  let group = 0
  let count = 0 // letters in the current group
  for (let at = 0; at < encoded.length; at++) {
    const byte = encoded[at]!
    const value = VALUES[byte]!
    if (byte === EQUALS && count > 1) count = 0 // otherwise it is stray
    if (value < 0) continue
    group = ((group << 6) | value) & 0xffffff
    count = (count + 1) & 3
    if (count !== 1) decoded[end++] = (group >> OPEN_BITS[count]!) & 0xff
  }
  return decoded.subarray(0, end)
}

/** Quoted-printable → bytes: removes soft line breaks, with or without blanks behind the `=`, and blanks at line ends;
 *  an `=` that escapes nothing stays. RFC 2045 §6.7 */
export function bytesOfQuotedPrintable(encoded: Uint8Array): Uint8Array {
  const decoded = Buffer.allocUnsafe(encoded.length)
  let end = 0
  let kept = 0 // start of blanks that may end the line
  for (let at = 0; at < encoded.length; at++) {
    const byte = encoded[at]!
    if (byte !== EQUALS) {
      if (byte === LF || byte === CR) end = kept
      decoded[end++] = byte
      if (byte !== SPACE && byte !== TAB) kept = end
      continue
    }
    const high = HEX[encoded[at + 1] ?? 0]!
    const low = HEX[encoded[at + 2] ?? 0]!
    const next = softBreakEnd(encoded, at + 1)
    if (high >= 0 && low >= 0) {
      decoded[end++] = high * 16 + low
      at += 2
    } else if (next > 0) {
      at = next - 1
    } else {
      decoded[end++] = byte
    }
    kept = end
  }
  return decoded.subarray(0, kept)
}

const [LF, CR, SPACE, TAB, EQUALS, DASH, UNDERSCORE] = [10, 13, 32, 9, 61, 45, 95]
const BETWEEN = new Set([0, TAB, LF, CR, SPACE, EQUALS])
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const VALUES = Int8Array.from({ length: 256 }, (_, byte) => LETTERS.indexOf(String.fromCharCode(byte)))
VALUES[45] = 62 // `-` and `_` of RFC 4648 §5
VALUES[95] = 63
/** Bits that do not complete a byte yet, by letters in the group: 0 after the fourth, 4 after the second, 2 after the
 *  third. */
const OPEN_BITS = [0, 6, 4, 2]
const MAX_BLANKS = 80 // a line has 76 characters; the bound keeps this linear
const HEX = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte | 32)))
for (let byte = 16; byte < 32; byte++) HEX[byte] = -1 // `| 32` also maps control characters to digits

/** Offset behind blanks and a line end; -1 if anything else follows. The end of the text counts as a line end. */
function softBreakEnd(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < from + MAX_BLANKS && (bytes[at] === SPACE || bytes[at] === TAB)) at++
  if (at === bytes.length) return at
  if (bytes[at] === CR) at++
  return bytes[at] === LF ? at + 1 : -1
}
