import { type HtmlTag, RAW_TEXT, scanHtml } from './html-scan.ts'
import { textFromHtml } from './html-text.ts'
import {
  type Beginning,
  isForward,
  type KnownParts,
  lettersOf,
  MOST_CHARACTERS,
  placesOf,
  replyText,
} from './reply-text.ts'

/** What the author of an answer wrote. */
export interface Reply {
  text: string | null
  html: string | null
}

/** Subject and bodies of an answer ('' for none) → its new part. Mail programs begin the quote and the signature in the HTML
 *  by elements of their own: these show in any language where they begin in the text, too. The HTML is cut there, and
 *  only if its text is then that of the text; otherwise it is null. A mail without a text part is cut by its HTML. Null
 *  without text, and beyond 200,000 characters. Never throws. */
export function replyOf(subject: string, textBody: string, htmlBody: string): Reply {
  const isKept = isForward(subject, textBody || htmlBody)
  const parts = isKept ? null : partsOf(htmlBody.slice(0, MOST_CHARACTERS), htmlBody.length)
  const [own = null] = parts?.own ?? []
  const source = textBody.trim() === '' ? textFromHtml(own ?? htmlBody) : textBody
  if (source.trim() === '') return own === null ? { text: null, html: null } : { text: '', html: null }
  const text = replyText(subject, source, source === textBody ? parts : null)
  if (text.length > MOST_CHARACTERS) return { text: null, html: null }
  const letters = lettersOf(text)
  const html = letters === '' ? null : parts?.own.find((each) => lettersOf(textFromHtml(each)) === letters)
  return { text, html: html ?? null }
}

interface HtmlParts extends KnownParts {
  /** The HTML before the signature, the quote and the line of a phone, with its open elements closed: the first is certain.
   *  None if something of the author's comes after the quote. */
  own: string[]
}

/** Letters that name a place in the text. */
const LETTERS = 20
/** Enough HTML for so many letters. */
const LETTERS_HTML = 10_000
/** Open elements at the cut: mail programs nest some ten. */
const MOST_LEVELS = 200

/** Where the quote begins in the HTML of an answer, and what is around it; null if no element shows it. `length` is that of
 *  all the HTML. */
function partsOf(html: string, length: number): HtmlParts | null {
  const scan = new QuoteScan(html)
  scanHtml(html, scan)
  const { quote, signature, phoneLine } = scan
  if (quote === null || quote.open.length > MOST_LEVELS) return null
  const isLast = scan.isLast && (scan.isToEnd || html.length === length)
  return {
    own: isLast ? [signature, quote, phoneLine].flatMap((place) => (place ? [before(html, place)] : [])) : [],
    quote: beginning(html, quote),
    isLast,
    signature: signature && beginning(html, signature),
  }
}

function beginning(html: string, place: Place): Beginning {
  const letters = lettersOf(textFromHtml(html.slice(place.at, place.at + LETTERS_HTML))).slice(0, LETTERS)
  return { letters, before: placesOf(letters, lettersOf(textFromHtml(before(html, place)))).length }
}

function before(html: string, { at, open }: Place): string {
  return `${html.slice(0, at)}${open
    .toReversed()
    .map((name) => `</${name}>`)
    .join('')}`
}

/** A place in the HTML, with the names of the elements that are open there. */
interface Place {
  at: number
  open: string[]
}

class QuoteScan {
  quote: Place | null = null
  signature: Place | null = null
  /** Apple's mark is no element around the line, so people write behind it, too. */
  phoneLine: Place | null = null
  isLast = true
  isToEnd = false
  private readonly open: string[] = []
  /** Number of open elements around the outermost quote or signature that is open; -1 for none. */
  private zone = -1
  private sawQuote = false

  constructor(private readonly html: string) {}

  tag(tag: HtmlTag): void {
    if (this.isToEnd) return
    if (tag.kind === 'close') {
      const at = this.open.lastIndexOf(tag.name)
      if (at >= 0) this.open.length = at
      if (this.zone >= this.open.length) this.zone = -1
      return
    }
    this.begin(tag)
    if (!VOID.has(tag.name) && !tag.selfClosing && this.open.length <= MOST_LEVELS) this.open.push(tag.name)
  }

  text(start: number, end: number): void {
    if (this.isToEnd || this.zone >= 0 || RAW_TEXT.has(this.open.at(-1) ?? '')) return
    if (!isVisible(this.html.slice(start, end))) return
    if (this.quote === null) this.signature = null
    else if (this.sawQuote) this.isLast = false
  }

  private begin(tag: HtmlTag): void {
    const kind = kindOf(tag)
    if (kind === null || this.zone >= 0) return
    const place = () => ({ at: tag.start, open: [...this.open] })
    if (kind === 'signature') {
      if (this.quote === null) this.signature ??= place()
    } else if (kind === 'phone line') {
      if (this.quote === null) this.phoneLine = place()
    } else {
      this.quote ??= place()
      this.isToEnd = kind === 'rest'
      this.sawQuote ||= kind === 'quote'
    }
    if (kind !== 'around' && kind !== 'phone line') this.zone = this.open.length
  }
}

const isVisible = (html: string) => /\S/.test(html.replaceAll(/&(?:nbsp|#160|#xa0);|[\u200b\ufeff]/gi, ''))

const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr'])

/** `attribution`: before the quote. `around`: both are inside, and what people write between the quotes. `rest`: all that
 *  follows is the quote. */
type Kind = 'quote' | 'attribution' | 'around' | 'rest' | 'signature' | 'phone line'

function kindOf({ name, attributes }: HtmlTag): Kind | null {
  if (attributes.length === 0) return null
  const value = (wanted: string) => attributes.find((each) => each.name === wanted)?.value ?? ''
  const classes = value('class').slice(0, MOST_CLASSES).split(/\s/)
  const byClass = classes.map((each) => CLASSES.get(each)).find((kind) => kind !== undefined)
  if (byClass === 'around' && name === 'blockquote') return 'quote'
  if (byClass !== undefined) return byClass
  if (name === 'blockquote' && value('type').toLowerCase() === 'cite') return 'quote'
  if (name === 'br' && value('id') === 'lineBreakAtBeginningOfSignature') return 'phone line'
  if (name !== 'div') return null
  if (value('name') === 'quote') return 'quote'
  if (WORD_HEADER.test(value('style').slice(0, MOST_CLASSES))) return 'rest'
  return IDS.get(value('id')) ?? null
}

const MOST_CLASSES = 1_000
/** Outlook. */
const IDS = new Map<string, Kind>([
  ...(
    ['divRplyFwdMsg', 'appendonsend', 'OLK_SRC_BODY_SECTION', 'mail-editor-reference-message-container'] as const
  ).map((id) => [id, 'rest'] as const),
  ['ms-outlook-mobile-signature', 'signature'],
])
/** The line above the header that Outlook writes with Word. */
const WORD_HEADER = /border-top:\s?solid #(?:E1E1E1|B5C4DF) 1\.0pt/i
/** Gmail, Yahoo, Thunderbird, Proton, Zoho. */
const CLASSES = new Map<string, Kind>([
  ['gmail_attr', 'attribution'],
  ['moz-cite-prefix', 'attribution'],
  ['gmail_quote', 'around'],
  ['gmail_quote_container', 'around'],
  ['protonmail_quote', 'around'],
  ['yahoo_quoted', 'quote'],
  ['zmail_extra', 'quote'],
  ['gmail_signature_prefix', 'signature'],
  ['gmail_signature', 'signature'],
  ['moz-signature', 'signature'],
  ['protonmail_signature_block', 'signature'],
])
