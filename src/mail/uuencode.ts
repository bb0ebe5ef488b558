import { guessed } from './charset.ts'

/** Text with a uuencoded file → the first such file; null if none. It ends at `end` or with the text. Linear, never
 *  throws. POSIX.1-2024, uuencode */
export function bytesOfUuencoded(encoded: Uint8Array): Uint8Array | null {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
  const begin = beginOf(bytes)
  if (begin === null) return null
  const content = Buffer.allocUnsafe(bytes.length)
  let size = 0
  for (let at = begin.end; at < bytes.length; ) {
    const next = lineAfter(bytes, at)
    if (isEnd(bytes, at)) break
    size = decodeLine(bytes, at, next, content, size)
    at = next
  }
  return content.subarray(0, size)
}

/** Name of that file; null if none. */
export function nameOfUuencoded(encoded: Uint8Array): string | null {
  return beginOf(Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength))?.name ?? null
}

/** A part of such a text: a file from its `begin` line to its `end` line, or the text around files (name null). */
export interface UuencodedPiece {
  name: string | null
  content: Uint8Array
}

/** All pieces, in order, without empty ones. A file also ends before the next `begin` line. Linear, never throws. */
export function* piecesOfUuencoded(encoded: Uint8Array): Generator<UuencodedPiece> {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
  for (let at = 0; at < bytes.length; ) {
    const begin = beginOf(bytes, at)
    const start = begin?.start ?? bytes.length
    if (start > at) yield { name: null, content: bytes.subarray(at, start) }
    if (begin === null) return
    at = endOfFile(bytes, begin.end)
    yield { name: begin.name, content: bytes.subarray(start, at) }
  }
}

function endOfFile(bytes: Buffer, from: number): number {
  let tries = MAX_BEGINS
  for (let at = from; at < bytes.length; ) {
    if (bytes[at] === B && tries-- > 0 && beginAt(bytes, at) !== null) return at
    const next = lineAfter(bytes, at)
    if (isEnd(bytes, at)) return next
    at = next
  }
  return bytes.length
}

const [LF, B, E] = [10, 98, 101]

/** Byte by byte: lines are short, and a native search per line takes longer. */
function lineAfter(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== LF) at++
  return Math.min(at + 1, bytes.length)
}

const LONGEST_BEGIN = 400
const MAX_BEGINS = 100 // words at the start of a line; keeps this linear

/** The line `begin 644 name`, and its end. */
function beginOf(bytes: Buffer, from = 0): Begin | null {
  let at = from
  for (let tries = 0; tries < MAX_BEGINS; tries++) {
    const begin = beginAt(bytes, at)
    if (begin !== null) return begin
    const before = bytes.indexOf('\nbegin ', at)
    if (before < 0) return null
    at = before + 1
  }
  return null
}

interface Begin {
  name: string
  start: number
  end: number
}

function beginAt(bytes: Buffer, at: number): Begin | null {
  const line = /^begin [0-7]{3,4} ([^\r\n]{1,380})\r?\n/.exec(bytes.toString('latin1', at, at + LONGEST_BEGIN))
  if (line === null) return null
  return {
    name: guessed(Buffer.from(line[1] ?? '', 'latin1')).trim(),
    start: at,
    end: at + line[0].length,
  }
}

function isEnd(bytes: Buffer, at: number): boolean {
  if (bytes[at] !== E) return false // most lines: the pattern takes ten times as long
  return /^end[ \t]{0,20}(?:\r?\n|\r?$)/.test(bytes.toString('latin1', at, at + 26))
}

/** Returns the end of the decoded bytes. The first character gives their number, which never exceeds the line's
 *  length. */
function decodeLine(bytes: Buffer, from: number, next: number, into: Buffer, start: number): number {
  const length = Math.min(sixBits(bytes[from]), next - from)
  let end = start
  for (let at = from + 1; end < start + length; at += 4) {
    const a = at < next ? sixBits(bytes[at]) : 0
    const b = at + 1 < next ? sixBits(bytes[at + 1]) : 0
    const c = at + 2 < next ? sixBits(bytes[at + 2]) : 0
    const d = at + 3 < next ? sixBits(bytes[at + 3]) : 0
    into[end++] = (a << 2) | (b >> 4)
    if (end < start + length) into[end++] = ((b & 15) << 4) | (c >> 2)
    if (end < start + length) into[end++] = ((c & 3) << 6) | d
  }
  return end
}

/** A line end stands for trimmed blanks. */
const sixBits = (byte = 0) => (byte < 32 ? 0 : (byte - 32) & 63)
