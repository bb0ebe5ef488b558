import type { Mailbox } from './address.ts'

/** Header name and unbreakable tokens → one header field ending in CRLF, folded between tokens to 76 characters where
 *  possible. The first token always follows the name: an empty first line is legal, but some receivers lose the field.
 *  RFC 5322 §2.2.3 */
export function foldField(name: string, tokens: readonly string[]): string {
  let field = `${name}:`
  let column = field.length
  for (const [index, token] of tokens.entries()) {
    const isFolded = index > 0 && column + 1 + token.length > LINE
    field += isFolded ? `\r\n ${token}` : ` ${token}`
    column = (isFolded ? 0 : column) + 1 + token.length
  }
  return `${field}\r\n`
}

/** Text (a subject) → header field in 7-bit ASCII. Plain text stays plain and folds at spaces. Encoded words are used
 *  for non-ASCII, words too long to fold, text that looks encoded, and spaces that a client would drop. Control
 *  characters and line ends become a space. RFC 2047 */
export function textField(name: string, text: string): string {
  const clean = withoutControls(text)
  const width = LINE - name.length - 2
  const isPlain = PRINTABLE.test(clean) && !/=\?|^ | $| {2}/.test(clean)
  const words = clean.split(' ')
  if (isPlain && words.every((word) => word.length <= width)) return foldField(name, words)
  return foldField(name, encodedWords(clean, width))
}

/** Mailboxes → address header field; '' for none. Names are encoded words unless plain ASCII; an address with a UTF-8
 *  local part is written raw (RFC 6532). RFC 5322 §3.4 */
export function addressField(name: string, mailboxes: readonly Mailbox[]): string {
  if (mailboxes.length === 0) return ''
  const tokens: string[] = []
  for (const [index, mailbox] of mailboxes.entries()) {
    const comma = index < mailboxes.length - 1 ? ',' : ''
    if (mailbox.name === null) {
      tokens.push(`${mailbox.address}${comma}`)
    } else {
      tokens.push(...phrase(mailbox.name, LINE - name.length - 2), `<${mailbox.address}>${comma}`)
    }
  }
  return foldField(name, tokens)
}

/** A caller's header → header field in 7-bit ASCII. ASCII values stay unchanged (they may have their own syntax),
 *  folded at single spaces; only non-ASCII, control characters and words beyond the 998 of RFC 5322 §2.1.1 are encoded.
 *  Throws on CR, LF or NUL in the value and on an invalid name: the last defence against header injection. */
export function customField(name: string, value: string): string {
  if (!FIELD_NAME.test(name)) throw new Error(`invalid header name: ${JSON.stringify(name.slice(0, 80))}`)
  if (/[\r\n\0]/.test(value)) throw new Error(`header ${name} contains a line break or NUL`)
  const clean = value.replace(/\t/g, ' ').trim()
  if (PRINTABLE.test(clean)) {
    const words = foldable(clean)
    if (words.every((word) => word.length <= 996 - name.length)) return foldField(name, words)
  }
  return textField(name, clean)
}

/** Text → encoded words of at most `maxLength` (and 75) characters, never splitting a character; Q for mostly ASCII
 *  text, which stays readable in logs, else B. Lone surrogates become U+FFFD. RFC 2047 §2, §4, §5 */
export function encodedWords(text: string, maxLength: number): string[] {
  const points = Array.from(text.toWellFormed())
  const width = Math.max(Math.min(maxLength, 75) - '=?UTF-8?Q??='.length, 12)
  const sizeBytes = Buffer.byteLength(text)
  const plain = points.filter((point) => point === ' ' || Q_SAFE.test(point)).length // one byte each; others take three
  if (plain + 3 * (sizeBytes - plain) <= sizeBytes * 1.8) {
    const quoted = points.map((point) => (Q_SAFE.test(point) ? point : point === ' ' ? '_' : percent(point, '=')))
    return pack(quoted, quoted, width).map((part) => `=?UTF-8?Q?${part}?=`)
  }
  const sizes = points.map((point) =>
    point < '\x80' ? '.' : point < '\u0800' ? '..' : point.length > 1 ? '....' : '...',
  )
  return pack(points, sizes, Math.floor(width / 4) * 3).map(
    (part) => `=?UTF-8?B?${Buffer.from(part).toString('base64')}?=`,
  )
}

/** Parameter of a MIME header → its pieces, one per line. ASCII is a quoted string; non-ASCII, very long values and
 *  those that look encoded are split and percent-encoded by RFC 2231 §3 and §4. */
export function parameter(name: string, value: string): string[] {
  const clean = withoutControls(value)
  if (PRINTABLE.test(clean) && clean.length <= 60 && !clean.includes('=?'))
    return [`${name}="${clean.replace(/["\\]/g, '\\$&')}"`]
  const encoded = Array.from(clean.toWellFormed()).map((point) => (ATTR_CHAR.test(point) ? point : percent(point, '%')))
  const parts = pack(encoded, encoded, 66 - name.length)
  if (parts.length === 1) return [`${name}*=UTF-8''${parts[0]}`]
  return parts.map((part, index) => `${name}*${index}*=${index === 0 ? "UTF-8''" : ''}${part}`)
}

/** Replaces each run of control characters by one space. */
export function withoutControls(text: string): string {
  return CONTROLS.test(text) ? text.replace(/[\x00-\x1f\x7f]+/g, ' ') : text
}

const LINE = 76 // RFC 2047 §2: a line with an encoded word
const PRINTABLE = /^[ -~]*$/
const CONTROLS = /[\x00-\x1f\x7f]/
const FIELD_NAME = /^[!-9;-~]{1,76}$/
const ATOMS = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~ ]*$/
const Q_SAFE = /^[A-Za-z0-9!*+\-/]$/ // RFC 2047 §5 (3): characters allowed in a name are allowed everywhere
const ATTR_CHAR = /^[A-Za-z0-9!#$&+.^_`{|}~-]$/ // RFC 2231 §7

/** Display name → tokens of a phrase. RFC 5322 §3.2.5, RFC 2047 §5 (3). */
function phrase(name: string, width: number): string[] {
  const clean = withoutControls(name)
  const isPlain = PRINTABLE.test(clean) && !/=\?|^ | $| {2}/.test(clean)
  if (isPlain && ATOMS.test(clean)) {
    const words = clean.split(' ')
    if (words.every((word) => word.length <= width)) return words
  } else if (isPlain && clean.length <= width - 8) {
    return [`"${clean.replace(/["\\]/g, '\\$&')}"`]
  }
  return encodedWords(clean, width)
}

/** Splits at single spaces; a run of spaces stays inside its word, so that unfolding gives the same value. */
function foldable(text: string): string[] {
  return text.includes('  ') ? text.split(/(?<! ) (?! )/) : text.split(' ')
}

/** Percent-encodes the UTF-8 of one character, with the given sign before each byte. */
function percent(point: string, sign: string): string {
  let text = ''
  for (const byte of Buffer.from(point)) text += `${sign}${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`
  return text
}

/** Joins neighbours into parts whose measures together fit `width`; at least one part. */
function pack(items: readonly string[], measures: readonly string[], width: number): string[] {
  const parts: string[] = []
  let part = ''
  let used = 0
  for (const [index, item] of items.entries()) {
    const size = measures[index]?.length ?? item.length
    if (used + size > width && part !== '') {
      parts.push(part)
      part = ''
      used = 0
    }
    part += item
    used += size
  }
  if (part !== '' || parts.length === 0) parts.push(part)
  return parts
}
