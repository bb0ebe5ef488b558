import { decodeCharset, isCharset } from './charset.ts'

/** Header value → the same with its encoded words decoded: B and Q in any charset the platform knows, white space between
 *  neighbours dropped, a character or a group of base64 cut between two words of one charset made whole. Words in an unknown charset, and what
 *  only looks like one, stay as they are. Control characters that were hidden in a word become a space, so that
 *  no value gains a line end. Words beyond the budget stay as they are. Linear, never throws. RFC 2047 §4, §6.2,
 *  RFC 2231 §5. */
export function decodeWords(value: string, budget: WordBudget = { left: Number.POSITIVE_INFINITY }): string {
  if (!value.includes('=?')) return value
  let decoded = ''
  let run: Run | null = null
  let end = 0 // of what is read
  for (const word of value.matchAll(WORD)) {
    if (--budget.left < 0) break
    const charset = word[1]!.replace(/\*.*$/s, '').toLowerCase()
    if (!isCharset(charset)) continue // unknown: it stays with the text around it
    const piece = { isBase64: /b/i.test(word[2]!), text: word[3]! }
    const between = value.slice(end, word.index)
    const isNeighbour = run !== null && between.trim() === ''
    if (isNeighbour && run!.charset === charset) {
      run!.pieces.push(piece)
    } else {
      decoded += textOf(run) + (isNeighbour ? '' : between)
      run = { charset, pieces: [piece] }
    }
    end = word.index + word[0].length
  }
  return decoded + textOf(run) + value.slice(end)
}

/** How many encoded words are decoded of one mail; below 0 when it has more. */
export interface WordBudget {
  left: number
}

/** Neighbours of one charset: their bytes make sense only together. */
interface Run {
  charset: string
  pieces: { isBase64: boolean; text: string }[]
}

// Wider than the RFC, which has no spaces or question marks within a word and at most 75 characters: all are seen.
const WORD = /=\?([^?\s]{1,60})\?([bq])\?([^?\r\n]*(?:\?(?!=)[^?\r\n]*){0,3})\?=/gi

function textOf(run: Run | null): string {
  if (run === null) return ''
  return (decodeCharset(bytesOf(run), run.charset) ?? '').replace(/[\x00-\x1f\x7f]+/g, ' ')
}

/** base64 that ends within a group of four goes on in the next word. */
function bytesOf({ pieces }: Run): Uint8Array {
  const bytes: Uint8Array[] = []
  let open: string[] = []
  let length = 0
  const close = () => {
    if (open.length > 0) bytes.push(Buffer.from(open.join(''), 'base64'))
    open = []
    length = 0
  }
  for (const { isBase64, text } of pieces) {
    if (!isBase64) {
      close()
      bytes.push(bytesOfQ(text))
      continue
    }
    open.push(text)
    length += text.length
    if (length % 4 === 0 || text.endsWith('=')) close()
  }
  close()
  return Buffer.concat(bytes)
}

function bytesOfQ(text: string): Uint8Array {
  const plain = text
    .replace(/_/g, ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(plain, 'latin1')
}
