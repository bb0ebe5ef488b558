import { decodeCharset } from './charset.ts'

/** Header value → the same with encoded words decoded: B and Q in any charset that decodeCharset reads, white space between
 *  neighbours removed, characters and base64 groups split across words of one charset joined. Words that it cannot read
 *  stay unchanged, with the white space around them, and so do lookalikes. Control characters hidden in a word become a
 *  space, so that no value gains a line end. Words beyond the budget stay unchanged. Linear, never throws. RFC 2047 §4,
 *  §6.2, RFC 2231 §5 */
export function decodeWords(value: string, budget: WordBudget = { left: Number.POSITIVE_INFINITY }): string {
  if (!value.includes('=?')) return value
  let decoded = ''
  let run = null as Run | null // assigned in the loop, which the compiler does not follow
  let end = 0 // end of the processed part
  let isRead = false // whether the last run was
  const close = ({ before, source, ...words }: Run) => {
    const text = textOf(words)
    const isJoined = isRead && text !== null && before.trim() === ''
    decoded += (isJoined ? '' : before) + (text ?? source)
    isRead = text !== null
  }
  for (const word of value.matchAll(WORD)) {
    if (--budget.left < 0) break
    const [whole, label = '', encoding = '', text = ''] = word
    const charset = label.replace(/\*.*$/s, '').toLowerCase()
    const piece = { isBase64: /b/i.test(encoding), text }
    const before = value.slice(end, word.index)
    if (run?.charset === charset && before.trim() === '') {
      run.pieces.push(piece)
      run.source += before + whole
    } else {
      if (run !== null) close(run)
      run = { before, charset, pieces: [piece], source: whole }
    }
    end = word.index + whole.length
  }
  if (run !== null) close(run)
  return decoded + value.slice(end)
}

/** Remaining encoded words to decode in one mail; below 0 when it has more. */
export interface WordBudget {
  left: number
}

/** Words of one charset, whose bytes must be decoded together. */
interface Words {
  charset: string
  pieces: { isBase64: boolean; text: string }[]
}

/** Adjacent words, as they stand in the value, and what precedes them behind the words before. */
interface Run extends Words {
  before: string
  source: string
}

// Wider than the RFC, which forbids spaces and question marks inside a word and more than 75 characters: all occur.
const WORD = /=\?([^?\s]{1,60})\?([bq])\?([^?\r\n]*(?:\?(?!=)[^?\r\n]*){0,3})\?=/gi

/** Null if nothing reads the charset. */
function textOf(words: Words): string | null {
  return decodeCharset(bytesOf(words), words.charset)?.replace(/[\x00-\x1f\x7f]+/g, ' ') ?? null
}

/** base64 that ends inside a group of four continues in the next word. */
function bytesOf({ pieces }: Words): Uint8Array {
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
