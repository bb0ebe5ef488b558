import { phrasesIn, type SearchTexts, wordsOfTexts } from '../search-text.ts'

/** Texts and search tokens of a message, and the code of its range (search-ranges.ts) → its tsvector, as text. Each
 *  word begins with the code, so that it is a different word in every other range, and has its position, for
 *  phrases. No word that can be typed equals a token, because of the `=`. */
export function searchVector(code: string, texts: SearchTexts, tokens: readonly string[]): string {
  return [
    ...wordsOfTexts(texts).map((word, at) => `'${code}${word}':${at + 1}`),
    ...tokens.map((token) => `'${code}=${token}'`),
  ].join(' ')
}

/** What a search asks for: words as typed, the address of a recipient (null = none), and search tokens. */
export interface SearchTerms {
  text: string | null
  to: string | null
  tokens: readonly string[]
}

/** What finds terms in one range: `whole` without the prefix, which is expensive to look for; null if nothing else
 *  remains. */
export interface RangeQuery {
  all: string
  whole: string | null
}

/** Terms → what finds them in the range of a code, as texts of tsqueries; null if no code has any. Text between spaces
 *  is a phrase, and so is an address; the last word may be a prefix. Addresses with the same words are found too. */
export function searchQuery({ text, to, tokens }: SearchTerms): ((code: string) => RangeQuery) | null {
  const phrases = text === null ? [] : phrasesIn(text)
  const last = phrases.pop()
  if (text !== null && last === undefined) return null
  if (to !== null) phrases.push(...phrasesIn(to))
  const exact = new Map(phrases.map((words) => [words.join(' '), words]))
  return (code) => {
    const phrase = (words: readonly string[]) => `(${words.map((word) => `'${code}${word}'`).join(' <-> ')})`
    const others = [...tokens.map((token) => `'${code}=${token}'`), ...[...exact.values()].map(phrase)]
    if (last === undefined) return { all: others.join(' & '), whole: null }
    const whole = last.length > 1 ? [...others, phrase(last.slice(0, -1))] : others
    const all = [...others, `${phrase(last).slice(0, -1)}:*)`].join(' & ')
    return { all, whole: whole.length > 0 ? whole.join(' & ') : null }
  }
}
