import { hidingOf, isShowing, withoutComments } from './hiding-styles.ts'

/** What the style sheets in a mail say about classes and IDs, such as `.preheader` and `#preview`. */
export interface SheetVisibility {
  /** Hidden on every screen: named by a rule outside of `@media`, alone or with an element (`td.a`). */
  hidden: ReadonlySet<string>
  /** Shown by some rule, perhaps on some screens only. Those of a selector count each. */
  shown: ReadonlySet<string>
}

/** HTML → what its style sheets say. Linear. */
export function sheetVisibility(html: string): SheetVisibility {
  const hidden = new Set<string>()
  const shown = new Set<string>()
  for (const sheet of sheetsOf(html)) {
    for (const { selectors, style, isNested } of rulesOf(withoutComments(sheet))) {
      if (isShowing(style)) for (const name of namesIn(selectors)) shown.add(name)
      if (isNested || hidingOf(style) !== 'whole') continue
      for (const selector of selectors.split(',')) {
        const found = /^\s*([a-z\d]{0,20})([.#][\w-]{1,100})\s*$/i.exec(selector)
        if (found !== null) hidden.add(`${found[1]?.toLowerCase()}${found[2]}`)
      }
    }
  }
  return { hidden, shown }
}

interface Rule {
  selectors: string
  style: string
  /** Within `@media` or another at-rule. */
  isNested: boolean
}

function* sheetsOf(html: string): Generator<string> {
  for (const pattern = /<style[^<>]{0,200}>/gi; ; ) {
    const start = pattern.exec(html)
    if (start === null) return
    const end = html.indexOf('</', pattern.lastIndex)
    if (end < 0) return
    yield html.slice(pattern.lastIndex, end)
    pattern.lastIndex = end
  }
}

function* rulesOf(sheet: string): Generator<Rule> {
  let depth = 0
  let selectors: string | null = null
  let before = ''
  for (const piece of sheet.split(/([{}])/)) {
    if (piece === '{') {
      const prelude = before.slice(before.lastIndexOf(';') + 1).replace('<!--', '')
      if (selectors !== null || prelude.includes('@')) {
        selectors = null
        depth++
      } else selectors = prelude
    } else if (piece === '}') {
      if (selectors !== null) yield { selectors, style: before, isNested: depth > 0 }
      else depth = Math.max(depth - 1, 0)
      selectors = null
    } else before = piece
  }
}

function* namesIn(selectors: string): Generator<string> {
  for (const [, named, attribute, value] of selectors.matchAll(
    /([.#][a-z_][\w-]*)|\[(class|id)[~*^$|]?=["']?([\w-]+)/gi,
  )) {
    yield named ?? `${attribute?.toLowerCase() === 'id' ? '#' : '.'}${value}`
  }
}
