/** A piece of a text in Mustache or Handlebars. `code` is what stands between the braces, without `~`. */
export type Token =
  | { kind: 'text'; text: string; line: number }
  | { kind: 'tag'; code: string; isRaw: boolean; trims: [before: boolean, after: boolean]; line: number }

/** Text → its pieces in order. Comments are left out. An unclosed tag is text. Linear. Never throws. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let [at, line] = [0, 1]
  const advance = (end: number) => {
    for (let next = text.indexOf('\n', at); next >= 0 && next < end; next = text.indexOf('\n', next + 1)) line++
    at = end
  }
  const take = (end: number) => {
    if (end > at) tokens.push({ kind: 'text', text: text.slice(at, end), line })
    advance(end)
  }
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    take(open)
    const closing = closingOf(text, open)
    const end = text.indexOf(closing, open + 2)
    if (end < 0) break
    const isTriple = closing === '}}}'
    const inner = text.slice(open + (isTriple ? 3 : 2), end).trim()
    const trims: [boolean, boolean] = [inner.startsWith('~'), inner.endsWith('~')]
    const code = inner.slice(Number(trims[0]), inner.length - Number(trims[1])).trim()
    const isRaw = isTriple || code.startsWith('&')
    if (!code.startsWith('!')) {
      tokens.push({ kind: 'tag', code: isTriple || !isRaw ? code : code.slice(1).trim(), isRaw, trims, line })
    }
    advance(end + closing.length)
  }
  take(text.length)
  return tokens
}

function closingOf(text: string, open: number): string {
  if (text.startsWith('{{{', open)) return '}}}'
  return text.startsWith('{{!--', open) || text.startsWith('{{~!--', open) ? '--}}' : '}}'
}
