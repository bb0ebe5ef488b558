import { domainToASCII } from 'node:url'
import { trimBlanks } from './blanks.ts'

/** An address with its display name. `domain` is the lower-case A-label, `local` keeps its spelling (quotes included),
 *  `address` is `local@domain`, ready for MAIL, RCPT and headers. */
export interface Mailbox {
  name: string | null
  local: string
  domain: string
  address: string
}

/** Text of exactly one `a@d`, `<a@d>`, `Name <a@d>` or `a@d (Name)` → its mailbox; null for everything else. A name may
 *  contain commas, brackets and other special characters without quotes, as in `Acme, Inc. <a@d>`, and dots may stand
 *  anywhere in a local part (canonicalLocal). Refused are lists and groups of several addresses, a comma beside
 *  another address in a name, text behind the brackets, source routes, address literals, one-label domains, control
 *  characters, over-long parts, and local parts that look like an encoded word (RFC 2047), which clients would show as
 *  another address: no text can name a second recipient or hide another author. Local parts may be UTF-8. Never throws.
 *  RFC 5322 §3.4 and §4.4, RFC 5321 §4.1.2, RFC 6531 §3.3 */
export function parseMailbox(text: string): Mailbox | null {
  if (text.length > MAX_TEXT) return null
  const trimmed = trimBlanks(text)
  if (FORBIDDEN.test(trimmed) || !trimmed.isWellFormed()) return null
  if (trimmed.endsWith('>')) {
    const open = trimmed.lastIndexOf('<')
    return open < 0 ? null : withName(trimmed.slice(0, open), trimmed.slice(open + 1, -1))
  }
  const commented = COMMENTED.exec(trimmed)
  return commented === null ? addrSpec(null, trimmed) : withName(commented[2]!, commented[1]!)
}

/** Domain name in any letter case, with U-labels or A-labels → lower-case A-labels, or null when it cannot be a mail
 *  domain: one label, numeric last label, empty or over-long label, address literal, trailing dot, anything but
 *  letters, digits and hyphens. Never throws. RFC 1035 §2.3.1, RFC 1123 §2.1, RFC 5890, UTS 46. */
export function toALabel(domain: string): string | null {
  const plain = PLAIN_DOMAIN.test(domain)
  if (!plain && !NON_ASCII.test(domain)) return null
  // Our own check runs before and after: the URL rules also decode %-escapes and read numbers as IPv4 addresses.
  if (/[\x00-\x2c/:-@[-`{-\x7f]/.test(domain)) return null
  const ascii = plain && !A_LABEL.test(domain) ? domain.toLowerCase() : asciiDomain(domain)
  return ascii.length <= 253 && A_DOMAIN.test(ascii) ? ascii : null
}

/** Any text in place of a domain → its lower-case A-labels; '' if it has none. Over-long names have none, because
 *  computing A-labels takes quadratic time. Never throws. RFC 5890 §2.3.2.1 */
export function asciiDomain(domain: string): string {
  if (domain.length > MAX_TEXT) return ''
  const shown = NON_ASCII.test(domain) ? domain.replace(IGNORED, '') : domain
  const isTooLong = shown.length > MAX_DOMAIN || shown.split('.').some((label) => label.length > MAX_LABEL)
  return isTooLong ? '' : domainToASCII(shown)
}

/** A host name of DNS, a header or a program → as it is compared: lower-case A-labels without the root dot. What is no
 *  domain name stays as it is. */
export function comparableHost(host: string): string {
  const plain = host.trim().toLowerCase().replace(/\.$/, '')
  return NON_ASCII.test(plain) ? asciiDomain(plain) || plain : plain
}

/** Whether a text is a local part: a dot-string, perhaps with UTF-8, or a quoted string. RFC 5321 §4.1.2, RFC 6531 §3.3 */
export function isLocalPart(text: string): boolean {
  return DOT_STRING.test(text) || QUOTED_LOCAL.test(text)
}

/** A local part → quoted only if it has to be, with as few backslashes as possible: `"a..b"` for `a..b`, and `ann` for
 *  `"ann"`. Both spellings name one mailbox, and suppressions must hold for either. Other text stays as it is. RFC 5321
 *  §4.1.2 */
export function canonicalLocal(text: string): string {
  const content = QUOTED_LOCAL.test(text) ? text.slice(1, -1).replace(/\\(.)/gs, '$1') : text
  if (DOT_STRING.test(content)) return content
  return content !== text || DOTS_ANYWHERE.test(text) ? `"${content.replace(/["\\]/g, '\\$&')}"` : text
}

/** Mailbox → text for people and JSON, with the name in UTF-8 and quoted if needed; parseMailbox reads it back. Not for
 *  message headers, which compose writes. */
