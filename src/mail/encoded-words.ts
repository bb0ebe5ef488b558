import { decodeCharset } from './charset.ts'

/** Header value → the same with encoded words decoded: B and Q in any charset that decodeCharset reads, white space between neighbours
 *  removed, characters and base64 groups split across words of one charset joined. Words that it cannot
 *  read and lookalikes stay unchanged. Control characters hidden in a word become a space, so that no value gains a line end.
 *  Words beyond the budget stay unchanged. Linear, never throws. RFC 2047 §4, §6.2, RFC 2231 §5 */
export function decodeWords(value: string, budget: WordBudget = { left: Number.POSITIVE_INFINITY }): string {
  if (!value.includes('=?')) return value
  let decoded = ''
  let run: Run = { charset: '', pieces: [], source: '' } // none yet
  let end = 0 // end of the processed part
  for (const word of value.matchAll(WORD)) {
    if (--budget.left < 0) break
    const [whole, label = '', encoding = '', text = ''] = word
    const charset = label.replace(/\*.*$/s, '').toLowerCase()
    const piece = { isBase64: /b/i.test(encoding), text }
    const between = value.slice(end, word.index)
    const isAdjacent = run.pieces.length > 0 && between.trim() === ''
    if (isAdjacent && run.charset === charset) {
      run.pieces.push(piece)
      run.source += between + whole
    } else {
      decoded += textOf(run) + (isAdjacent ? '' : between)
      run = { charset, pieces: [piece], source: whole }
    }
    end = word.index + whole.length
  }
  return decoded + textOf(run) + value.slice(end)
}

/** Remaining encoded words to decode in one mail; below 0 when it has more. */
export interface WordBudget {
  left: number
}

/** Adjacent words of one charset, whose bytes must be decoded together. */
interface Run {
  charset: string
  pieces: { isBase64: boolean; text: string }[]
  /** The words as they stand in the value. */
  source: string
}

// Wider than the RFC, which forbids spaces and question marks inside a word and more than 75 characters: all occur.
const WORD = /=\?([^?\s]{1,60})\?([bq])\?([^?\r\n]*(?:\?(?!=)[^?\r\n]*){0,3})\?=/gi

function textOf(run: Run): string {
  if (run.pieces.length === 0) return ''
  return (decodeCharset(bytesOf(run), run.charset) ?? run.source).replace(/[\x00-\x1f\x7f]+/g, ' ')
}

/** base64 that ends inside a group of four continues in the next word. */
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
