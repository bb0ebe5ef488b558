import { INVISIBLE_CLASS } from '../net/visible-text.ts'
import { REFUSED_PORTS } from '../net/webhook-url.ts'

/** JSON Schema keywords for text fields that are checked in code, for the OpenAPI document; spread them into `meta`.
 *  This server runs none of the patterns. Each is written for engines with and without Unicode mode, matches
 *  everything that the check accepts, and leaves to the check only what a schema cannot express: UTF-8 sizes, IDNA,
 *  comparison without case. test/fuzz/fitting.test.ts compares them with the checks. */

/** Control characters except TAB, and characters that change the writing direction or break lines (mail/address.ts). */
const FORBIDDEN = String.raw`\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`
const ATOM = String.raw`[^\s"(),.:;<>@[\\\]${INVISIBLE_CLASS}]+`
const QUOTED_LOCAL = String.raw`"(?:[ !#-[\]-~]|\\[ -~]|[^\u0000-\u007f${INVISIBLE_CLASS}]){0,62}"`
const QUOTED_NAME = String.raw`(?!"(?:\\?\s)*")"(?:[^"\\${FORBIDDEN}]|\\[^${FORBIDDEN}])*"[ \t]*`
const PLAIN_NAME = String.raw`(?=[^<]*[^\s<])[^()<>[\]:;@\\,"${FORBIDDEN}]+`
const ASCII_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
/** IDNA decides which letters beyond ASCII a name may contain, and where. */
const OTHER_LABEL = String.raw`(?=[A-Za-z0-9-]*[^\u0000-\u007f])[^\u0000-,./:-@[-\x60{-\u00a0\u2028-\u202e\u2066-\u2069]{1,63}`
const LABEL = `(?:${ASCII_LABEL}|${OTHER_LABEL})`

/** At least two labels, the last one not a number; `end`: what follows. */
const domainUpTo = (end: string) => String.raw`(?:${LABEL}[.\u3002\uff0e\uff61])+(?!\d+${end})${LABEL}${end}`
/** No encoded word, at most 64 characters before the `@`. */
const LOCAL = String.raw`(?!.*=\?[^?]+\?[bBqQ]\?)(?=[^@]{1,64}@)(?:${ATOM}(?:\.${ATOM})*|${QUOTED_LOCAL})`
const BARE = `${LOCAL}@${domainUpTo(String.raw`[ \t]*$`)}`

/** The format excludes internationalized addresses, which the check accepts, and the length excludes blanks around
 *  an address. */
export const EMAIL = { format: 'email', maxLength: 320, pattern: String.raw`^[ \t]*${BARE}` }
export const MAILBOX = {
  maxLength: 998,
  pattern: String.raw`^[ \t]*(?:${BARE}|(?:${QUOTED_NAME}|${PLAIN_NAME})<${LOCAL}@${domainUpTo('>')}[ \t]*$)`,
}
export const DOMAIN = { maxLength: 253, pattern: `^${domainUpTo('$')}` }
/** White space around it and a dot behind it are taken off. */
export const HOST = { maxLength: 1_000, pattern: String.raw`^\s*${domainUpTo(String.raw`\.?\s*$`)}` }

/** RFC 3339 without leap seconds, or a date alone. The format covers the former, including dates such as 31
 *  February. */
export const TIME = {
  format: 'date-time',
  pattern: String.raw`^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:[Zz]|[+\-](?:[01]\d|2[0-3]):[0-5]\d))?$`,
}

const NOT_BLANK = String.raw`(?=\s*\S)`
/** One line. */
export const SUBJECT = { maxLength: 998, pattern: String.raw`^${NOT_BLANK}[^\r\n\u0000]*$` }
/** The empty string counts as absent. */
export const BODY_OR_EMPTY = { pattern: String.raw`^(?:${NOT_BLANK}[^\u0000]+)?$` }
export const BODY = { pattern: String.raw`^${NOT_BLANK}[^\u0000]+$` }
export const NOT_BLANK_TEXT = { pattern: String.raw`^${NOT_BLANK}` }
/** One line of text in which each character can be seen. */
export const SEEN = { pattern: String.raw`^${NOT_BLANK}[^${INVISIBLE_CLASS}]+$` }

/** Without those that the service writes (submission/checks.ts), in any letter case: a pattern has no flag for that. */
const OWN_HEADERS =
  'from|to|cc|bcc|reply-to|subject|date|message-id|mime-version|sender|dkim-signature|domainkey-signature|received|received-spf|return-path|delivered-to|list-unsubscribe|list-unsubscribe-post|authentication-results'
const OWN_PREFIXES = 'content-|arc-|resent-|x-service-|x-postrider-'
const anyCase = (words: string) => words.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)
export const HEADER_NAME = {
  pattern: `^(?!(?:${anyCase(OWN_HEADERS)})$|${anyCase(OWN_PREFIXES)})[!-9;-~]{1,76}$`,
}
export const HEADER_VALUE = { maxLength: 998, pattern: String.raw`^[^\u0000-\u0008\u000a-\u001f\u007f]*$` }
export const FILENAME = {
  minLength: 1,
  maxLength: 255,
  pattern: String.raw`^(?!\.{1,2}$)[^\u0000-\u001f\u007f\u2028-\u202e\u2066-\u2069/\\]+$`,
}
const TOKEN = String.raw`[A-Za-z0-9!#$&^_.+\-]+`
export const CONTENT_TYPE = {
  maxLength: 255,
  pattern: String.raw`^${TOKEN}/${TOKEN}(?:[ \t]*;[ \t]*${TOKEN}=(?:${TOKEN}|"[ !#-[\]-~]*"))*$`,
}
export const CONTENT_ID = { pattern: '^(?:<[!-;=?-~]{1,255}>|[!-;=?-~]{1,255})$' }

export const ALIAS = { pattern: '^[a-z0-9-]{1,100}$' }
export const TEMPLATE_NAME = { pattern: '^(?:tpl_[0-9a-hjkmnp-tv-z]{26}|[a-z0-9-]{1,100})$' }

/** Which addresses are public is left to the check. */
export const ENDPOINT_URL = {
  format: 'uri',
  maxLength: 2_048,
  pattern: String.raw`^[Hh][Tt][Tt][Pp][Ss]://(?![^/?#]*:0*(?:${[...REFUSED_PORTS].join('|')})(?:[/?#]|$))[^/@\\\s\u0000-\u001f\u007f]+(?:[/?#][^\\\s\u0000-\u001f\u007f]*)?$`,
}

const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const IPV4 = String.raw`(?:${BYTE}\.){3}${BYTE}`
/** An address or a network in CIDR notation. */
export const NETWORK = {
  maxLength: 64,
  pattern: String.raw`^(?:${IPV4}(?:/0*(?:3[0-2]|[12]?[0-9]))?|(?=[^/]*:)[0-9A-Fa-f:.]{2,45}(?:/0*(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$`,
}

/** A host without a port, or a URL of http or https. */
export const BLOCKED_TARGET = {
  pattern: String.raw`^\s*(?:[Hh][Tt][Tt][Pp][Ss]?://[^/?#\s]\S*|[^/?#@:\s]+|\[[0-9A-Fa-f:.]+\])\s*$`,
}
