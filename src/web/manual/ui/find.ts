import { editDistance } from '../../../config/suggest.ts'
import type { SearchEntry } from '../search-index.ts'
import { stemsOf, synonymsOf, termsOf } from './words.ts'

/** Sections of one page that match, best first. */
export interface Found {
  page: string
  sections: { path: string; heading: string; excerpt: string }[]
}

/** What a word counts in a heading, in the title of a page, and in a text. */
const IN_HEADING = 8
const IN_TITLE = 4
const MOST_IN_TEXT = 3

/** Rows of a reference count less than prose. */
const REFERENCE = 0.4
/** A heading that has no other words than the query. */
const EXACT = 1.5
const SYNONYM = 0.8
const BEGINNING = 0.6
const TYPO = 0.5

const MOST_PAGES = 12
const MOST_SECTIONS = 4
const EXCERPT = 160

/** Word → what it counts in each entry that has it. */
type Weights = ReadonlyMap<number, number>

interface Ranked {
  at: number
  score: number
}

/** The entries of manual and API reference, by their words. */
export class SearchIndex {
  readonly #entries: readonly SearchEntry[]
  readonly #words = new Map<string, Map<number, number>>()
  readonly #headings: string[][]

  constructor(entries: readonly SearchEntry[]) {
    this.#entries = entries
    this.#headings = entries.map(([, , heading]) => termsOf(heading))
    const texts = entries.map(([, , , words]) => stemsOf(words))
    const usual = texts.reduce((sum, { length }) => sum + length, 1) / entries.length
    entries.forEach(([path, page], at) => {
      const text = texts[at] ?? []
      for (const [stem, { length: count }] of Map.groupBy(text, (each) => each)) {
        // As in BM25: a word that returns counts a little more, and in a long text less.
        this.#count(stem, at, (MOST_IN_TEXT * count) / (count + 0.4 + (0.8 * text.length) / usual))
      }
      // The title counts for the beginning of its page, and little for its other sections.
      for (const stem of new Set(stemsOf(page))) this.#count(stem, at, path.includes('#') ? 2 : IN_TITLE)
      for (const stem of new Set(this.#headings[at])) this.#count(stem, at, IN_HEADING)
    })
  }

  #count(stem: string, at: number, weight: number): void {
    const weights = this.#words.get(stem) ?? new Map<number, number>()
    this.#words.set(stem, weights)
    weights.set(at, (weights.get(at) ?? 0) + weight)
  }

  /** Query → the pages whose sections have all its words, or else those with some, best first. Empty for an empty
   *  query. */
  find(query: string): Found[] {
    const terms = termsOf(query)
    const matches = terms.map((term) => this.#matchesOf(term))
    const scores = new Map<number, { score: number; count: number }>()
    for (const match of matches) {
      const rarity = Math.log(1 + this.#entries.length / Math.max(1, match.size))
      for (const [at, weight] of match) {
        const { score, count } = scores.get(at) ?? { score: 0, count: 0 }
        scores.set(at, { score: score + weight * rarity, count: count + 1 })
      }
    }
    const most = Math.max(0, ...[...scores.values()].map(({ count }) => count))
    const ranked = [...scores]
      .filter(([, { count }]) => count === most)
      .map(([at, { score }]) => ({ at, score: score * this.#factorOf(at, matches) }))
      .sort((a, b) => b.score - a.score)
    return this.#byPage(ranked, terms)
  }

  /** Term → the entries that have it, a form of it, a synonym, a word that begins with it, or, without any of these, a
   *  word with one different letter. */
  #matchesOf(term: string): Weights {
    const matches = new Map<number, number>()
    const add = (stem: string, factor: number) => {
      for (const [at, weight] of this.#words.get(stem) ?? []) {
        matches.set(at, Math.max(matches.get(at) ?? 0, weight * factor))
      }
    }
    add(term, 1)
    for (const synonym of synonymsOf(term)) add(synonym, SYNONYM)
    if (term.length > 1) for (const stem of this.#words.keys()) if (stem.startsWith(term)) add(stem, BEGINNING)
    if (matches.size > 0 || term.length < 4) return matches
    for (const stem of this.#words.keys()) {
      if (Math.abs(stem.length - term.length) < 2 && editDistance(stem, term) === 1) add(stem, TYPO)
    }
    return matches
  }

  #factorOf(at: number, matches: readonly Weights[]): number {
    const isExact =
      (this.#headings[at]?.length ?? 0) <= matches.length && matches.every((each) => (each.get(at) ?? 0) >= IN_HEADING)
    const [path, , , , isReference] = this.#entries[at]!
    if (!isReference) return isExact ? EXACT : 1
    return isExact && path.startsWith('/docs#') ? 1 : REFERENCE
  }

  /** A page counts what its best section counts, and a part of what its others do: it is about the query. */
  #byPage(ranked: readonly Ranked[], terms: readonly string[]): Found[] {
    const pages = Map.groupBy(ranked, ({ at }) => this.#entries[at]![1])
    const scoreOf = (sections: readonly Ranked[]) =>
      sections.slice(0, MOST_SECTIONS).reduce((sum, { score }, place) => sum + score / 3 ** place, 0)
    return [...pages]
      .sort(([, a], [, b]) => scoreOf(b) - scoreOf(a))
      .slice(0, MOST_PAGES)
      .map(([page, sections]) => ({
        page,
        sections: sections.slice(0, MOST_SECTIONS).map(({ at }) => {
          const [path, , heading, words] = this.#entries[at]!
          return { path, heading, excerpt: excerptOf(words, terms) }
        }),
      }))
  }
}

/** Some words around the first match, from the beginning of a word. */
function excerptOf(words: string, terms: readonly string[]): string {
  const at = Math.max(0, firstMatch(words, terms))
  const from = Math.max(0, words.lastIndexOf(' ', Math.max(0, at - EXCERPT / 4)) + 1)
  const until = words.indexOf(' ', from + EXCERPT)
  const end = until < 0 ? words.length : until
  return `${from > 0 ? '… ' : ''}${words.slice(from, end)}${end < words.length ? ' …' : ''}`
}

function firstMatch(words: string, terms: readonly string[]): number {
  for (const { 0: word, index } of words.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (terms.includes(stemsOf(word)[0] ?? '')) return index
  }
  return -1
}
