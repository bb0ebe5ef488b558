import { WORD } from './search-tokens.ts'

/** What the full text contains of a message. */
export interface SearchTexts {
  subject: string
  sender: string
  emails: readonly string[]
}

/** Longest part of a word that counts, in UTF-16 code units: PostgreSQL takes lexemes of at most 2 KB. */
const WORD_MAX = 255

/** Texts of a message → its words in order, as wordsIn. */
export const wordsOfTexts = ({ subject, sender, emails }: SearchTexts): string[] =>
  wordsIn(`${subject} ${sender} ${emails.join(' ')}`)

/** Text as typed → the words between its spaces, which must follow each other; none for what has no word. */
export const phrasesIn = (text: string): string[][] =>
  text
    .split(/[\s\0]+/)
    .map(wordsIn)
    .filter((words) => words.length > 0)

/** Text → its words in order, without case and diacritics. */
export function wordsIn(text: string): string[] {
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
