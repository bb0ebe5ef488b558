import { decodeEntities } from './html-entities.ts'

/** Builds the text of an HTML page from the events of textFromHtml. Line ends and spaces are written only when text
 *  follows, so none remains at the end. */
export class TextPage {
  /** Excludes the content of `ascii`. */
  private out = ''
  private asciiEnd = 0
  private isLineStart = true
  /** Line ends due before the next text: the maximum that the blocks in between ask for, not the sum. */
  private gap = 0
  private isSpaceDue = false
  private marker = ''
  private link: { url: string; text: string } | null = null
  private readonly lists: number[] = []
  private preformatted = 0

  /** Source text between two tags, `html.slice(from, to)`, with raw references. */
  text(html: string, from: number, to: number): void {
    if (to - from <= SHORT && this.preformatted === 0 && this.plain(html, from, to)) return
    const source = html.slice(from, to)
    if (this.preformatted > 0) {
      this.lines(decodeEntities(source).split(/\r\n|\r|\n/))
      return
    }
    // By far the most frequent reference; replacing it here is faster, and it becomes a space anyway.
    const raw = source.includes('&nbsp;') ? source.replaceAll('&nbsp;', ' ') : source
    let start = 0
    let end = raw.length
    while (start < end && isSpace(raw.charCodeAt(start))) start++
    while (end > start && isSpace(raw.charCodeAt(end - 1))) end--
    if (start > 0) this.isSpaceDue = true
    if (start === end) return
    const text = raw.slice(start, end)
    this.words(decodeEntities(UNEVEN.test(text) ? text.replace(SPACES, ' ') : text))
    if (end < raw.length) this.isSpaceDue = true
  }

  /** Short texts are mostly plain words: one pass over the characters checks and writes them. Returns true if the text
   *  was plain and is written; else nothing has changed. */
  private plain(html: string, from: number, to: number): boolean {
    let start = from
    let end = to
    while (start < end && isSpace(html.charCodeAt(start))) start++
    if (start === end) {
      this.isSpaceDue = true
      return true
    }
    if (this.marker !== '') return false
    while (isSpace(html.charCodeAt(end - 1))) end--
    if (this.asciiEnd + SHORT + 2 > ascii.length) this.gather()
    const isSpaceDue = this.isSpaceDue || start > from
    let size = this.separate(isSpaceDue)
    let previous = 0
    for (let at = start; at < end; at++) {
      const code = html.charCodeAt(at)
      if (code < 32 || code === AMPERSAND || code > 126 || (code === SPACE && previous === SPACE)) return false
      ascii[size++] = previous = code
    }
    const { link } = this
    if (link !== null) {
      const isSpaced = link.text !== '' && isSpaceDue && this.gap === 0 && !this.isLineStart
      link.text += isSpaced ? ` ${html.slice(start, end)}` : html.slice(start, end)
    }
    this.asciiEnd = size
    this.gap = 0
    this.isLineStart = false
    this.isSpaceDue = end < to
    return true
  }

  /** Text with references already decoded. */
  words(text: string): void {
    if (!INVISIBLE.test(text)) {
      this.write(text)
      return
    }
    const visible = withoutPadding(text)
    this.write(visible)
    if (visible.length < text.length) this.isSpaceDue = true
  }

  /** `<br>`; more than two in a row count as two. */
  breakLine(): void {
    this.gap = Math.min(this.gap + 1, 2)
  }

  /** A block starts or ends: `lineEnds` line ends before the next text. */
  block(lineEnds: number): void {
    if (this.gap < lineEnds) this.gap = lineEnds
    this.isSpaceDue = false
  }

  /** A table cell starts or ends. */
  cell(): void {
    this.isSpaceDue = true
  }

  /** `<hr>`. */
  rule(): void {
    this.block(1)
    this.write('---')
    this.block(1)
  }

  openList(isNumbered: boolean): void {
    this.block(this.lists.length > 0 ? 1 : 2)
    if (this.lists.length < MAX_LISTS) this.lists.push(isNumbered ? 1 : 0)
  }

  closeList(): void {
    this.lists.pop()
    this.marker = ''
    this.block(this.lists.length > 0 ? 1 : 2)
  }

  /** A list item starts; its marker is written with its text. */
  item(): void {
    const number = this.lists.at(-1) ?? 0
    if (number > 0) this.lists[this.lists.length - 1] = number + 1
    this.marker = number > 0 ? `${number}. ` : '- '
  }

