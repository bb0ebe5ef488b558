/** The styles of a stranger's mail, read by the browser's own parser and written anew. Only what is understood is written:
 *  the parser has undone escapes (`u\72l(`), so that a value says what it does. Nothing is loaded or applied while it is
 *  read: a constructed sheet ignores @import and belongs to no page. */

export interface CleanCss {
  /** Declarations of a style attribute → the same, clean, those apart that load an image from elsewhere. */
  attribute(css: string): Declarations
  /** Text of a style element → the same, clean. */
  sheet(css: string): string
}

export interface Declarations {
  plain: string
  remote: string
}

/** Whether a clean sheet loads images from elsewhere. */
export const isLoading = (css: string) => css.includes('url("https:')

/** `isRemote`: images from https may be named; else `onRemote` is told that there are some. */
export function createCleanCss(isRemote: boolean, onRemote: () => void): CleanCss {
  const known = new Map<string, Declarations>()

  const attribute = (css: string): Declarations => {
    const before = known.get(css)
    if (before !== undefined) return before
    const [first] = rulesOf(`x{${css}}`) // what closes the brace itself begins another rule
    const clean = first instanceof CSSStyleRule ? declarations(first.style) : NOTHING
    if (known.size < MOST_KNOWN) known.set(css, clean)
    return clean
  }

  const declarations = (style: CSSStyleDeclaration): Declarations => {
    const made = { plain: '', remote: '' }
    for (let at = 0; at < style.length; at++) {
      const name = style[at]!
      if (name.startsWith('--')) continue // its value is whatever somebody wrote
      const value = cleanValue(style.getPropertyValue(name), PICTURED.has(name))
      if (value === null) continue
      const isImportant = style.getPropertyPriority(name) !== ''
      made[isLoading(value) ? 'remote' : 'plain'] += `${name}:${value}${isImportant ? '!important' : ''};`
    }
    return made
  }

  /** Null when it holds anything that is not known to load nothing. */
  const cleanValue = (value: string, isPictured: boolean): string | null => {
    // Values with var() are kept as they were written, escapes and all; parsed ones need none.
    if (value === '' || value.includes('\\')) return null
    if (!value.includes('(')) return value
    let isClean = true
    const clean = value.replace(CALL, (call, quoted?: string, name?: string, parenthesis?: string) => {
      if (name === undefined && quoted === undefined) return call // a string
      if (name !== undefined) {
        isClean &&= parenthesis === '' || FUNCTIONS.has(name.toLowerCase())
        return call
      }
      const url = isPictured ? urlOf(quoted!) : null
      isClean &&= url !== null
      return url === null ? call : `url("${url}")`
    })
    return isClean ? clean : null
  }

  const urlOf = (quoted: string): string | null => {
    if (/^data:image\//i.test(quoted)) return quoted
    const url = remoteUrl(quoted)
    if (url === null) return null
    if (!isRemote) onRemote()
    return isRemote ? url : null
  }

  const ruleText = (rule: CSSRule, depth: number): string => {
    if (rule instanceof CSSStyleRule) {
      const { plain, remote } = declarations(rule.style)
      const text = plain + remote
      return text === '' ? '' : `${rule.selectorText}{${text}}`
    }
    if (depth >= DEEPEST) return ''
    if (rule instanceof CSSMediaRule) return `@media ${rule.media.mediaText}{${listText(rule.cssRules, depth + 1)}}`
    if (rule instanceof CSSSupportsRule)
      return CSS.supports(rule.conditionText) ? listText(rule.cssRules, depth + 1) : ''
    return '' // fonts, imports, animations and whatever is new
  }
  const listText = (rules: CSSRuleList, depth: number): string => {
    let text = ''
    for (const rule of rules) text += ruleText(rule, depth)
    return text
  }
  return { attribute, sheet: (css) => listText(rulesOf(css), 0) }
}

/** An address of an image elsewhere that may be asked for at all: https, or the scheme left out, which becomes https. Null
 *  for anything else. */
export function remoteUrl(text: string): string | null {
  const url = /^(?:https:)?\/\//i.test(text) ? URL.parse(text, 'https://mail.example') : null
  return url?.protocol === 'https:' ? url.href : null
}

const NOTHING: Declarations = { plain: '', remote: '' }
/** The properties that may name an image. */
const PICTURED = new Set(['background-image', 'list-style-image', 'border-image-source', 'content'])
/** Mails repeat their styles. */
const MOST_KNOWN = 5_000
/** Groups within groups. */
const DEEPEST = 4

/** A string; `url("…")`; or a name, with the parenthesis that makes it a function. Strings hold no escapes here. A name is
 *  taken whole, function or not: a pattern that wants the parenthesis tries again at each letter of a long name. */
const CALL = /"[^"]*"|url\("([^"]*)"\)|([a-z][a-z0-9-]*)(\(?)/gi

const FUNCTIONS = new Set(
  ['rgb', 'rgba', 'hsl', 'hsla', 'hwb', 'lab', 'lch', 'oklab', 'oklch', 'color', 'color-mix', 'light-dark']
    .concat([
      'calc',
      'min',
      'max',
      'clamp',
      'round',
      'abs',
      'minmax',
      'repeat',
      'fit-content',
      'rect',
      'counter',
      'counters',
    ])
    .concat(['linear-gradient', 'radial-gradient', 'conic-gradient'])
    .concat(['repeating-linear-gradient', 'repeating-radial-gradient', 'repeating-conic-gradient'])
    .concat([
      'translate',
      'translatex',
      'translatey',
      'scale',
      'scalex',
      'scaley',
      'rotate',
      'skew',
      'skewx',
      'skewy',
      'matrix',
    ])
    .concat([
      'blur',
      'brightness',
      'contrast',
      'drop-shadow',
      'grayscale',
      'hue-rotate',
      'invert',
      'opacity',
      'saturate',
      'sepia',
    ])
    .concat(['circle', 'ellipse', 'inset', 'polygon', 'cubic-bezier', 'steps', 'linear']),
)

/** Parsers of browsers call themselves for each bracket, until there is no stack left: 30,000 of them crash Chromium's page.
 *  Brackets in strings and comments count, too. */
function isDeep(css: string): boolean {
  let depth = 0
  for (let at = 0; at < css.length; at++) {
    const char = css.charCodeAt(at)
    if (OPENING.has(char) && ++depth > MOST_BRACKETS) return true
    if (CLOSING.has(char) && depth > 0) depth--
  }
  return false
}

const OPENING = new Set(Array.from('([{', (char) => char.charCodeAt(0)))
const CLOSING = new Set(Array.from(')]}', (char) => char.charCodeAt(0)))
const MOST_BRACKETS = 100

function rulesOf(css: string): CSSRuleList {
  const sheet = new CSSStyleSheet()
  // Imports are ignored in any case; browsers complain of those that are spelt plainly.
  sheet.replaceSync(isDeep(css) ? '' : css.replace(/@import\b[^;{}]*;?/gi, ''))
  return sheet.cssRules
}
