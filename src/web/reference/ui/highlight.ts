import type { Language } from '../../examples/languages.ts'

export type Highlighted = Language | 'json' | 'toml' | 'plain'
export type Kind = 'text' | 'word' | 'number' | 'note' | ''

/** Longer text would need many elements. */
const MOST_CHARACTERS = 50_000

/** Words of each language that the examples use. */
const WORDS: Record<Highlighted, string> = {
  plain: '',
  json: 'true false null',
  toml: 'true false',
  curl: 'curl export if then fi for do done printf postrider sudo',
  typescript: 'import from export default async function const new await for of if return throw true false null',
  python: 'import try with as except raise for in from def return if True False None',
  php: 'if throw new function return echo use true false null',
  go: 'package import func if defer nil return',
  ruby: 'require class def do end unless abort true false nil',
}

/** Notes to the end of a line, quoted texts, of which the last may lack its end, names and numbers. */
const PARTS =
  /(?<![^\s])((?:\/\/|#).*)|("(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?|`(?:\\[\s\S]|[^`\\])*`?)|([A-Za-z_]\w*)|(\d+(?:\.\d+)?)/g
/** A shell has no escapes in single quotes. */
const PARTS_OF_SHELL = /(?<![^\s])(#.*)|("(?:\\[\s\S]|[^"\\])*"?|'[^']*'?)|([A-Za-z_]\w*)|(\d+(?:\.\d+)?)/g

/** Text → its parts with their kind: notes, quoted texts, words of the language and numbers. Text that is `plain`, and
 *  long text, stays in one part. */
export function partsOf(text: string, language: Highlighted): [kind: Kind, part: string][] {
  if (language === 'plain' || text.length > MOST_CHARACTERS) return [['', text]]
  const words = new Set(WORDS[language].split(' '))
  const parts: [kind: Kind, part: string][] = []
  let at = 0
  const found = text.matchAll(language === 'curl' ? PARTS_OF_SHELL : PARTS)
  for (const { 0: part, 1: note, 2: quoted, 3: name, index } of found) {
    if (name !== undefined && !words.has(name)) continue
    if (index > at) parts.push(['', text.slice(at, index)])
    const kind = note !== undefined ? 'note' : quoted !== undefined ? 'text' : name !== undefined ? 'word' : 'number'
    parts.push([kind, part])
    at = index + part.length
  }
  return [...parts, ['', text.slice(at)]]
}
