/** Text with a file in it, as uuencode writes it → the first such file; null when there is none. It ends with `end` or with the
 *  text. Linear, never throws. POSIX.1-2024, uuencode. */
export function bytesOfUuencoded(encoded: Uint8Array): Uint8Array | null {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
  const begin = beginOf(bytes)
  if (begin === null) return null
  const content = Buffer.allocUnsafe(bytes.length)
  let size = 0
  for (let at = begin.end; at < bytes.length; ) {
    const newline = bytes.indexOf(LF, at)
    const next = newline < 0 ? bytes.length : newline + 1
    if (isEnd(bytes, at)) break
    size = decodeLine(bytes, at, next, content, size)
    at = next
  }
  return content.subarray(0, size)
}

/** Name of that file; null when there is none. */
export function nameOfUuencoded(encoded: Uint8Array): string | null {
  return beginOf(Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength))?.name ?? null
}

const LF = 10
const LONGEST_BEGIN = 400
const MOST_BEGINS = 100 // words at the begin of a line; keeps this linear

/** The line `begin 644 name`, and what stands behind it. */
function beginOf(bytes: Buffer): { name: string; end: number } | null {
  let from = 0
  for (let tries = 0; tries < MOST_BEGINS; tries++) {
    const at = bytes.indexOf('begin ', from)
    if (at < 0) return null
    from = at + 6
    if (at > 0 && bytes[at - 1] !== LF) continue
    const line = /^begin [0-7]{3,4} ([^\r\n]{1,380})\r?\n/.exec(bytes.toString('latin1', at, at + LONGEST_BEGIN))
    const newline = bytes.indexOf(LF, from)
    if (line !== null) return { name: Buffer.from(line[1]!, 'latin1').toString().trim(), end: newline + 1 }
  }
  return null
}

function isEnd(bytes: Buffer, at: number): boolean {
  return /^end[ \t]{0,20}(?:\r?\n|\r?$)/.test(bytes.toString('latin1', at, at + 26))
}

/** → where the decoded bytes end. The first character says how many they are: never more than the line has characters. */
function decodeLine(bytes: Buffer, from: number, next: number, into: Buffer, start: number): number {
  const length = Math.min(sixBits(bytes[from]!), next - from)
  let end = start
  for (let at = from + 1; end < start + length; at += 4) {
    const a = at < next ? sixBits(bytes[at]!) : 0
    const b = at + 1 < next ? sixBits(bytes[at + 1]!) : 0
    const c = at + 2 < next ? sixBits(bytes[at + 2]!) : 0
    const d = at + 3 < next ? sixBits(bytes[at + 3]!) : 0
    into[end++] = (a << 2) | (b >> 4)
    if (end < start + length) into[end++] = ((b & 15) << 4) | (c >> 2)
    if (end < start + length) into[end++] = ((c & 3) << 6) | d
  }
  return end
}

/** A line end stands for blanks that were cut. */
const sixBits = (byte: number) => (byte < 32 ? 0 : (byte - 32) & 63)