export function formatMailbox(mailbox: Mailbox): string {
  if (mailbox.name === null) return mailbox.address
  return `${quoteName(mailbox.name)} <${mailbox.address}>`
}

/** Display name → itself, or a quoted string if it contains special characters. RFC 5322 §3.2.4 */
function quoteName(name: string): string {
  return SPECIALS.test(name) || /^ | $| {2}/.test(name) ? `"${name.replace(/["\\]/g, '\\$&')}"` : name
}

/** RFC 1035 §2.3.4. No real label is longer before its characters are composed. */
const MAX_DOMAIN = 253
const MAX_LABEL = 63
/** Characters removed from names: padding with them could hide a name that clients display. UTS 46 §4, `ignored` */
const IGNORED =
  /\u{ad}|\u{34f}|[\u{180b}-\u{180d}]|\u{180f}|\u{200b}|\u{2060}|\u{2064}|[\u{fe00}-\u{fe0f}]|\u{feff}|[\u{1bca0}-\u{1bca3}]|[\u{e0100}-\u{e01ef}]/gu

// An encoded header line of 998 characters (RFC 5322 §2.1.1) plus an address; longer text is not a name.
const MAX_TEXT = 4_096
// Control characters except TAB, and characters that reverse reading direction or break lines.
const FORBIDDEN = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/
// Start of an encoded word. RFC 2047 §2
const ENCODED_WORD = /=\?[^?]+\?[bq]\?/i
// Invisible characters in a local part make two addresses look equal.
const UNSEEN = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff\ufff9-\ufffb]/
const NON_ASCII = /[^\x00-\x7f]/
const SPECIALS = /[()<>[\]:;@\\,"]/
/** An address and the comment that names its owner. RFC 5322 §4.4 calls it obsolete; cron and others still write it. */
const COMMENTED = /^([^\s"(]+)[ \t]*\(([^()@]*)\)$/
/** A quoted string, or text between two of them. One that never closes extends to the end: failing there would make each
 *  quote in it be tried again. */
const PIECE = /"((?:[^"\\]|\\.?)*)("|$)|[^"]+/gs
// RFC 5321 §4.1.2 with the UTF-8 of RFC 6531 §3.3, except white space beyond ASCII, which no mail server uses.
const ATEXT = String.raw`[A-Za-z0-9!#$%&'*+\-/=?^_\x60{|}~]|[^\x00-\x7f\s]`
const DOT_STRING = new RegExp(`^(?:${ATEXT})+(?:\\.(?:${ATEXT})+)*$`, 'u')
/** Mobile carriers in Japan gave out addresses such as `a..b@` and `abc.@`. */
const DOTS_ANYWHERE = new RegExp(`^(?:${ATEXT}|\\.)+$`, 'u')
const QUOTED_LOCAL = /^"(?:[ !#-[\]-~]|[^\x00-\x7f]|\\[ -~])*"$/u
const PLAIN_DOMAIN = /^[A-Za-z0-9.-]+$/
const A_LABEL = /(?:^|\.)xn--/i
const A_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

function withName(name: string, address: string): Mailbox | null {
  const shown = displayName(trimBlanks(name))
  return shown === null ? null : addrSpec(shown.trim() === '' ? null : shown, trimBlanks(address))
}

function addrSpec(name: string | null, text: string): Mailbox | null {
  const at = text.lastIndexOf('@') // a domain has none; a quoted local part may
  const written = text.slice(0, Math.max(at, 0))
  const local = canonicalLocal(written)
  if (!isLocalPart(local)) return null
  if (ENCODED_WORD.test(local) || UNSEEN.test(local)) return null
  const domain = toALabel(text.slice(at + 1))
  if (domain === null) return null
  const localBytes = Buffer.byteLength(local)
  // RFC 5321 §4.5.3.1.1 and .3: 64 octets; a path is 256 with its brackets.
  if (localBytes > 64 || localBytes + 1 + domain.length > 254) return null
  return { name, local, domain, address: `${local}@${domain}` }
}

/** Text beside an address → the display name, empty if there is none; null if the text may name another address. */
function displayName(text: string): string | null {
  let name = ''
  let outsideQuotes = ''
  for (const [piece, inner, end] of text.matchAll(PIECE)) {
    if (end === '') return null
    if (inner === undefined) outsideQuotes += piece
    name += inner === undefined ? piece.replace(/[ \t]+/g, ' ') : inner.replace(/\\(.)/gs, '$1').replace(/\t/g, ' ')
  }
  const isList = outsideQuotes.includes('@') && /[,;]/.test(outsideQuotes)
  return isList || /[<>]/.test(outsideQuotes) ? null : name
}
