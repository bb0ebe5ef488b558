/** A fault of MJML at a position of the text, from 0. */
export class MjmlFault extends Error {
  readonly position: number

  constructor(message: string, position: number) {
    super(message)
    this.name = 'MjmlFault'
    this.position = position
  }
}

export interface StructureRules {
  /** All elements that are components. */
  elements: ReadonlySet<string>
  /** Elements whose content is HTML. */
  htmlElements: ReadonlySet<string>
  /** Elements that may contain an `mj-raw`. */
  rawParents: ReadonlySet<string>
  /** Matches a word that stands for Liquid. */
  word: RegExp
}

/** Elements in one document. The html of 1,000 elements is longer than a text of a template can be. */
const MAX_ELEMENTS = 1_000
/** Nesting depth; MJML itself needs nine. */
const MAX_DEPTH = 20
/** Characters in mj-head, times the elements that they may be copied to: 10 for each of MJML. An ordinary newsletter with 3,000
 *  characters of CSS has a tenth. */
const MAX_COPIES = 100_000_000
/** HTML elements whose content the HTML parser does not parse. */
const UNPARSED = /^(?:script|style|title|textarea)$/
/** The only element with text that is not HTML. */
const TEXT_ELEMENT = 'mj-html-attribute'

export interface Structure {
  /** The document, with each Liquid word between elements in an `mj-raw`, where the library keeps it. */
  text: string
  /** The Liquid words before and after the document. */
  before: string
  after: string
}

/** Checks the structure of MJML in one pass, because the library accepts any text: it closes what is open and drops what it
 *  does not expect. Throws MjmlFault for an element that is not closed or not open, HTML or text outside of an element for
 *  it, `mj-include`, too many elements, and too deep ones. */
export function checkedStructure(text: string, rules: StructureRules): Structure {
  const open: { name: string; position: number }[] = []
  let elements = 0
  let tags = 0
  let head = 0
  let isRootClosed = false
  let result = ''
  const around = { before: '', after: '' }
  let at = 0
  while (at < text.length) {
    const start = nextMarkup(text, at)
    const inside = open.at(-1)
    const between = text.slice(at, start)
    if (!isText(inside, rules)) requireLiquid(between, at, rules)
    if (inside === undefined) around[isRootClosed ? 'after' : 'before'] += (between.match(rules.word) ?? []).join('')
    else result += isText(inside, rules) ? between : wrapped(between, inside.name, at, rules)
    if (start === text.length) break
    const markup = readMarkup(text, start)
    at = markup.end
    result += text.slice(start, at)
    const { name } = markup
    const isHtml = inside !== undefined && rules.htmlElements.has(inside.name)
    // The library keeps a comment as an element.
    if (!isHtml && (name === null || !markup.isEnd)) elements++
    if (elements > MAX_ELEMENTS) throw new MjmlFault(`it has more than ${MAX_ELEMENTS} elements`, start)
    if (name === null) continue
    if (!markup.isEnd) tags++
    if (name === 'mj-include') throw new MjmlFault('mj-include is not available', start)
    if (isHtml && !markup.isMjml) {
      if (!markup.isEnd && !markup.isSelfClosing && UNPARSED.test(name)) {
        const end = endOfUnparsed(text, name, at)
        if (end === null) throw new MjmlFault(`<${name}> is not closed`, start)
        result += text.slice(at, end)
        at = end
      }
      continue
    }
    if (markup.isEnd) {
      if (inside?.name !== name) throw new MjmlFault(unexpectedEnd(name, inside?.name), start)
      const { position } = open.pop()!
      if (name === 'mj-head') head += start - position
      isRootClosed ||= open.length === 0
      continue
    }
    if (isHtml) throw new MjmlFault(`${name} cannot be used inside ${inside.name}`, start)
    if (!markup.isMjml) throw new MjmlFault(`<${name}> is HTML, which must be inside mj-text or mj-raw`, start)
    if (isRootClosed || (open.length === 0) !== (name === 'mjml')) {
      throw new MjmlFault('the document must be one mjml element', start)
    }
    if (open.length === MAX_DEPTH) throw new MjmlFault(`elements are nested more than ${MAX_DEPTH} deep`, start)
    if (!markup.isSelfClosing) open.push({ name, position: start })
    else if (open.length === 0) isRootClosed = true
  }
  const unclosed = open.at(-1)
  if (unclosed !== undefined) throw new MjmlFault(`${unclosed.name} is not closed`, unclosed.position)
  if (!isRootClosed) throw new MjmlFault('the document must be one mjml element', 0)
  if (head * (10 * elements + tags) > MAX_COPIES) throw new MjmlFault('mj-head is too long for so many elements', 0)
  return { text: result, ...around }
}

