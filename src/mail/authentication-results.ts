import { type FieldRange, rangesOf } from './field-ranges.ts'
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
export function ownResultRanges(raw: Uint8Array, authservId: string): FieldRange[] {
  return rangesOf(raw, NAME.toLowerCase(), (value) => authservIdOf(value) === authservId.toLowerCase())
}

const NAME = 'Authentication-Results'
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
