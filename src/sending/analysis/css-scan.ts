/** Callbacks for the contents of a style sheet or a style attribute. */
export interface CssVisitor {
  /** `property` in lower case, `value` trimmed, both without comments. */
  declaration?(property: string, value: string): void
  /** `@media`, `@import` … with the text before its block or semicolon; `name` in lower case without `@`. */
  atRule?(name: string, prelude: string): void
  selector?(text: string): void
}

/** CSS of a mail → its declarations, at-rules and selectors in order. A style attribute is scanned like the inside
 *  of a block. Reads each character a bounded number of times, builds no tree, and accepts broken CSS. Never throws.
 *  CSS Syntax Level 3 §5, without nesting */
export function scanCss(css: string, visit: CssVisitor, isInsideBlock = false): void {
  const source = css.includes('/*') ? withoutComments(css) : css
  let depth = isInsideBlock ? 1 : 0
  let from = 0
  const ahead = new Ahead(source)
  for (let at = 0; at <= source.length; at++) {
    const sign = at < source.length ? source.charCodeAt(at) : SEMICOLON
    if (sign === QUOTE || sign === APOSTROPHE || sign === OPEN_PARENTHESIS) at = ahead.endOfGroup(at, sign)
    else if (sign === OPEN_BRACE) {
      reportPrelude(source.slice(from, at).trim(), visit)
      depth++
      from = at + 1
    } else if (sign === SEMICOLON || sign === CLOSE_BRACE) {
      reportStatement(source.slice(from, at).trim(), depth, visit)
      if (sign === CLOSE_BRACE) depth = Math.max(depth - 1, 0)
      from = at + 1
    }
  }
}

const QUOTE = 34
const APOSTROPHE = 39
const OPEN_PARENTHESIS = 40
const SEMICOLON = 59
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

function withoutComments(css: string): string {
  const parts: string[] = []
  let from = 0
  for (let open = css.indexOf('/*'); open >= 0; open = css.indexOf('/*', from)) {
    parts.push(css.slice(from, open), ' ')
    const close = css.indexOf('*/', open + 2)
    from = close < 0 ? css.length : close + 2
  }
  parts.push(css.slice(from))
  return parts.join('')
}

/** Finds the next occurrences of characters. A result that is still ahead is not searched again, which keeps the
 *  scan linear. */
class Ahead {
  private readonly found = new Map<string, number>()
  constructor(private readonly css: string) {}

  next(sign: string, from: number): number {
    const known = this.found.get(sign)
    if (known !== undefined && known >= from) return known
    const at = this.css.indexOf(sign, from)
    const place = at < 0 ? Number.POSITIVE_INFINITY : at
    this.found.set(sign, place)
    return place
  }

  /** End of the string or parentheses that begin at `open`, so that their content is not read as CSS; `open` itself
   *  if they do not end on this line. */
  endOfGroup(open: number, sign: number): number {
    const close = this.next(sign === OPEN_PARENTHESIS ? ')' : String.fromCharCode(sign), open + 1)
    return close < Math.min(this.next('\n', open), this.next('{', open)) ? close : open
  }
}

function reportPrelude(prelude: string, visit: CssVisitor): void {
  if (prelude.startsWith('@')) reportAtRule(prelude, visit)
  else if (prelude !== '') visit.selector?.(prelude)
}

function reportStatement(statement: string, depth: number, visit: CssVisitor): void {
  if (statement.startsWith('@')) {
    reportAtRule(statement, visit)
    return
  }
  const colon = statement.indexOf(':')
  if (colon <= 0 || depth === 0) return
  visit.declaration?.(statement.slice(0, colon).trim().toLowerCase(), statement.slice(colon + 1).trim())
}

function reportAtRule(text: string, visit: CssVisitor): void {
  const end = text.search(/[\s("']/)
  const name = text.slice(1, end < 0 ? text.length : end).toLowerCase()
  visit.atRule?.(name, end < 0 ? '' : text.slice(end).trim())
}
