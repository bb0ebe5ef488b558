/** The line (from 1) of each table and key in TOML text, by dotted path; the parser returns values without positions. A
 *  table of a list has its index (from 0) as step: `oidc.roles.0.value`. Keys
 *  in an inline table have no entry: use the line of the table. Invalid TOML gives the lines up to the error. Never
 *  throws. */
export function linesOfKeys(text: string): Map<string, number> {
  const lines = new Map<string, number>()
  let table: string[] = []
  const rows = new Map<string, number>()
  const lineAt = createLineCount(text)
  let at = skip(BLANK, text, 0)
  while (at < text.length) {
    const isHeader = text[at] === '['
    const end = skip(isHeader ? HEADER : KEY, text, at)
    if (end === at) break
    const parts = keyParts(text.slice(at, end))
    const isRow = text.startsWith('[[', at)
    const path = isHeader ? (isRow ? [...parts, nextRow(rows, parts)] : parts) : [...table, ...parts]
    if (isHeader) table = path
    for (const above of prefixesOf(path)) if (!lines.has(above)) lines.set(above, lineAt(at))
    at = skip(BLANK, text, isHeader ? end : endOfValue(text, end))
  }
  return lines
}

/** The index of the next table in a list of tables. */
function nextRow(rows: Map<string, number>, parts: readonly string[]): string {
  const name = parts.join('.')
  const next = rows.get(name) ?? 0
  rows.set(name, next + 1)
  return String(next)
}

const BLANK = /(?:[ \t\r\n]|#[^\n]*(?:\n|$))*/y
const HEADER = /\[(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^"'\n\]])*\]\]?/y
const KEY = /(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^"'\n=])+=/y
// An unclosed quote extends to the end: failing there would rescan the rest for every quote.
const KEY_PART = /"((?:[^"\\]|\\.?)*)"?|'([^']*)'|([\w-]+)/gs
/** A string, a comment, or one character: only brackets and line ends outside strings and comments count. */
const TOKEN = /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[\s\S]/y

/** A value ends at the first line end outside strings and brackets. */
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

/** [a, b, c] → a, a.b, a.b.c: `[a.b.c]` can also be the first mention of a. */
function prefixesOf(path: string[]): string[] {
  return path.map((_, index) => path.slice(0, index + 1).join('.'))
}

/** A function that returns the line (from 1) of ascending offsets; counts each line end once. */
function createLineCount(text: string): (at: number) => number {
  let line = 1
  let next = text.indexOf('\n')
  return (at) => {
    for (; next >= 0 && next < at; next = text.indexOf('\n', next + 1)) line++
    return line
  }
}