  /** `<pre>` starts (1) or ends (-1). */
  preserve(by: 1 | -1): void {
    this.preformatted = Math.max(this.preformatted + by, 0)
  }

  /** A link starts; addresses useless in text (`#top`, `javascript:`) are dropped. */
  openLink(url: string): void {
    this.closeLink()
    if (SHOWN_URL.test(url)) this.link = { url, text: '' }
  }

  /** The link ends: its address follows its text, unless both are equal. */
  closeLink(): void {
    const link = this.link
    if (link === null) return
    this.link = null
    if (link.text === '') {
      this.write(link.url)
      return
    }
    const { url, text } = link
    const isSaid = url.endsWith(text) && (url === text || url.replace(/^(?:mailto|tel):/i, '') === text)
    // On the same line: a block that ended inside the link must not separate it from its address.
    if (!isSaid) this.put(` (${url})`)
  }

  /** The whole text, trimmed. */
  finish(): string {
    this.closeLink()
    this.gather()
    return this.out.trim()
  }

  private write(text: string): void {
    if (text === '') return
    if (this.parted() && this.link !== null && this.link.text !== '') this.link.text += ' '
    this.put(text)
    if (this.link !== null) this.link.text += text
  }

  /** Writes the separator before the next text. Returns true if it is a single space. */
  private parted(): boolean {
    const isSpaceDue = this.isSpaceDue && this.gap === 0 && !this.isLineStart
    if (this.asciiEnd + SHORT + 2 > ascii.length) this.gather()
    this.asciiEnd = this.separate(this.isSpaceDue && this.marker === '')
    this.gap = 0
    this.isSpaceDue = false
    this.isLineStart = false
    if (this.marker === '') return isSpaceDue
    this.put(this.marker)
    this.marker = ''
    return false
  }

  /** Puts the line ends or the space before the next text behind the content of `ascii`, and returns where the text
   *  starts. */
  private separate(isSpaceDue: boolean): number {
    let end = this.asciiEnd
    if (this.gap === 0) {
      if (isSpaceDue && !this.isLineStart) ascii[end++] = SPACE
      return end
    }
    if (end === 0 && this.out === '') return end
    ascii[end++] = LF
    if (this.gap > 1) ascii[end++] = LF
    return end
  }

  private put(text: string): void {
    if (text.length <= SHORT && this.putAscii(text)) return
    this.gather()
    this.out += text
  }

  /** Returns false, without a change, for text with other characters. */
  private putAscii(text: string): boolean {
    if (this.asciiEnd + text.length > ascii.length) this.gather()
    let size = this.asciiEnd
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code > 126) return false
      ascii[size++] = code
    }
    this.asciiEnd = size
    return true
  }

  /** Appends the content of `ascii`: a string per word would be garbage. */
  private gather(): void {
    if (this.asciiEnd === 0) return
    this.out += ascii.toString('latin1', 0, this.asciiEnd)
    this.asciiEnd = 0
  }

  private lines(lines: readonly string[]): void {
    for (const [index, line] of lines.entries()) {
      if (index > 0) this.gap++
      this.write(line)
    }
  }
}

const AMPERSAND = 38
const SPACE = 32
const LF = 10
/** Buffer for plain text. Pages are built one at a time, so one buffer serves all. */
const ascii = Buffer.allocUnsafe(16_384)
/** Native search is faster for longer text. */
const SHORT = 1_024
const MAX_LISTS = 16 // deeper lists continue the innermost numbering
const SPACES = /[ \t\r\n\f]+/g
const UNEVEN = /[\t\r\n\f]| {2}/
const INVISIBLE = /\u034f|[\u00a0\u00ad\u2000-\u200c\u200e\u200f\u2060\ufeff]|\u200d$/
const SHOWN_URL = /^(?:https?:|mailto:|tel:)/i

/** Removes trailing blanks and invisible characters, which pad preview texts; inner no-break spaces become spaces, soft
 *  hyphens are removed. */
function withoutPadding(text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === ' ' || INVISIBLE.test(text.charAt(end - 1)))) end--
  const visible = text.slice(0, end).replaceAll('\u00a0', ' ')
  return visible.includes('\u00ad') ? visible.replaceAll('\u00ad', '') : visible
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13 && code !== 11)
}
