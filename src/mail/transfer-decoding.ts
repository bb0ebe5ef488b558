/** base64 with line ends, in any alphabet that is seen → bytes; what is no base64 in it is passed over. RFC 2045 §6.8. */
export function bytesOfBase64(encoded: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength).toString('latin1'), 'base64')
}

/** Quoted-printable → bytes: soft line breaks go, with or without blanks behind the `=`; an `=` that escapes nothing
 *  stays. RFC 2045 §6.7. */
export function bytesOfQuotedPrintable(encoded: Uint8Array): Uint8Array {
  const decoded = Buffer.allocUnsafe(encoded.length)
  let end = 0
  for (let at = 0; at < encoded.length; at++) {
    const byte = encoded[at]!
    if (byte !== EQUALS) {
      decoded[end++] = byte
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
  }
  return decoded.subarray(0, end)
}

const [LF, CR, SPACE, TAB, EQUALS] = [10, 13, 32, 9, 61]
const MOST_BLANKS = 80 // a line has 76 characters; the bound keeps this linear
const HEX = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte | 32)))
for (let byte = 16; byte < 32; byte++) HEX[byte] = -1 // `| 32` folds control characters on digits, too

/** Offset behind blanks and a line end; -1 when something else follows. The end of the text is a line end. */
function softBreakEnd(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < from + MOST_BLANKS && (bytes[at] === SPACE || bytes[at] === TAB)) at++
  if (at === bytes.length) return at
  if (bytes[at] === CR) at++
  return bytes[at] === LF ? at + 1 : -1
}
