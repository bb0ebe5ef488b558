/** Sanitizes the styles of an untrusted message: parses them with the browser's parser and serializes only allowed
 *  rules. The parser resolves escapes (`u\72l(`), so a value cannot hide a function. Parsing loads and applies
 *  nothing: a constructed style sheet ignores @import and belongs to no page. */

export interface CleanCss {
  /** Sanitizes a style attribute. Invalid or forbidden declarations are removed. */
  attribute(css: string): Declarations
  /** Sanitizes the text of a style element; '' if no rule is allowed or brackets nest too deeply. */
  sheet(css: string): string
}

/** Declarations as CSS text. `remote` are those that load a remote image, `plain` all others. */
export interface Declarations {
  plain: string
  remote: string
}

/** Whether a sanitized sheet loads remote images. */
export const isLoading = (css: string) => css.includes('url("https:')

/** Theme of the mail client that shows a message. */
export type Scheme = 'light' | 'dark'

/** Creates a sanitizer for one message. With `isRemote` it allows remote images over https; otherwise it removes them
 *  and calls `onRemote`. Rules and colours that depend on the reader's theme follow `scheme`. */
export function createCleanCss(isRemote: boolean, scheme: Scheme, onRemote: () => void): CleanCss {
  const cache = new Map<string, Declarations>()

  const attribute = (css: string): Declarations => {
    const cached = cache.get(css)
    if (cached !== undefined) return cached
    const [first] = rulesOf(`x{${css}}`) // a `}` in the attribute starts another rule, which is ignored
    const clean = first instanceof CSSStyleRule ? declarations(first.style) : NOTHING
    if (cache.size < MAX_CACHED) cache.set(css, clean)
    return clean
  }

  const declarations = (style: CSSStyleDeclaration): Declarations => {
    const made = { plain: '', remote: '' }
    for (let at = 0; at < style.length; at++) {
      const name = style.item(at)
      if (name.startsWith('--')) continue // the parser does not check its value
      const value = cleanValue(style.getPropertyValue(name), IMAGE_PROPERTIES.has(name))
      if (value === null) continue
      if (name === 'color-scheme') {
        made.plain += `color-scheme:${value.includes(scheme) ? scheme : 'light'};`
        continue
      }
      const isImportant = style.getPropertyPriority(name) !== ''
      made[isLoading(value) ? 'remote' : 'plain'] += `${name}:${value}${isImportant ? '!important' : ''};`
    }
    return made
  }

  /** Null unless every part of the value is known to load nothing. */
  const cleanValue = (value: string, mayHaveImage: boolean): string | null => {
    // Values with var() keep their escapes; parsed values have none.
    if (value === '' || value.includes('\\')) return null
    if (!value.includes('(')) return value
    let isClean = true
    const clean = value.replace(CALL, (call, quoted?: string, name?: string, parenthesis?: string) => {
      if (name !== undefined) {
        isClean &&= parenthesis === '' || FUNCTIONS.has(name.toLowerCase())
        return call
      }
      if (quoted === undefined) return call // a string
      const url = mayHaveImage ? urlOf(quoted) : null
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
    if (depth >= MAX_DEPTH) return ''
    if (rule instanceof CSSMediaRule)
      return `@media ${mediaFor(scheme, rule.media.mediaText)}{${listText(rule.cssRules, depth + 1)}}`
    if (rule instanceof CSSSupportsRule)
      return CSS.supports(rule.conditionText) ? listText(rule.cssRules, depth + 1) : ''
    return '' // fonts, imports, animations and unknown rules
  }
  const listText = (rules: CSSRuleList, depth: number): string => {
    let text = ''
    for (const rule of rules) text += ruleText(rule, depth)
    return text
  }
  return { attribute, sheet: (css) => listText(rulesOf(css), 0) }
}

/** Media query → the same query, with a condition that always or never holds in place of one about the reader's theme. */
function mediaFor(scheme: Scheme, query: string): string {
  return query.replace(/\(prefers-color-scheme: (light|dark)\)/g, (_, asked) =>
    asked === scheme ? '(min-width: 0px)' : '(max-width: 0px)',
  )
}

/** Image URL of a message → the URL to load: https, also for a URL without a scheme. Null for all others. */
export function remoteUrl(text: string): string | null {
  const url = /^(?:https:)?\/\//i.test(text) ? URL.parse(text, 'https://mail.example') : null
  return url?.protocol === 'https:' ? url.href : null
}

const NOTHING: Declarations = { plain: '', remote: '' }
/** Properties that may contain an image URL. */
const IMAGE_PROPERTIES = new Set(['background-image', 'list-style-image', 'border-image-source', 'content'])
/** Cached style attributes: messages repeat their styles. */
const MAX_CACHED = 5_000
/** Nested @media and @supports rules. */
const MAX_DEPTH = 4

/** A string; `url("…")`; or a name, with the parenthesis if it is a function. Strings contain no escapes here. The
 *  pattern also matches names without a parenthesis: requiring one would backtrack at each letter of a long name. */
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

/** Whether brackets nest too deeply, including those in strings and comments. Browsers parse them recursively: 30,000
 *  nested ones overflow the stack and crash Chromium's page. */
function isDeep(css: string): boolean {
  let depth = 0
  for (let at = 0; at < css.length; at++) {
    const char = css.charCodeAt(at)
    if (OPENING.has(char) && ++depth > MAX_BRACKETS) return true
    if (CLOSING.has(char) && depth > 0) depth--
  }
  return false
}

const OPENING = new Set(Array.from('([{', (char) => char.charCodeAt(0)))
const CLOSING = new Set(Array.from(')]}', (char) => char.charCodeAt(0)))
const MAX_BRACKETS = 100

function rulesOf(css: string): CSSRuleList {
  const sheet = new CSSStyleSheet()
  // Imports are ignored in any case; removing them avoids a warning in the browser console.
  sheet.replaceSync(isDeep(css) ? '' : css.replace(/@import\b[^;{}]*;?/gi, ''))
  return sheet.cssRules
}
