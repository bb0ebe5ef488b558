import { WORD } from '../search-tokens.ts'

/** What the full text contains of a message. */
export interface SearchTexts {
  subject: string
  sender: string
  emails: readonly string[]
}

/** Longest part of a word that counts, in UTF-16 code units: PostgreSQL takes lexemes of at most 2 KB. */
const WORD_MAX = 255

/** Texts and search tokens of a message, and the code of its range (search-ranges.ts) → its tsvector, as text. Each
 *  word begins with the code, so that it is a different word in every other range, and has its position, for
 *  phrases. No word that can be typed equals a token, because of the `=`. */
export function searchVector(
  code: string,
  { subject, sender, emails }: SearchTexts,
  tokens: readonly string[],
): string {
  const words = wordsIn(`${subject} ${sender} ${emails.join(' ')}`)
  return [
    ...words.map((word, at) => `'${code}${word}':${at + 1}`),
    ...tokens.map((token) => `'${code}=${token}'`),
  ].join(' ')
}

/** Words as typed (null = none) and search tokens → what finds them in the ranges of these codes; null if the words
 *  find nothing. Text between spaces is a phrase; the last word may be a prefix. */
export function searchQuery(codes: readonly string[], text: string | null, tokens: readonly string[]): string | null {
  const phrases = text === null ? [] : phrasesIn(text)
  if (text !== null && phrases.length === 0) return null
  const last = phrases.at(-1)?.join(' ')
  const others = new Map(phrases.slice(0, -1).map((words) => [words.join(' '), words]))
  const inRange = (code: string) => {
    const exact = [...others.values()].map((words) => `(${words.map((word) => `'${code}${word}'`).join(' <-> ')})`)
    const begun =
      last === undefined
        ? []
        : [
            `(${last
              .split(' ')
              .map((word) => `'${code}${word}'`)
              .join(' <-> ')}:*)`,
          ]
    return [...tokens.map((token) => `'${code}=${token}'`), ...exact, ...begun].join(' & ')
  }
  return codes.map((code) => `(${inRange(code)})`).join(' | ')
}

const phrasesIn = (text: string) =>
  text
    .split(/[\s\0]+/)
    .map(wordsIn)
    .filter((words) => words.length > 0)

/** Text → its words in order, without case and diacritics, as FTS5 compares them. */
function wordsIn(text: string): string[] {
  const lower = text.toLowerCase()
  return (ASCII.test(lower) ? lower : folded(lower)).match(WORD)?.map(cut) ?? []
}

const ASCII = /^[\0-\x7f]*$/

const folded = (lower: string) =>
  lower
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replaceAll('ς', 'σ')

const cut = (word: string) => (word.length > WORD_MAX ? word.slice(0, WORD_MAX).toWellFormed() : word)

/** Subject → how a list compares it, without case; null if PostgreSQL's lower() does the same, which folds ASCII only. */
export function foldedSubject(subject: string): string | null {
  return ASCII.test(subject) ? null : subject.toLowerCase()
}
