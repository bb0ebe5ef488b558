/** Valid TOML text → the line (from 1) on which each table and key stands, by dotted path. The parser tells values
 *  but not where they stood. Keys inside an inline table have no entry: ask for their table's line instead.
 *  Text that is not TOML gives whatever was read up to there. Never throws. */
export function linesOfKeys(text: string): Map<string, number> {
  const lines = new Map<string, number>()
  let table: string[] = []
  const lineAt = createLineCount(text)
  let at = skip(BLANK, text, 0)
  while (at < text.length) {
    const isHeader = text[at] === '['
    const end = skip(isHeader ? HEADER : KEY, text, at)
    if (end === at) break
    const parts = keyParts(text.slice(at, end))
    const path = isHeader ? parts : [...table, ...parts]
    if (isHeader) table = parts
    for (const above of prefixesOf(path)) if (!lines.has(above)) lines.set(above, lineAt(at))
    at = skip(BLANK, text, isHeader ? end : endOfValue(text, end))
  }
  return lines
}

const BLANK = /(?:[ \t\r\n]|#[^\n]*(?:\n|$))*/y
const HEADER = /\[(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^"'\n\]])*\]\]?/y
const KEY = /(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^"'\n=])+=/y
// A quote that never closes goes to the end: were it to fail there, each one would be tried so far again.
const KEY_PART = /"((?:[^"\\]|\\.?)*)"?|'([^']*)'|([\w-]+)/gs
/** A string, a comment, or one character: what may hold a bracket or a line end, and what counts as one. */
const TOKEN = /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[\s\S]/y

/** The value that begins at `at` ends with the first line end outside of strings and brackets. */
function endOfValue(text: string, at: number): number {
  let depth = 0
  while (at < text.length) {
    const end = skip(TOKEN, text, at)
    const token = text.slice(at, end)
    if (token === '\n' && depth === 0) return at
    if (token === '[' || token === '{') depth++
    if (token === ']' || token === '}') depth--
    at = end
  }
  return at
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function keyParts(written: string): string[] {
  return [...written.matchAll(KEY_PART)].map(([, basic, literal, bare]) => basic ?? literal ?? bare ?? '')
}

/** [a, b, c] → a, a.b, a.b.c: `[a.b.c]` is also where a is first spoken of. */
function prefixesOf(path: string[]): string[] {
  return path.map((_, index) => path.slice(0, index + 1).join('.'))
}

/** Text → what gives the line (from 1) of offsets that only grow; each line end is counted once. */
function createLineCount(text: string): (at: number) => number {
  let line = 1
  let next = text.indexOf('\n')
  return (at) => {
    for (; next >= 0 && next < at; next = text.indexOf('\n', next + 1)) line++
    return line
  }
}
