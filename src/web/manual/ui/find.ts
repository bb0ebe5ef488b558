import type { SearchEntry } from '../bundle.ts'

export interface Found {
  path: string
  page: string
  heading: string
  /** Some words around the first match. */
  excerpt: string
}

const EXCERPT = 160

/** Query and index → the sections that contain every word, best first. Matches in headings count more than matches
 *  in the text. Empty for an empty query. */
export function find(query: string, index: readonly SearchEntry[]): Found[] {
  const terms = query
    .toLowerCase()
    .split(/\s+/)
    .filter((term) => term !== '')
  if (terms.length === 0) return []
  return index
    .map((entry) => ({ entry, score: scoreOf(entry, terms) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ entry: [path, page, heading, words] }) => ({ path, page, heading, excerpt: excerptOf(words, terms) }))
}

/** 0 if a term is missing. */
function scoreOf([, page, heading, words]: SearchEntry, terms: readonly string[]): number {
  const [inPage = '', inHeading = '', inWords = ''] = [page, heading, words].map((text) => text.toLowerCase())
  let score = 0
  for (const term of terms) {
    const hits = (inHeading.includes(term) ? 8 : 0) + (inPage.includes(term) ? 3 : 0) + (inWords.includes(term) ? 1 : 0)
    if (hits === 0) return 0
    score += hits
  }
  return score
}

function excerptOf(words: string, terms: readonly string[]): string {
  const lower = words.toLowerCase()
  const at = Math.min(...terms.map((term) => lower.indexOf(term)).filter((each) => each >= 0), words.length)
  const from = at === words.length ? 0 : Math.max(0, words.lastIndexOf(' ', Math.max(0, at - EXCERPT / 4)) + 1)
  const until = words.indexOf(' ', from + EXCERPT)
  const end = until < 0 ? words.length : until
  return `${from > 0 ? '… ' : ''}${words.slice(from, end)}${end < words.length ? ' …' : ''}`
}
