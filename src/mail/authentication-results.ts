import { type FieldRange, rangesOf } from './field-ranges.ts'
import { foldField } from './header-text.ts'

/** One result: `dkim=pass (2048 bit) header.d=a.example`. Comment and values may come from an attacker. */
export interface AuthenticationResult {
  method: 'spf' | 'dkim' | 'dmarc' | 'arc'
  result: string
  comment: string | null
  /** `smtp.mailfrom`, `header.d` … with their values; empty ones are omitted. */
  properties: [name: string, value: string][]
}

/** Our name and results → Authentication-Results field, folded, ending in CRLF. ASCII only: other characters in values
 *  and comments become `?`, and nothing in them can end a value, a comment or the field. RFC 8601 §2.2 */
export function authenticationResultsField(authservId: string, results: readonly AuthenticationResult[]): string {
  return foldField(NAME, tokensOf(authservId, results))
}

/** The same without name and final line end, as ARC-Authentication-Results needs it after its `i=`. RFC 8617 §4.1.1 */
export function authenticationResultsPayload(authservId: string, results: readonly AuthenticationResult[]): string {
  return authenticationResultsField(authservId, results).slice(NAME.length + 2, -2)
}

/** Raw mail → byte ranges, in order, of Authentication-Results fields in our name, which a sender forged and which must
 *  be removed before ours is added. Excludes those of other hosts. Linear, reads the whole header whatever its size,
 *  never throws. RFC 8601 §5 */
export function ownResultRanges(raw: Uint8Array, authservId: string): FieldRange[] {
  return rangesOf(raw, NAME.toLowerCase(), (value) => authservIdOf(value) === authservId.toLowerCase())
}

const NAME = 'Authentication-Results'
/** RFC 2045 §5.1 */
const TOKEN = /^[A-Za-z0-9!#$%&'*+\-.^_`{|}~]+$/
/** An address (RFC 5321 §4.5.3.1) with a margin; a line has at most 998 bytes. */
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

/** RFC 8601 §2.2: a token, an address of tokens, or a quoted string. */
function pvalue(value: string): string {
  const clean = printable(value)
  if (TOKEN.test(clean) || /^[\w.+-]*@[\w.-]+$/.test(clean)) return clean
  return `"${clean.replace(/["\\]/g, '\\$&')}"`
}

function printable(text: string): string {
  return text.slice(0, LONGEST_VALUE).replace(/[^ -~]/g, '?')
}

/** Value of such a field → the host it names, lower case; '' for none. Comments may surround it. */
function authservIdOf(value: string): string {
  const rest = withoutComments(value)
  const quoted = /^\s*"((?:[^"\\]|\\[\s\S])*)"/.exec(rest)?.[1]
  const said = quoted === undefined ? /^\s*([^\s;]+)/.exec(rest)?.[1] : quoted.replace(/\\([\s\S])/g, '$1')
  return (said ?? '').trim().toLowerCase().replace(/\.$/, '')
}

/** Replaces comments before the first `;` by blanks, nested ones included. */
function withoutComments(value: string): string {
  let depth = 0
  let plain = ''
  for (let at = 0; at < value.length; at++) {
    const char = value.charAt(at)
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
