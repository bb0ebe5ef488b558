import {
  isAttribution,
  isDatedAddress,
  isForwardMark,
  isGroupWise,
  isHeaderBlock,
  isMobileLine,
  isOriginalMark,
  isReplyAbove,
  isSender,
  LONGEST,
} from './reply-marks.ts'

/** What the HTML of an answer proves of its text. */
export interface KnownParts {
  /** The quoted mail with its attribution. */
  quote: Beginning
  /** Nothing of the author's comes after it. */
  isLast: boolean
  /** The signature above it. */
  signature: Beginning | null
}

/** The first letters of a part, and how often they come before it. */
export interface Beginning {
  letters: string
  before: number
}

/** Subject and text of an answer → what its author wrote: without the mail that it answers, the signature and the line
 *  of a phone. Whatever is not certain stays: the whole text for a forwarded mail, for answers between the quoted lines, and
 *  where neither the HTML nor marks (`>`) nor a known header shows the quote. '' if the quote is certain and all. The quote
 *  begins in the first 200,000 characters and 5,000 lines. Line ends are LF, none at the end. Each line is read a
 *  bounded number of times. Never throws. RFC 3676 §4.3 (signatures), §4.5 (quotes) */
export function replyText(subject: string, text: string, known?: KnownParts | null): string {
  const whole = text.replaceAll('\r\n', '\n').trim()
  if (isForward(subject, whole)) return whole
  const { lines, rest } = linesOf(whole)
  const quote = (known && quoteByHtml(lines, known)) ?? quoteIn(lines)
  const forward = lines.findIndex(isForwardMark)
  if (forward >= 0 && (quote === null || forward <= quote.start)) return whole
  if (quote === null) return (rest === '' && joined(withoutEnd(lines))) || whole
  const own = aroundQuote(lines, quote, rest)
  return own === null ? whole : joined(own)
}

/** Where the quoted mail is: from its attribution or header on, to its last marked line. */
interface Quote {
  start: number
  /** Null: to the end of the text. */
  end: number | null
  /** Where the signature above it begins. */
  signature?: number | null
}

/** People write less. */
export const MOST_CHARACTERS = 200_000
const MOST_LINES = 5_000
/** Of the mail programs in the languages of reply-marks.ts. */
const FORWARDED =
  /^\s*(?:fwd?|wg|tr|rv|i|enc|pd|doorst|vl|vs|vb|πρθ|ilt|i̇lt|转发|轉寄|転送|전달|הועבר|إعادة توجيه)\s*[:：]/i
const FINNISH = /^lähettäjä:/im

/** Whether a mail is forwarded, by its subject. `VS` is Norwegian for that and Finnish for an answer. */
export function isForward(subject: string, content: string): boolean {
  return FORWARDED.test(subject) && !(/^\s*vs\s*:/i.test(subject) && FINNISH.test(content.slice(0, MOST_CHARACTERS)))
}

const MARK = /^>/

/** The first lines, and what comes after them. */
function linesOf(whole: string): { lines: string[]; rest: string } {
  const all = whole.slice(0, MOST_CHARACTERS).split('\n')
  const isAll = whole.length <= MOST_CHARACTERS && all.length <= MOST_LINES
  const first = isAll ? all : all.slice(0, Math.min(MOST_LINES, all.length - 1))
  const length = first.reduce((sum, line) => sum + line.length + 1, 0)
  const lines = first.map((line) => (line === SIGNATURE ? line : trimmed(line)))
  return { lines, rest: whole.slice(length) }
}