/** True where text is allowed. Inside an unknown element it is too, because the element is the fault. */
const isText = (inside: { name: string } | undefined, { elements, htmlElements }: StructureRules) =>
  inside !== undefined && (inside.name === TEXT_ELEMENT || htmlElements.has(inside.name) || !elements.has(inside.name))

function requireLiquid(text: string, position: number, { word }: StructureRules): void {
  const lost = text.replace(word, (found) => ' '.repeat(found.length)).search(/\S/)
  if (lost !== -1) throw new MjmlFault('text must be inside mj-text or mj-raw', position + lost)
}

/** Text between elements → the same with its Liquid words wrapped. */
function wrapped(text: string, inside: string, position: number, { rawParents, word }: StructureRules): string {
  const liquid = text.search(word)
  if (liquid !== -1 && !rawParents.has(inside)) {
    throw new MjmlFault(`Liquid cannot be used directly inside ${inside}`, position + liquid)
  }
  return text.replace(word, (found) => `<mj-raw>${found}</mj-raw>`)
}

function unexpectedEnd(name: string, open: string | undefined): string {
  return open === undefined ? `</${name}> closes nothing` : `</${name}> cannot close ${open}`
}

interface Markup {
  /** Position after it. */
  end: number
  /** Name of the element; null for a comment, a declaration and CDATA. */
  name: string | null
  isMjml: boolean
  isEnd: boolean
  isSelfClosing: boolean
}

/** Position of the next end tag of an element of UNPARSED; null without one. */
function endOfUnparsed(text: string, name: string, from: number): number | null {
  // Not in lower case of the text, where an İ is two characters long.
  const ends = /<\/(script|style|title|textarea)/gi
  ends.lastIndex = from
  for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
    if (end[1]!.toLowerCase() === name) return end.index
  }
  return null
}

/** Position of the next tag, comment or declaration; the length of the text if there is none. */
function nextMarkup(text: string, from: number): number {
  const markup = /<(?:[a-z!?]|\/[a-z])/gi
  markup.lastIndex = from
  return markup.exec(text)?.index ?? text.length
}

/** Reads one tag, comment or declaration as the HTML parser does. */
function readMarkup(text: string, start: number): Markup {
  const other = { name: null, isMjml: false, isEnd: false, isSelfClosing: false }
  if (text.startsWith('<!--', start)) return { ...other, end: endAfter(text, '-->', start + 4, 'a comment') }
  if (text.startsWith('<![CDATA[', start)) return { ...other, end: endAfter(text, ']]>', start, 'CDATA') }
  if (text[start + 1] === '!' || text[start + 1] === '?') {
    return { ...other, end: endAfter(text, '>', start, 'a declaration') }
  }
  const isEnd = text[start + 1] === '/'
  const letters = /[^\s/>]+/g
  letters.lastIndex = start + (isEnd ? 2 : 1)
  const name = letters.exec(text)![0].toLowerCase()
  const { end, isSelfClosing } = endOfTag(text, letters.lastIndex, start)
  return { end, name, isMjml: name === 'mjml' || name.startsWith('mj-'), isEnd, isSelfClosing }
}

function endAfter(text: string, mark: string, from: number, what: string): number {
  const found = text.indexOf(mark, from)
  if (found === -1) throw new MjmlFault(`${what} is not closed`, from)
  return found + mark.length
}

/** A value of an attribute in quotes may contain `>`. */
function endOfTag(text: string, from: number, start: number): { end: number; isSelfClosing: boolean } {
  const part = /=\s*(?:"[^"]*"|'[^']*'|[^\s"'>][^\s>]*|["'])|\/?>|[^=/>]+|[=/]/y
  part.lastIndex = from
  for (let match = part.exec(text); match !== null; match = part.exec(text)) {
    if (match[0] === '>' || match[0] === '/>') return { end: part.lastIndex, isSelfClosing: match[0] === '/>' }
    if (/^=\s*["']$/.test(match[0])) throw new MjmlFault('the value of an attribute is not closed', start)
  }
  throw new MjmlFault('a tag is not closed', start)
}
