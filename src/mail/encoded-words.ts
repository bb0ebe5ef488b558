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
    const charset = word[1]!.replace(/\*.*$/s, '').toLowerCase()
    if (decodeCharset(NOTHING, charset) === null) continue // unknown: it stays with the text around it
    const bytes = /b/i.test(word[2]!) ? Buffer.from(word[3]!, 'base64') : bytesOfQ(word[3]!)
    const between = value.slice(end, word.index)
    const isNeighbour = run !== null && between.trim() === ''
    if (isNeighbour && run!.charset === charset) {
      run!.bytes.push(bytes)
    } else {
      decoded += textOf(run) + (isNeighbour ? '' : between)
      run = { charset, bytes: [bytes] }
    }
    end = word.index + word[0].length
  }
  return decoded + textOf(run) + value.slice(end)
}

/** Neighbours of one charset: their bytes make sense only together. */
interface Run {
  charset: string
  bytes: Uint8Array[]
}

const NOTHING = new Uint8Array(0)
// Wider than the RFC, which has no spaces within a word and at most 75 characters: both are seen in the wild.
const WORD = /=\?([^?\s]{1,60})\?([bq])\?([^?\r\n]*)\?=/gi

function textOf(run: Run | null): string {
  if (run === null) return ''
  return (decodeCharset(Buffer.concat(run.bytes), run.charset) ?? '').replace(/[\x00-\x1f\x7f]+/g, ' ')
}

function bytesOfQ(text: string): Uint8Array {
  const plain = text
    .replace(/_/g, ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(plain, 'latin1')
}
