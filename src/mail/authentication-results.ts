import { foldField } from './header-text.ts'

/** One finding: `dkim=pass (2048 bit) header.d=a.example`. Comment and values may be an attacker's text. */
export interface AuthenticationResult {
  method: 'spf' | 'dkim' | 'dmarc' | 'arc'
  result: string
  comment: string | null
  /** `smtp.mailfrom`, `header.d` … and what stands there; one without a value is left out. */
  properties: [name: string, value: string][]
}

/** Our name and findings → Authentication-Results field, folded, CRLF ended. ASCII only: whatever else stands in values
 *  and comments becomes `?`, and nothing in them can end a value, a comment or the field. RFC 8601 §2.2. */
export function authenticationResultsField(authservId: string, results: readonly AuthenticationResult[]): string {
  return foldField(NAME, tokensOf(authservId, results))
}

/** The same without name and last line end, as ARC-Authentication-Results wants it behind its `i=`. RFC 8617 §4.1.1. */
export function authenticationResultsPayload(authservId: string, results: readonly AuthenticationResult[]): string {
  return authenticationResultsField(authservId, results).slice(NAME.length + 2, -2)
}

/** Raw mail → byte ranges, in order, of its Authentication-Results fields that speak in our name; a sender wrote them,
 *  and they must go before ours is added. Those of other hosts are not in it. Linear, reads the whole header however
 *  large it is, never throws. RFC 8601 §5. */
export function ownResultRanges(raw: Uint8Array, authservId: string): { start: number; end: number }[] {
  return rangesOf(raw, NAME.toLowerCase(), (value) => authservIdOf(value) === authservId.toLowerCase())
}

/** Raw mail → byte ranges, in order, of its fields of this name (lower-case) whose value, unfolded, the test takes. */
export function rangesOf(
  raw: Uint8Array,
  key: string,
  takes: (value: string) => boolean = () => true,
): { start: number; end: number }[] {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const ranges: { start: number; end: number }[] = []
  for (let start = 0; start < bytes.length; ) {
    if (bytes[start] === LF || (bytes[start] === CR && bytes[start + 1] === LF)) break
    const end = endOfField(bytes, start)
    const name = bytes.toString('latin1', start, Math.min(start + key.length, end)).toLowerCase()
    if (name === key) {
      const rest = /^\s*:([\s\S]*)$/.exec(bytes.toString('latin1', start + key.length, end))
      if (rest !== null && takes(rest[1]!)) ranges.push({ start, end })
    }
    start = end
  }
  return ranges
}

/** The bytes without these ranges (in order, apart); the same object when there are none. */
export function without(raw: Uint8Array, ranges: readonly { start: number; end: number }[]): Uint8Array {
  if (ranges.length === 0) return raw
  const kept: Uint8Array[] = []
  let at = 0
  for (const { start, end } of ranges) {
    kept.push(raw.subarray(at, start))
    at = end
  }
  kept.push(raw.subarray(at))
  return Buffer.concat(kept)
}

const NAME = 'Authentication-Results'
const [TAB, LF, CR, SPACE] = [9, 10, 13, 32]
/** RFC 2045 §5.1 */
const TOKEN = /^[A-Za-z0-9!#$%&'*+\-.^_`{|}~]+$/
/** Of an address, RFC 5321 §4.5.3.1, with room to spare: a line has at most 998 bytes. */
const LONGEST_VALUE = 400

function tokensOf(authservId: string, results: readonly AuthenticationResult[]): string[] {
  if (results.length === 0) return [`${authservId};`, 'none']
  const tokens = [`${authservId};`]
  for (const [index, { method, result, comment, properties }] of results.entries()) {
    const said = [`${method}=${result}`]
    if (comment !== null && comment !== '') said.push(...commentTokens(comment))
    for (const [name, value] of properties) if (value !== '') said.push(`${name}=${pvalue(value)}`)
    if (index < results.length - 1) said[said.length - 1] += ';'
    tokens.push(...said)
  }
  return tokens
}

function commentTokens(comment: string): string[] {
  const clean = printable(comment)
    .replace(/[()\\]/g, ' ')
    .trim()
  return clean === '' ? [] : `(${clean})`.split(/ +/)
}

/** RFC 8601 §2.2: a token, an address whose parts are such, or a quoted string. */
function pvalue(value: string): string {
  const clean = printable(value)
  if (TOKEN.test(clean) || /^[\w.+-]*@[\w.-]+$/.test(clean)) return clean
  return `"${clean.replace(/["\\]/g, '\\$&')}"`
}

function printable(text: string): string {
  return text.slice(0, LONGEST_VALUE).replace(/[^ -~]/g, '?')
}

function endOfField(bytes: Buffer, start: number): number {
  for (let at = start; ; ) {
    const newline = bytes.indexOf(LF, at)
    if (newline < 0) return bytes.length
    at = newline + 1
    if (bytes[at] !== SPACE && bytes[at] !== TAB) return at
  }
}

/** Value of such a field → the host it speaks for, lower-case; '' when it names none. Comments may stand around it. */
function authservIdOf(value: string): string {
  const rest = withoutComments(value)
  const quoted = /^\s*"((?:[^"\\]|\\[\s\S])*)"/.exec(rest)
  const said = quoted === null ? /^\s*([^\s;]+)/.exec(rest)?.[1] : quoted[1]!.replace(/\\([\s\S])/g, '$1')
  return (said ?? '').trim().toLowerCase().replace(/\.$/, '')
}

/** The comments in front of the first `;` become blanks, nested ones too. */
function withoutComments(value: string): string {
  let depth = 0
  let plain = ''
  for (let at = 0; at < value.length; at++) {
    const char = value[at]!
    if (depth > 0 && char === '\\') at++
    else if (char === '(') depth++
    else if (char === ')' && depth > 0) depth--
    else if (depth > 0) continue
    else if (char === ';') return plain
    else plain += char
    if (depth === 0 && char === ')') plain += ' '
  }
  return plain
}
