import { toALabel } from '../mail/address.ts'
import { SmtpReply } from './reply.ts'
import type { EnvelopeAddress } from './session.ts'

/** What stands behind `MAIL FROM:` or `RCPT TO:`. */
export interface SpokenPath {
  /** null = `<>`. */
  address: EnvelopeAddress | null
  /** Keywords in upper case; null = no value. In the order they were spoken. */
  parameters: Map<string, string | null>
}

/** Who is named. A recipient's domain is a host name (RFC 1123 §2.1), and `home` is that of a postmaster who is spoken without
 *  one (RFC 5321 §4.5.1). A sender's domain may be any name of the DNS (RFC 2181 §11): some have underscores. */
export type PathKind = { who: 'sender' } | { who: 'recipient'; localDomain: string }

/** `<local@domain> KEY=value …` → its parts. The domain becomes its lower-case A-label; the local part stays as it was
 *  spoken, `%` and `!` in it mean nothing, quotes go where they are not needed. Throws SmtpReply: 501 for what is not
 *  understood whole, 550 5.7.1 for source routes and address literals, 553 5.6.7 for non-ASCII where `utf8` is not agreed.
 *  Spaces before `<` are let pass, many programs say them. RFC 5321 §4.1.2 and §4.5.1, RFC 6531 §3.3. */
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
    throw new SmtpReply(553, '5.6.7', 'an address that is not ASCII needs SMTPUTF8 in MAIL')
  }
  const whole = of.who === 'recipient' && POSTMASTER.test(path) ? `${path}@${of.localDomain}` : path
  const domainOf = of.who === 'sender' ? dnsName : toALabel
  return { address: whole === '' ? null : parseAddress(whole, domainOf), parameters }
}

/** `<` anything, quoted strings whole, `>` and the rest. Controls, lone surrogates and what was no UTF-8 match nowhere. */
const PATH =
  /^ *<((?:"(?:[ !#-[\]-~]|[^\x00-\xa0\u2028\u2029\ud800-\udfff\ufffd]|\\[ -~])*"|[!#-;=?-~]|[^\x00-\xa0\u2028\u2029\ud800-\udfff\ufffd])*)>((?: [^\x00-\x1f\x7f]*)?)$/u
const NON_ASCII = /[^\x00-\x7f]/
const POSTMASTER = /^postmaster$/i
const ADDRESS = /^(?:"((?:[^"\\]|\\.)*)"|([^@"(),:;<>[\\\]]+))@([^@]+)$/u
const DOT_STRING = /^[^\s.]+(?:\.[^\s.]+)*$/
const ATEXT_AND_DOTS = /^(?:[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]|[^\x00-\x7f\s])+$/u
// RFC 5321 §4.5.3.1.3. Its 64 octets for the local part are not asked for: the return paths of large senders are longer.
const LONGEST_ADDRESS_BYTES = 254

function parseAddress(path: string, domainOf: (text: string) => string | null): EnvelopeAddress {
  if (path.startsWith('@')) throw new SmtpReply(550, '5.7.1', 'source routes are refused')
  const parts = ADDRESS.exec(path)
  if (parts === null) throw new SmtpReply(501, '5.5.4', 'not an address')
  const domainText = parts[3]!
  if (domainText.startsWith('[')) throw new SmtpReply(550, '5.7.1', 'address literals are refused')
  const domain = domainOf(domainText)
  const local = parts[1] === undefined ? parts[2]! : unquoted(parts[1])
  if (domain === null || (parts[1] === undefined && !isLocal(local))) {
    throw new SmtpReply(501, '5.5.4', domain === null ? 'not a domain of mail' : 'not a local part')
  }
  const address = `${local}@${domain}`
  if (Buffer.byteLength(address) > LONGEST_ADDRESS_BYTES) throw new SmtpReply(501, '5.5.4', 'the address is too long')
  return { address, local, domain }
}

/** As toALabel, with underscores wherever a letter may stand; not in one name with letters beyond ASCII. */
function dnsName(text: string): string | null {
  if (!text.includes('_') || NON_ASCII.test(text)) return toALabel(text)
  return toALabel(text.replaceAll('_', 'x')) === null ? null : text.toLowerCase()
}

const isLocal = (text: string) => ATEXT_AND_DOTS.test(text) && DOT_STRING.test(text)

/** Inside of a quoted string → the same local part without quotes, or quoted with as few backslashes as can be. */
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
      throw new SmtpReply(501, '5.5.4', 'not a parameter')
    }
    if (parameters.has(key)) throw new SmtpReply(501, '5.5.4', `${key} is said twice`)
    parameters.set(key, equals < 0 ? null : word.slice(equals + 1))
  }
  return parameters
}
