/** Rendered mail as tokens, and where two of them differ. */

/** A part of a mail that renders. */
export type Part = 'html' | 'text' | 'subject'

/** Text with signs → tokens: tags and comments, signs, words and blanks. */
export function tokensOf(text: string, part: Part): string[] {
  const tokens: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = part === 'html' && text[at] === '<' ? tagEnd(text, at) : at
    if (end > at) tokens.push(text.slice(at, end))
    const next = part === 'html' ? text.indexOf('<', end) : -1
    const stop = end === at && text[at] === '<' && part === 'html' ? at + 1 : next === -1 ? text.length : next
    tokens.push(...text.slice(end, stop).split(BETWEEN).filter(Boolean))
    at = stop
  }
  return tokens
}

/** Around signs, between words and blanks, and around line ends. */
const BETWEEN = /(?=\uE000)|(?<=\uE001)|(?<=\s)(?=\S)|(?<=\S)(?=\s)|(?<=\n)(?=[^\n])|(?<=[^\n])(?=\n)/

/** Position after the tag or comment that starts at `at`; `at` if it does not end. */
function tagEnd(text: string, at: number): number {
  const close = text.startsWith('<!--', at) ? '-->' : '>'
  const end = text.indexOf(close, at)
  return end === -1 ? at : end + close.length
}

/** Part of a list of tokens, from `start` to before `end`. */
export interface Region {
  start: number
  end: number
}

/** Where `one` differs from `other`: the shortest region of `one` outside of which they are equal; null if they are
 *  equal. If one of them only lacks tokens, several regions fit; this is one with whole elements if there is any. */
export function difference(one: readonly string[], other: readonly string[], part: Part): Region | null {
  const { prefix, suffix } = common(one, other)
  if (prefix + suffix >= one.length && one.length === other.length) return null
  const region = { start: prefix, end: one.length - suffix }
  const there = { start: prefix, end: other.length - suffix }
  if (region.start === region.end) {
    const { start } = slides(other, there).find((each) => isWhole(other, each, part)) ?? there
    return { start, end: start }
  }
  if (there.start < there.end) return region
  return slides(one, region).find((each) => isWhole(one, each, part)) ?? region
}

/** Numbers of equal tokens at both ends, each token counted once. */
export function common(one: readonly string[], other: readonly string[]): { prefix: number; suffix: number } {
  const most = Math.min(one.length, other.length)
  let prefix = 0
  while (prefix < most && one[prefix] === other[prefix]) prefix++
  let suffix = 0
  while (suffix < most - prefix && one.at(-1 - suffix) === other.at(-1 - suffix)) suffix++
  return { prefix, suffix }
}

/** The regions whose removal gives the same tokens, leftmost first. */
export function slides(tokens: readonly string[], { start, end }: Region): Region[] {
  let [from, to] = [start, end]
  while (from > 0 && from < to && tokens[from - 1] === tokens[to - 1]) {
    from--
    to--
  }
  const found = [{ start: from, end: to }]
  while (from < to && to < tokens.length && tokens[from] === tokens[to]) found.push({ start: ++from, end: ++to })
  return found
}

/** True for HTML with an end for each start, and for text that is whole paragraphs with the blank lines before. */
export function isWhole(tokens: readonly string[], { start, end }: Region, part: Part): boolean {
  if (part !== 'html') return tokens[start]?.startsWith('\n') === true && tokens[end - 1]?.startsWith('\n') === false
  let depth = 0
  for (let at = start; at < end; at++) {
    const token = tokens[at]!
    if (/^<\/[a-z]/i.test(token)) depth--
    else if (/^<[a-z]/i.test(token) && !token.endsWith('/>') && !VOID.test(token)) depth++
    if (depth < 0) return false
  }
  return depth === 0
}

const VOID = /^<(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b/i
