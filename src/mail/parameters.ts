import { decodeCharset } from './charset.ts'
import { decodeWords, type WordBudget } from './encoded-words.ts'

/** Value of a Content-Type or Content-Disposition field → the named parameter (any letter case), without quotes; null
 *  if missing. Supports RFC 2231 splitting and percent-encoding, and non-standard encoded words. The first of two with
 *  one name counts, and the encoded form before the plain one, which is there for old clients. Linear, never throws.
 *  RFC 2045 §5.1, RFC 2231 §3, §4 */
export function parameterOf(value: string, name: string, words?: WordBudget): string | null {
  const wanted = name.toLowerCase()
  return parameterIn(readParameters(value, new Set([wanted])), wanted, words)
}

/** The requested parameters of one value: by lower-case name, without the RFC 2231 suffix. */
export type Parameters = ReadonlyMap<string, readonly Parameter[]>

interface Parameter {
  /** Behind the name: `*`, `*0`, `*0*`; usually ''. */
  suffix: string
  /** With its quotes. */
  text: string
}

/** Like parameterOf, for a value parsed once for several names. */
export function parameterIn(parameters: Parameters, name: string, words?: WordBudget): string | null {
  const pieces = new Map<number, { text: string; isEncoded: boolean }>()
  let plain: string | null = null
  for (const parameter of parameters.get(name) ?? []) {
    const { suffix } = parameter
    if (suffix === '' && plain !== null) continue
    const piece = /^\*(?:(\d{1,2})(\*)?)?$/.exec(suffix)
    if (suffix !== '' && piece === null) continue
    const index = Number(piece?.[1] ?? 0)
    if (piece !== null && pieces.has(index)) continue
    const text = FILE_NAMES.has(name) ? unquotedName(parameter.text) : unquoted(parameter.text)
    if (piece === null) plain = text
    else pieces.set(index, { text, isEncoded: piece[1] === undefined || piece[2] !== undefined })
  }
  if (pieces.has(0)) return joined(pieces, words)
  return plain === null ? null : withWords(plain, words)
}

/** A shortened name may end inside an encoded word. */
function withWords(text: string, words?: WordBudget): string {
  return decodeWords(text.slice(0, LONGEST_WORDS).replace(CUT_WORD, '$1?='), words)
}

const CUT_WORD = /(=\?[^?\s]{1,60}\?[bq]\?[^?\s]+)\??$/i

/** Decoding encoded words costs several times as much as other text, and each part may have as many as a mail's
 *  header. */
const LONGEST_WORDS = 8_000

/** First word of such a value after comments, lower case: `text/plain`; '' if none. */
export function mediaType(value: string): string {
  const [word = ''] = value
    .trimStart()
    .replace(COMMENTS, '')
    .split(/[;,\s(]/, 1)
  return word.toLowerCase()
}

const COMMENTS = /^(?:\([^()]{0,200}\)\s{0,20}){1,3}/

function joined(pieces: ReadonlyMap<number, { text: string; isEncoded: boolean }>, words?: WordBudget): string {
  const first = pieces.get(0)
  const said = first?.isEncoded ? /^([^']*)'[^']*'(.*)$/s.exec(first.text) : null
  const isEncoded = [...pieces.values()].some((piece) => piece.isEncoded)
  const texts: string[] = []
  for (let piece = first; piece !== undefined; piece = pieces.get(texts.length)) {
    const text = texts.length === 0 ? (said?.[2] ?? piece.text) : piece.text
    texts.push(isEncoded && !piece.isEncoded ? text.replaceAll('%', '%25') : text)
  }
  const whole = texts.join('') // an escape may be split between two pieces
  if (!isEncoded) return withWords(whole, words)
  const bytes = percentDecoded(whole)
  return decodeCharset(bytes, said?.[1] ?? '') ?? bytes.toString('latin1')
}

/** Where a program shortened the text, a cut escape may follow the last whole one. */
function percentDecoded(text: string): Buffer {
  const binary = Buffer.from(text)
    .toString('latin1')
    .replace(/(%[0-9a-f]{2})%[0-9a-f]?$/i, '$1')
  return Buffer.from(
    binary.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}

/** Their unquoted values may contain blanks and backslashes. */
const FILE_NAMES: ReadonlySet<string> = new Set(['name', 'filename'])

/** Each `; name=value` with one of these lower-case names. */
export function readParameters(value: string, names: ReadonlySet<string>): Parameters {
  const found = new Map<string, Parameter[]>()
  for (let at = endOfSegment(value, 0); at < value.length; ) {
    const end = endOfSegment(value, at + 1)
    const segment = value.slice(at + 1, end)
    const equals = segment.indexOf('=')
    const key = segment.slice(0, Math.max(equals, 0)).trim().toLowerCase()
    const star = key.indexOf('*')
    const name = star < 0 ? key : key.slice(0, star)
    if (names.has(name)) {
      const parameter = { suffix: key.slice(name.length), text: segment.slice(equals + 1).trim() }
      const same = found.get(name)
      if (same === undefined) found.set(name, [parameter])
      else same.push(parameter)
    }
    at = end
  }
  return found
}

const [BACKSLASH, QUOTE, SEMICOLON] = [92, 34, 59]

/** Offset of the next `;` outside quotes, or the length. */
function endOfSegment(value: string, from: number): number {
  let isQuoted = false
  for (let at = from; at < value.length; at++) {
    const char = value.charCodeAt(at)
    if (isQuoted && char === BACKSLASH) at++
    else if (char === QUOTE) isQuoted = !isQuoted
    else if (char === SEMICOLON && !isQuoted) return at
  }
  return value.length
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text.split(/[\s(]/, 1)[0] ?? ''
  let end = 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return text.slice(1, end).replace(/\\(.?)/gs, '$1')
}

/** Windows programs write `"C:\a.txt"` with single backslashes: only escaped quotes and backslashes count. */
function unquotedName(text: string): string {
  if (!text.startsWith('"')) return text
  return unquoted(text.replace(/\\(["\\])?/g, (sequence, char) => (char === undefined ? '\\\\' : sequence)))
}
