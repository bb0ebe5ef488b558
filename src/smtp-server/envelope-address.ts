import { toALabel } from '../mail/address.ts'
import { SmtpReply } from './reply.ts'
import type { EnvelopeAddress } from './session.ts'

/** The parsed argument of `MAIL FROM:` or `RCPT TO:`. */
export interface SpokenPath {
  /** null for `<>`. */
  address: EnvelopeAddress | null
  /** ESMTP parameters in order; keywords in upper case, null for a keyword without value. */
  parameters: Map<string, string | null>
}

/** Sender or recipient rules. A recipient's domain is a host name (RFC 1123 §2.1); `localDomain` completes a postmaster
 *  without domain (RFC 5321 §4.5.1). A sender's domain may be any DNS name (RFC 2181 §11), underscores included. */
export type PathKind = { who: 'sender' } | { who: 'recipient'; localDomain: string }

/** `<local@domain> KEY=value …` → address and parameters. The domain becomes a lower-case A-label. The local part keeps
 *  its spelling: `%` and `!` have no meaning, unnecessary quotes are removed. Throws SmtpReply: 501 for a syntax error,
 *  550 5.7.1 for source routes and address literals, 553 5.6.7 for non-ASCII without `utf8`. Spaces before `<` are
 *  accepted because many clients send them. RFC 5321 §4.1.2 and §4.5.1, RFC 6531 §3.3. */
export function parseSpokenPath(
  text: string,
  utf8: (parameters: SpokenPath['parameters']) => boolean,
  of: PathKind,
): SpokenPath {
  const spoken = PATH.exec(text)
  if (spoken === null) throw new SmtpReply(501, '5.5.4', 'expected an address in angle brackets')
  const parameters = parseParameters(spoken[2]!)
  const path = spoken[1]!
  if (NON_ASCII.test(path) && !utf8(parameters)) {
    throw new SmtpReply(553, '5.6.7', 'non-ASCII address requires SMTPUTF8 in MAIL')
  }
  const whole = of.who === 'recipient' && POSTMASTER.test(path) ? `${path}@${of.localDomain}` : path
  const domainOf = of.who === 'sender' ? dnsName : toALabel
  return { address: whole === '' ? null : parseAddress(whole, domainOf), parameters }
}

/** `<`, any text with quoted strings kept whole, `>`, rest. Control characters, lone surrogates and invalid UTF-8 never
 *  match. */
const PATH =
  /^ *<((?:"(?:[ !#-[\]-~]|[^\x00-\xa0\u2028\u2029\ud800-\udfff\ufffd]|\\[ -~])*"|[!#-;=?-~]|[^\x00-\xa0\u2028\u2029\ud800-\udfff\ufffd])*)>((?: [^\x00-\x1f\x7f]*)?)$/u
const NON_ASCII = /[^\x00-\x7f]/
const POSTMASTER = /^postmaster$/i
const ADDRESS = /^(?:"((?:[^"\\]|\\.)*)"|([^@"(),:;<>[\\\]]+))@([^@]+)$/u
const DOT_STRING = /^[^\s.]+(?:\.[^\s.]+)*$/
const ATEXT_AND_DOTS = /^(?:[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]|[^\x00-\x7f\s])+$/u
// RFC 5321 §4.5.3.1.3. The 64-octet limit for local parts is not enforced: return paths of large senders are longer.
const LONGEST_ADDRESS_BYTES = 254

function parseAddress(path: string, domainOf: (text: string) => string | null): EnvelopeAddress {
  if (path.startsWith('@')) throw new SmtpReply(550, '5.7.1', 'source routes not supported')
  const parts = ADDRESS.exec(path)
  if (parts === null) throw new SmtpReply(501, '5.5.4', 'invalid address')
  const domainText = parts[3]!
  if (domainText.startsWith('[')) throw new SmtpReply(550, '5.7.1', 'address literals not supported')
  const domain = domainOf(domainText)
  const local = parts[1] === undefined ? parts[2]! : unquoted(parts[1])
  if (domain === null || (parts[1] === undefined && !isLocal(local))) {
    throw new SmtpReply(501, '5.5.4', domain === null ? 'invalid domain' : 'invalid local part')
  }
  const address = `${local}@${domain}`
  if (Buffer.byteLength(address) > LONGEST_ADDRESS_BYTES) throw new SmtpReply(501, '5.5.4', 'address too long')
  return { address, local, domain }
}

/** Like toALabel, but allows underscores in place of letters. Underscores and non-ASCII letters cannot be combined in
 *  one name. */
function dnsName(text: string): string | null {
  if (!text.includes('_') || NON_ASCII.test(text)) return toALabel(text)
  return toALabel(text.replaceAll('_', 'x')) === null ? null : text.toLowerCase()
}

const isLocal = (text: string) => ATEXT_AND_DOTS.test(text) && DOT_STRING.test(text)

/** Content of a quoted string → the same local part unquoted, or quoted with as few backslashes as possible. */
function unquoted(inside: string): string {
  const plain = inside.replace(/\\(.)/gsu, '$1')
  return isLocal(plain) ? plain : `"${plain.replace(/["\\]/g, '\\$&')}"`
}

function parseParameters(text: string): Map<string, string | null> {
  const parameters = new Map<string, string | null>()
  for (const word of text.split(' ')) {
    if (word === '') continue
    const equals = word.indexOf('=')
    const key = (equals < 0 ? word : word.slice(0, equals)).toUpperCase()
    if (!/^[A-Z0-9][A-Z0-9-]*$/.test(key) || equals === word.length - 1) {
      throw new SmtpReply(501, '5.5.4', 'invalid parameter')
    }
    if (parameters.has(key)) throw new SmtpReply(501, '5.5.4', `duplicate parameter ${key}`)
    parameters.set(key, equals < 0 ? null : word.slice(equals + 1))
  }
  return parameters
}
