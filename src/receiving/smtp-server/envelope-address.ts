import { isIP } from 'node:net'
import { canonicalLocal, isLocalPart, toALabel } from '../../mail/address.ts'
import { SmtpReply } from './reply.ts'
import type { EnvelopeAddress } from './session.ts'

/** The parsed argument of `MAIL FROM:` or `RCPT TO:`. */
export interface SpokenPath {
  /** null for `<>`, and for a sender that is ignored. */
  address: EnvelopeAddress | null
  /** ESMTP parameters in order; keywords in upper case, null for a keyword without value. */
  parameters: Map<string, string | null>
}

/** Rules for the address. `recipient`: its domain is a host name (RFC 1123 §2.1); `localDomain` completes a postmaster
 *  without domain (RFC 5321 §4.5.1). `sender`: its domain may be any DNS name (RFC 2181 §11), underscores and one label
 *  included, or an address literal. `ignored`: the sender of a submission, which nothing uses, so only its length is
 *  checked, and the result is null. */
export type PathKind = { who: 'sender' | 'ignored' } | { who: 'recipient'; localDomain: string }

/** `<local@domain> KEY=value …` → address and parameters. Like Postfix, it accepts an address without brackets or with
 *  two pairs, spaces around it, dots anywhere in the local part, and a dot behind the domain. The domain becomes a
 *  lower-case A-label, the local part the spelling of canonicalLocal; `%` and `!` have no meaning. Throws SmtpReply: 501
 *  for a syntax error, 550 5.7.1 for source routes and address literals, 553 5.6.7 for non-ASCII without `utf8`.
 *  RFC 5321 §4.1.2 and §4.5.1, RFC 6531 §3.3. */
export function parseSpokenPath(
  text: string,
  utf8: (parameters: SpokenPath['parameters']) => boolean,
  of: PathKind,
): SpokenPath {
  const spoken = (of.who === 'ignored' ? IGNORED : PATH).exec(text)
  if (spoken === null) throw new SmtpReply(501, '5.5.4', 'expected an address in angle brackets')
  const parameters = parseParameters(spoken[3]!)
  if (of.who === 'ignored') return { address: null, parameters }
  const path = spoken[1] ?? spoken[2] ?? ''
  if (NON_ASCII.test(path) && !utf8(parameters)) {
    throw new SmtpReply(553, '5.6.7', 'non-ASCII address requires SMTPUTF8 in MAIL')
  }
  const whole = of.who === 'recipient' && POSTMASTER.test(path) ? `${path}@${of.localDomain}` : path
  return { address: whole === '' ? null : parseAddress(whole, of), parameters }
}

/** A character of an address outside quotes, or a quoted string as a whole. Control characters, lone surrogates and
 *  invalid UTF-8 never match. */
const PIECE = String.raw`"(?:[ !#-[\]-~]|[^\x00-\xa0\u2028\u2029\ud800-\udfff\ufffd]|\\[ -~])*"|[!#-;=?-~]|[^\x00-\xa0\u2028\u2029\ud800-\udfff\ufffd]`
const BEHIND = String.raw`((?: [^\x00-\x1f\x7f]*)?)$`
const PATH = new RegExp(`^ *(?:<{1,2} *(?:((?:${PIECE})+) *)?>{1,2}|((?:${PIECE})+)>?)${BEHIND}`, 'u')
const IGNORED = new RegExp(`^ *(?:<([^\\x00-\\x1f\\x7f>]{0,1000})>{1,2}|([^\\x00-\\x20\\x7f<]{1,1000}))${BEHIND}`, 'u')
const NON_ASCII = /[^\x00-\x7f]/
const POSTMASTER = /^postmaster$/i
// RFC 5321 §4.5.3.1.3. The 64-octet limit for local parts is not enforced: return paths of large senders are longer.
const LONGEST_ADDRESS_BYTES = 254

function parseAddress(path: string, { who }: PathKind): EnvelopeAddress {
  if (path.startsWith('@')) throw new SmtpReply(550, '5.7.1', 'source routes not supported')
  const at = path.lastIndexOf('@')
  const local = canonicalLocal(path.slice(0, Math.max(at, 0)))
  const domainText = path.slice(at + 1).replace(/\.$/, '')
  if (who === 'recipient' && domainText.startsWith('[')) {
    throw new SmtpReply(550, '5.7.1', 'address literals not supported')
  }
  if (at < 0) throw new SmtpReply(501, '5.5.4', 'invalid address')
  if (!isLocalPart(local)) throw new SmtpReply(501, '5.5.4', 'invalid local part')
  const domain = who === 'recipient' ? toALabel(domainText) : senderDomain(domainText)
  if (domain === null) throw new SmtpReply(501, '5.5.4', 'invalid domain')
  const address = `${local}@${domain}`
  if (Buffer.byteLength(address) > LONGEST_ADDRESS_BYTES) throw new SmtpReply(501, '5.5.4', 'address too long')
  return { address, local, domain }
}

/** Like toALabel, but allows one label (`root@web1`), an address literal, and underscores in place of letters, which
 *  cannot be combined with non-ASCII letters in one name. */
function senderDomain(text: string): string | null {
  const literal = /^\[(?:IPv6:)?([0-9a-f.:]{2,45})\]$/i.exec(text)?.[1]
  if (literal !== undefined) return isIP(literal) === 0 ? null : text
  if (NON_ASCII.test(text)) return toALabel(text)
  const isName = toALabel(`${text.replaceAll('_', 'x')}${text.includes('.') ? '' : '.x'}`) !== null
  return isName && !/^\d+$/.test(text) ? text.toLowerCase() : null
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
