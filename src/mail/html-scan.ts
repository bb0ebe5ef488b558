import { decodeAttribute } from './html-entities.ts'

/** A start or end tag. Offsets are UTF-16 units of the scanned HTML: `html.slice(start, end)` is the tag. */
export interface HtmlTag {
  kind: 'open' | 'close'
  /** Lower case, with any characters the author used: `a`, `o:p`, `my-part`. */
  name: string
  start: number
  end: number
  /** A slash precedes the `>`; it matters only for SVG and MathML elements. */
  selfClosing: boolean
  /** In order, including duplicates and those of end tags; browsers use only the first of a name. */
  attributes: HtmlAttribute[]
}

export interface HtmlAttribute {
  /** Lower-case. */
  name: string
  nameStart: number
  /** Entities decoded; '' if there is none. */
  value: string
  /** Range of the raw value without quotes; equal if it is empty or missing. */
  valueStart: number
  valueEnd: number
}

/** Callbacks; the offsets of all calls, in order, cover the HTML without gap or overlap. */
export interface HtmlVisitor {
  tag?(tag: HtmlTag): void
  /** Text between tags with raw entities; the raw text of script, style, textarea, title and similar. */
  text?(start: number, end: number): void
  /** A comment, including a conditional one with its content, a doctype, `<?…>`, `<![…]>` and `</` before a
   *  non-letter. */
  comment?(start: number, end: number): void
}

/** HTML of a mail → its tags, texts and comments in order, split where a browser splits them. Builds no tree and reads
 *  each character a bounded number of times. An unclosed comment or raw text extends to the end; an unclosed tag or
 *  quote makes one text from its `<` to the end. Never throws. HTML Living Standard §13.2.5, without the script states
 *  that hide an end tag */
export function scanHtml(html: string, visit: HtmlVisitor): void {
  let textFrom = 0
  const emitText = (end: number) => {
    if (end > textFrom) visit.text?.(textFrom, end)
    textFrom = end
  }
  const comments = new CommentEnds(html)
  for (let open = html.indexOf('<'); open >= 0; open = html.indexOf('<', open)) {
    const next = html.charCodeAt(open + 1)
    const isClose = next === SLASH
    if (isLetter(isClose ? html.charCodeAt(open + 2) : next)) {
      emitText(open)
      const tag = readTag(html, open, isClose)
      if (tag === null) break
      visit.tag?.(tag)
      textFrom = tag.end
      open = isClose ? tag.end : afterRawText(html, tag)
      emitText(open)
    } else if (next === BANG || next === QUERY || (isClose && open + 2 < html.length)) {
      emitText(open)
      textFrom = comments.after(open)
      visit.comment?.(open, textFrom)
      open = textFrom
    } else {
      open++
    }
  }
  emitText(html.length)
}

const SPACES = new Set([9, 10, 12, 13, 32])
const BANG = 33
const QUOTE = 34
const APOSTROPHE = 39
const SLASH = 47
const EQUALS = 61
const GREATER = 62
const QUERY = 63

/** Elements whose content is always text. A browser without scripts parses the content of noscript. HTML Living
 *  Standard §13.2.5.2–5 */
export const RAW_TEXT: ReadonlySet<string> = new Set([
  'script',
  'style',
  'textarea',
  'title',
  'iframe',
  'xmp',
  'noembed',
  'noframes',
])

const RAW_TEXT_ENDS = new Map(Array.from(RAW_TEXT, (name) => [name, new RegExp(`</${name}[\\s/>]`, 'gi')]))

/** Ends of comments. A result that is still ahead is not searched again, which keeps the scan linear. */
class CommentEnds {
  private readonly ahead = new Map<string, number>()
  constructor(private readonly html: string) {}

  after(open: number): number {
    const end = this.html.startsWith('<!--', open)
      ? // `<!-->` and `<!--->` are complete comments; `--!>` ends one as well.
        Math.min(this.next('-->', open + 2), this.next('--!>', open + 4))
      : this.next('>', open + 2)
    return Math.min(end, this.html.length)
  }

  private next(sign: string, from: number): number {
    const known = this.ahead.get(sign)
    if (known !== undefined && known >= from + sign.length) return known
    const at = this.html.indexOf(sign, from)
    const end = at < 0 ? Number.POSITIVE_INFINITY : at + sign.length
    this.ahead.set(sign, end)
    return end
  }
}

/** The tag that starts at `open`; null if the HTML ends first. */
function readTag(html: string, open: number, isClose: boolean): HtmlTag | null {
  const nameFrom = open + (isClose ? 2 : 1)
  let at = nameFrom
  while (at < html.length && !endsName(html.charCodeAt(at))) at++
  const name = html.slice(nameFrom, at).toLowerCase()
  const attributes: HtmlAttribute[] = []
  for (let isSlashed = false; at < html.length; ) {
    const sign = html.charCodeAt(at)
    if (sign === GREATER) {
      return { kind: isClose ? 'close' : 'open', name, start: open, end: at + 1, selfClosing: isSlashed, attributes }
    }
    isSlashed = sign === SLASH
    if (isSlashed || SPACES.has(sign)) {
      at++
      continue
    }
    at = readAttribute(html, at, attributes)
    if (at < 0) return null
  }
  return null
}

/** Reads the attribute at `at` into `attributes`; returns the next offset, or -1 if its quote never closes. */
function readAttribute(html: string, from: number, attributes: HtmlAttribute[]): number {
  let at = from + 1 // even `=` starts a name
  while (at < html.length && html.charCodeAt(at) !== EQUALS && !endsName(html.charCodeAt(at))) at++
  const name = html.slice(from, at).toLowerCase()
  const valueSign = afterSpaces(html, at)
  if (html.charCodeAt(valueSign) !== EQUALS) {
    attributes.push({ name, nameStart: from, value: '', valueStart: at, valueEnd: at })
    return at
  }
  let start = afterSpaces(html, valueSign + 1)
  const quote = html.charCodeAt(start)
  let end: number
  if (quote === QUOTE || quote === APOSTROPHE) {
    end = html.indexOf(quote === QUOTE ? '"' : "'", ++start)
    if (end < 0) return -1
    at = end + 1
  } else {
    end = start
    while (end < html.length && html.charCodeAt(end) !== GREATER && !SPACES.has(html.charCodeAt(end))) end++
    at = end
  }
  attributes.push({
    name,
    nameStart: from,
    value: decodeAttribute(html.slice(start, end)),
    valueStart: start,
    valueEnd: end,
  })
  return at
}

/** Start of the end tag of a raw text element; for other elements the offset right behind the tag. */
function afterRawText(html: string, tag: HtmlTag): number {
  const close = RAW_TEXT_ENDS.get(tag.name)
  if (close === undefined) return tag.end
  close.lastIndex = tag.end
  return close.exec(html)?.index ?? html.length
}

function afterSpaces(html: string, from: number): number {
  let at = from
  while (SPACES.has(html.charCodeAt(at))) at++
  return at
}

function endsName(sign: number): boolean {
  return sign === GREATER || sign === SLASH || SPACES.has(sign)
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}
