import { decodeCharset } from './charset.ts'

/** Header value → the same with its encoded words decoded: B and Q in any charset the platform knows, white space between
 *  neighbours dropped, a character cut between two words of one charset made whole. Words in an unknown charset, and what
 *  only looks like one, stay as they are. Control characters that were hidden in a word become a space, so that
 *  no value gains a line end. Linear, never throws. RFC 2047 §4, §6.2, RFC 2231 §5. */
export function decodeWords(value: string): string {
  if (!value.includes('=?')) return value
  let decoded = ''
  let run: Run | null = null
  let end = 0 // of what is read
  for (const word of value.matchAll(WORD)) {
    const between = value.slice(end, word.index)
    const charset = word[1]!.replace(/\*.*$/s, '').toLowerCase()
    const bytes = /b/i.test(word[2]!) ? Buffer.from(word[3]!, 'base64') : bytesOfQ(word[3]!)
    const isNeighbour = run !== null && between.trim() === ''
    if (run !== null && isNeighbour && run.charset === charset) {
      run.bytes.push(bytes)
      run.written += between + word[0]
    } else {
      const before: string | null = run === null ? '' : textOf(run)
      decoded += before ?? run!.written
      if (!isNeighbour || before === null) decoded += between
      run = { charset, bytes: [bytes], written: word[0] }
    }
    end = word.index + word[0].length
  }
  if (run !== null) decoded += textOf(run) ?? run.written
  return decoded + value.slice(end)
}

/** Neighbours of one charset: their bytes make sense only together. */
interface Run {
  charset: string
  bytes: Uint8Array[]
  /** As it stood, should the charset be unknown. */
  written: string
}

// Wider than the RFC, which has no spaces within a word and at most 75 characters: both are seen in the wild.
const WORD = /=\?([^?\s]{1,60})\?([bq])\?([^?\r\n]*)\?=/gi

function textOf(run: Run): string | null {
  return decodeCharset(Buffer.concat(run.bytes), run.charset)?.replace(/[\x00-\x1f\x7f]+/g, ' ') ?? null
}

function bytesOfQ(text: string): Uint8Array {
  const plain = text
    .replace(/_/g, ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(plain, 'latin1')
}