/** Byte order marks, as Apple writes before the quote, and marks of direction, which Gmail writes around an attribution. */
const INVISIBLE = /[\s\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/

function trimmed(line: string): string {
  let end = line.length
  while (end > 0 && INVISIBLE.test(line[end - 1]!)) end--
  let start = 0
  while (start < end && line[start] !== ' ' && line[start] !== '\t' && INVISIBLE.test(line[start]!)) start++
  return line.slice(start, end)
}

function quoteByHtml(lines: readonly string[], { quote, isLast, signature }: KnownParts): Quote | null {
  const found = lineBeginning(lines, quote)
  if (found === null) return null
  const before = lines.slice(0, found).findLastIndex(isText)
  const isBare = MARK.test(lines[found]!) && !isQuoteBegin(lines, found)
  const attribution = isBare ? attributionEndingAt(lines, before, true) : null
  const start = isRule(lines[before] ?? '') ? before : (attribution ?? found)
  const signed = signature && lineBeginning(lines, signature)
  const end = isLast && lines.slice(0, start).some(isText) ? null : lastMarked(lines)
  return { start, end, signature: signed !== null && signed < start ? signed : null }
}

const isRule = (line: string) => /^_{5,}$/.test(line)

/** The line with which a part begins. */
function lineBeginning(lines: readonly string[], { letters, before }: Beginning): number | null {
  const starts = new Map<number, number>()
  let all = ''
  for (const [at, line] of lines.entries()) {
    const own = lettersOf(line)
    if (own !== '') starts.set(all.length, at)
    all += own
  }
  const [first = -1] = placesOf(letters, all).slice(before)
  return starts.get(first) ?? null
}

/** Where letters are in others, without overlap; nowhere if they are too few to name a place. */
export function placesOf(letters: string, all: string): number[] {
  const places: number[] = []
  if (letters.length < FEWEST_LETTERS) return places
  for (let at = all.indexOf(letters); at >= 0; at = all.indexOf(letters, at + letters.length)) places.push(at)
  return places
}

const FEWEST_LETTERS = 8
export const lettersOf = (text: string) => text.replaceAll(/[^\p{L}\p{N}]+/gu, '')

function quoteIn(lines: readonly string[]): Quote | null {
  for (const [at, line] of lines.entries()) {
    if (line === '') continue
    const start =
      isGroupWise(line) || isReplyAbove(line) || isOriginalMark(line) || isHeaderBlock(lines, at) ? at : null
    if (start !== null) return { start: isRule(lines[at - 1] ?? '') ? at - 1 : at, end: null }
    if (MARK.test(line)) {
      if (!MARK.test(lines[at - 1] ?? '') && isQuoteBegin(lines, at)) return { start: at, end: lastMarked(lines) }
      continue
    }
    if (!/[:：]$|---$/.test(line)) continue
    const isMarked = MARK.test(nextText(lines, at + 1))
    const attribution = attributionEndingAt(lines, at, isMarked)
    if (attribution !== null) return { start: attribution, end: isMarked ? lastMarked(lines) : null }
  }
  return null
}

/** Marked lines without an attribution before them are a quote if the first of them are one, as Apple's. */
function isQuoteBegin(lines: readonly string[], at: number): boolean {
  const first = lines.slice(at, at + MOST_WRAPPED).map((line) => line.slice(0, LONGEST).replace(/^> ?/, ''))
  return isDatedAddress(first.join(' '))
}

/** The line on which an attribution begins that ends on this one; programs wrap it. A line before it counts only behind a
 *  blank one, and if the next word did not fit or it ends with a time zone (Claws): else it may be the author's. */
function attributionEndingAt(lines: readonly string[], end: number, isMarked: boolean): number | null {
  for (let from = end; from >= Math.max(0, end - MOST_WRAPPED); from--) {
    if (from < end && !isWrapped(lines[from]!, lines[from + 1]!)) break
    const isBegin = from === end || (lines[from - 1] ?? '') === ''
    if (isBegin && isAttribution(lines.slice(from, end + 1).join(' '), isMarked)) return from
  }
  return isMarked && isSender(lines[end] ?? '') ? end : null
}

function isWrapped(line: string, next: string): boolean {
  if (line === '' || line.length > LONGEST || MARK.test(line)) return false
  return line.length + next.slice(0, LONGEST).split(' ')[0]!.length >= SHORTEST_WRAPPED || / [+-]\d{4}$/.test(line)
}

const SHORTEST_WRAPPED = 60
const MOST_WRAPPED = 3

function nextText(lines: readonly string[], from: number): string {
  for (let at = from; at < lines.length; at++) if (isText(lines[at]!)) return lines[at]!
  return ''
}

const lastMarked = (lines: readonly string[]) => lines.findLastIndex((line) => MARK.test(line))

/** The author's lines above the quote, or below it. Null: on both sides, inside, or nowhere that is certain. */
function aroundQuote(
  lines: readonly string[],
  { start, end, signature }: Quote,
  rest: string,
): readonly string[] | null {
  const above = withoutEnd(lines.slice(0, signature ?? start))
  if (end === null) return above.some(isText) ? above : null
  const marked = lines.findIndex((line, at) => at >= start && MARK.test(line))
  if (marked < 0 || lines.slice(start, marked).filter(isText).length > ATTRIBUTION_LINES) return null
  if (lines.slice(marked, end).some((line) => isText(line) && !MARK.test(line))) return null
  if (/^[^>\s]/m.test(rest)) return null
  const below = withoutEnd(lines.slice(end + 1))
  return above.some(isText) && below.some(isText) ? null : above.some(isText) ? above : below
}

const ATTRIBUTION_LINES = 4
const isText = (line: string) => line.trim() !== ''

const SIGNATURE = '-- '
/** Lines of a signature at most: more is something else behind a line of dashes. */
const SIGNATURE_LINES = 15

function withoutEnd(lines: readonly string[]): readonly string[] {
  const dashes = lines.findIndex((_, at) => lines.length - at <= SIGNATURE_LINES && beginsSignature(lines, at))
  const own = dashes >= 0 ? lines.slice(0, dashes) : lines
  const last = own.findLastIndex(isText)
  const isAlone = last >= 0 && !isText(own[last - 1] ?? '')
  return isAlone && isMobileLine(own[last]!) ? own.slice(0, last) : own
}

/** Programs and servers lose the blank behind the dashes; people write such a line too. */
function beginsSignature(lines: readonly string[], at: number): boolean {
  if (lines[at] === SIGNATURE) return true
  if (lines[at] !== '--' || isText(lines[at - 1] ?? '')) return false
  return !lines.slice(at + 1, lines.findLastIndex(isText)).some((line) => !isText(line))
}

const joined = (lines: readonly string[]) => lines.join('\n').trim()
