import { decodeAttribute } from './html-entities.ts'

/** One start or end tag. Offsets are in UTF-16 units of the HTML that was scanned: `html.slice(start, end)` is the tag. */
export interface HtmlTag {
  kind: 'open' | 'close'
  /** Lower-case, with whatever the author put in it: `a`, `o:p`, `my-part`. */
  name: string
  start: number
  end: number
  /** A slash stands before the `>`; it means nothing but for the elements of SVG and MathML. */
  selfClosing: boolean
  /** In their order, also those given twice and those of end tags; a browser heeds the first of a name only. */
  attributes: HtmlAttribute[]
}

export interface HtmlAttribute {
  /** Lower-case. */
  name: string
  /** Entities decoded; '' when there is none. */
  value: string
  /** Where the raw value stands, without its quotes. Equal when it is empty or there is none. */
  valueStart: number
  valueEnd: number
}

/** What wants to be told; the offsets of all calls, in their order, cover the HTML without gap or overlap. */
export interface HtmlVisitor {
  tag?(tag: HtmlTag): void
  /** Text between tags with its entities as written; the raw text of a script, style, textarea, title and the like. */
  text?(start: number, end: number): void
  /** A comment, also a conditional one with all that is in it, a doctype, `<?…>`, `<![…]>` and `</` before no letter. */
  comment?(start: number, end: number): void
}

/** HTML of a mail → its tags, texts and comments in their order, cut where a browser cuts them. Keeps no tree and looks
 *  at each character a bounded number of times, so that nothing an author writes makes it slow. A comment or a raw text
 *  that never ends goes to the end; a tag that never ends, or one with a quote that never closes, is one text from its
 *  `<` to the end. Never throws.  HTML Living Standard §13.2.5, without the states of script that hide an end tag */
export function scanHtml(html: string, visit: HtmlVisitor): void {
  let textFrom = 0
  const tellText = (end: number) => {
    if (end > textFrom) visit.text?.(textFrom, end)
    textFrom = end
  }
  const comments = new CommentEnds(html)
  for (let open = html.indexOf('<'); open >= 0; open = html.indexOf('<', open)) {
    const next = html.charCodeAt(open + 1)
    const isClose = next === SLASH
    if (isLetter(isClose ? html.charCodeAt(open + 2) : next)) {
      tellText(open)
      const tag = readTag(html, open, isClose)
      if (tag === null) break
      visit.tag?.(tag)
      textFrom = tag.end
      open = isClose ? tag.end : afterRawText(html, tag)
      tellText(open)
    } else if (next === BANG || next === QUERY || (isClose && open + 2 < html.length)) {
      tellText(open)
      textFrom = comments.after(open)
      visit.comment?.(open, textFrom)
      open = textFrom
    } else {
      open++
    }
  }
  tellText(html.length)
}

const SPACES = new Set([9, 10, 12, 13, 32])
const BANG = 33
const QUOTE = 34
const APOSTROPHE = 39
const SLASH = 47
const EQUALS = 61
const GREATER = 62
const QUERY = 63

/** Elements whose content is text whatever it looks like. A browser without scripts reads on in a noscript.
 *  HTML Living Standard §13.2.5.2–5 */
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

/** Where comments end. What was found once and is still ahead is not searched for again, which keeps the whole linear. */
class CommentEnds {
  private readonly ahead = new Map<string, number>()
  constructor(private readonly html: string) {}

  after(open: number): number {
    const end = this.html.startsWith('<!--', open)
      ? // `<!-->` and `<!--->` are whole comments; `--!>` ends one as well.
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

/** The tag that begins at `open`; null when the HTML ends before it does. */
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

/** Reads the attribute at `at` into `attributes`; where the tag goes on, -1 when its quote never closes. */
function readAttribute(html: string, from: number, attributes: HtmlAttribute[]): number {
  let at = from + 1 // even `=` begins a name
  while (at < html.length && html.charCodeAt(at) !== EQUALS && !endsName(html.charCodeAt(at))) at++
  const name = html.slice(from, at).toLowerCase()
  const valueSign = afterSpaces(html, at)
  if (html.charCodeAt(valueSign) !== EQUALS) {
    attributes.push({ name, value: '', valueStart: at, valueEnd: at })
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
  attributes.push({ name, value: decodeAttribute(html.slice(start, end)), valueStart: start, valueEnd: end })
  return at
}

/** Where the end tag of an element with raw text stands; right behind the tag for every other element. */
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
