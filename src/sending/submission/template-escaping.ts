import { CaptureTag, type Context, type Emitter, type FilterImplOptions, filters, type Liquid } from 'liquidjs'
import { Escaped, isEscaped, mapTexts, plainOf } from './template-escaped.ts'
import { spell } from './template-work.ts'

/** Escaping in `html`: every value is escaped once, however often it is captured, assigned, and passed on. What is not
 *  certainly escaped is escaped at the output. */

/** Makes an engine with charged filters one for `html`. */
export function escapeOnce(liquid: Liquid): void {
  for (const [name, filter] of Object.entries(liquid.filters)) {
    // Only `raw` is no function: an object with a mark that output looks for.
    if (typeof filter === 'function') liquid.registerFilter(name, filterFor(name, filter))
    else if (filter !== undefined) liquid.registerFilter(name, { raw: true, handler: lettingThrough(filter.handler) })
  }
  liquid.registerTag('capture', EscapedCaptureTag)
}

/** Value → its text in html. */
export function htmlOf(value: unknown, context: Context): string {
  return spell(mapTexts(value, escapedWith(context)), context)
}

type Filter = Extract<FilterImplOptions, (...values: never[]) => unknown>

function filterFor(name: string, apply: Filter): Filter {
  if (ESCAPING.has(name)) return escaping(apply)
  if (name === 'default') return orDefault(apply)
  if (JOINING.has(name)) return joining(apply, name === 'newline_to_br')
  if (REPLACING.has(name)) return replacing(apply)
  return onPlainText(apply, TRIMMING.has(name))
}

const ESCAPING = new Set(['escape', 'escape_once', 'xml_escape'])
/** Their result is safe where the value and the argument are. */
const JOINING = new Set(['append', 'prepend', 'newline_to_br', 'join'])
const REPLACING = new Set(['replace', 'replace_first', 'replace_last'])
/** Without argument they change only white space. */
const TRIMMING = new Set(['strip', 'lstrip', 'rstrip', 'squish', 'normalize_whitespace', 'strip_newlines'])

/** What is escaped in part is escaped where it is not, as in an attribute. */
function escaping(apply: Filter): Filter {
  return function (value) {
    const html = isEscaped(value)
      ? htmlOf(mapTexts(value, unescapedWith(this.context)), this.context)
      : String(apply.call(this, plainOf(value)))
    return new Escaped(html, html)
  }
}

function orDefault(apply: Filter): Filter {
  return function (value, ...given) {
    const plain = plainOf(value)
    const made = apply.call(this, plain, ...given)
    return made === plain ? value : made
  }
}

function joining(apply: Filter, isAlwaysEscaped: boolean): Filter {
  return function (value, ...given) {
    const text = apply.call(this, plainOf(value), ...given.map(plainOf))
    if (!isAlwaysEscaped && !isEscaped(value) && !given.some(isEscaped)) return text
    const parts = given.map((argument) => htmlOf(argument, this.context))
    const html = Array.isArray(value) ? mapTexts(value, escapedWith(this.context)) : htmlOf(value, this.context)
    return new Escaped(String(text), String(apply.call(this, html, ...parts)))
  }
}

/** Captured output in the place of a part of a plain text. The text is escaped around a mark, because a replacement in
 *  escaped text would find parts of `&lt;`. */
function replacing(apply: Filter): Filter {
  const plainly = onPlainText(apply, false)
  return function (value, ...given) {
    const [searched, replacement] = given
    if (typeof value !== 'string' || !isEscaped(replacement) || value.includes(MARK)) {
      return plainly.call(this, value, ...given)
    }
    const text = apply.call(this, value, plainOf(searched), plainOf(replacement))
    const marked = htmlOf(apply.call(this, value, plainOf(searched), MARK), this.context)
    return new Escaped(String(text), String(apply.call(this, marked, MARK, htmlOf(replacement, this.context))))
  }
}

/** For private use: no text has it. */
const MARK = '\ue000'

/** The filter works on the text before it was escaped, and its result is escaped anew: a piece of markup is no
 *  markup. */
function onPlainText(apply: Filter, isTrimming: boolean): Filter {
  return function (value, ...given) {
    const plain = given.map(plainOf)
    const text = apply.call(this, plainOf(value), ...plain)
    if (!isEscaped(value)) return text
    if (isTrimming && given.length === 0) {
      const before = htmlOf(value, this.context)
      const html = String(apply.call(this, before))
      // A value behind a bare `<` would become a tag, also behind a line end that `strip_newlines` removes.
      if (!html.endsWith('<') && !/<[/!?]?[\r\n]/.test(before)) return new Escaped(String(text), html)
    }
    const shown = apply.call(this, mapTexts(value, unescapedWith(this.context)), ...plain)
    return paired(text, mapTexts(shown, escapedWith(this.context)))
  }
}

/** A result for `raw` and the same result for output. Where they differ in shape, that for output counts. */
function paired(text: unknown, html: unknown): unknown {
  if (typeof html === 'string') return new Escaped(typeof text === 'string' ? text : html, html)
  if (!Array.isArray(html)) return text
  const isAlike = Array.isArray(text) && text.length === html.length
  return html.map((element, index) => paired(isAlike ? text[index] : element, element))
}

function lettingThrough(apply: Filter): Filter {
  return function (value) {
    const charged = apply.call(this, value)
    return mapTexts(charged, (text) => (text instanceof Escaped ? text : new Escaped(text, null)))
  }
}

const escapeHtml = filters.escape as unknown as (this: { context: Context }, text: string) => string

function escapedWith(context: Context): (text: string | Escaped) => string {
  return (text) => {
    if (text instanceof Escaped && text.html !== null) return text.html
    return escapeHtml.call({ context }, String(text))
  }
}

function unescapedWith(context: Context): (text: string | Escaped) => string {
  return (text) => {
    const escaped = text instanceof Escaped ? text.html : null
    if (escaped === null) return String(text)
    context.memoryLimit.use(escaped.length)
    return escaped.replace(/&(?:amp|lt|gt|#34|#39);/g, (entity) => LETTERS.get(entity)!) // the pattern lists the keys
  }
}

const LETTERS = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&#34;', '"'],
  ['&#39;', "'"],
])

/** Keeps what it captures as escaped. A value that `raw` let through inside is escaped at the output, unless that has
 *  `raw` too. */
class EscapedCaptureTag extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const emitter = new CaptureEmitter(context)
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter)
    context.bottom()[this.variable] = new Escaped(emitter.buffer, emitter.html)
  }
}

class CaptureEmitter implements Emitter {
  buffer = ''
  html = ''
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  /** Everything but what `raw` let through is escaped, or is the template's own text. */
  write(value: unknown): void {
    const written = mapTexts(value, (text) => (typeof text === 'string' ? new Escaped(text, text) : text))
    this.buffer += spell(written, this.#context)
    this.html += htmlOf(written, this.#context)
  }
}
