/** Words of texts and queries, reduced so that the forms of a word are equal. English only, as the manual. */

/** Text → the stems of its words, in order. A name such as `rate_limited` is two words. */
export function stemsOf(text: string): string[] {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map(stemOf)
}

const known = new Map<string, string>()

/** `bouncing`, `bounces`, `bounced` → `bounc`. Endings only: `delivery` and `deliver` stay different. */
export function stemOf(word: string): string {
  const before = known.get(word)
  if (before !== undefined) return before
  const stem = reduced(word)
  known.set(word, stem)
  return stem
}

function reduced(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word
  const singular = singularOf(word)
  const base = singular.replace(/(?<=...)(?:ing|ed|ion|er)$/, '')
  // `stopped` is a form of `stop`, but `full` is one of `full`.
  const short = base === singular ? base : base.replace(/([bdgmnprt])\1$/, '$1')
  return short.replace(/(?<=...)e$/, '')
}

function singularOf(word: string): string {
  if (word.endsWith('ss')) return word
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (/ie[sd]$/.test(word)) return `${word.slice(0, -3)}y`
  return word.endsWith('s') ? word.slice(0, -1) : word
}

/** Words of a query that say nothing beside others. */
const FILLERS = new Set(
  'a an and are can do does for from how i in is it my not of on or the to what why with'.split(' '),
)

/** Query → its different stems, without fillers unless it has nothing else; at most eight. */
export function termsOf(query: string): string[] {
  const words = query.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const telling = words.filter((word) => !FILLERS.has(word))
  return [...new Set((telling.length > 0 ? telling : words).map(stemOf))].slice(0, 8)
}

/** What readers call things that the pages call differently; each is searched as well as the word itself. */
const SYNONYMS: Record<string, string> = {
  email: 'mail message',
  emails: 'mail message',
  throttled: 'rate limited',
  throttle: 'rate limit',
  postgres: 'postgresql',
  nextjs: 'next',
  k8s: 'container',
  kubernetes: 'container',
  docker: 'container',
  login: 'sign',
  move: 'migrate',
  moving: 'migrate',
  switch: 'migrate',
  password: 'sign',
  sso: 'single',
  cluster: 'nodes',
  optout: 'unsubscribe',
  blacklist: 'blocklist',
  gdpr: 'privacy',
  ses: 'amazon',
  cert: 'certificate',
  ssl: 'tls certificate',
  https: 'tls',
  junk: 'spam',
  agent: 'mcp',
  gmail: 'google',
  fail: 'troubleshooting',
  problem: 'troubleshooting',
}
const BY_STEM = new Map(Object.entries(SYNONYMS).map(([word, others]) => [stemOf(word), stemsOf(others)]))

/** Stem → stems that mean the same. */
export const synonymsOf = (stem: string): readonly string[] => BY_STEM.get(stem) ?? []
