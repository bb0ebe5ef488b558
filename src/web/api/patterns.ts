import { INVISIBLE_CLASS } from '../../net/visible-text.ts'
import { REFUSED_PORTS } from '../../net/webhook-url.ts'

/** JSON Schema keywords for text fields that functions validate, for the OpenAPI document. Spread them into `meta`.
 *
 *  The server itself does not run these patterns. Each works in regex engines with and without Unicode mode and matches
 *  everything that the validating function accepts. It matches more only where a schema cannot express the rule: sizes
 *  in UTF-8, IDNA, case-insensitive comparison. test/fuzz/fitting.test.ts compares patterns and functions. */

/** Control characters except TAB, and characters that change the writing direction or break lines (mail/address.ts). */
const FORBIDDEN = String.raw`\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`
const ATOMS_AND_DOTS = String.raw`[^\s"(),:;<>@[\\\]${INVISIBLE_CLASS}]+`
const QUOTED_LOCAL = String.raw`"(?:[ !#-[\]-~]|\\[ -~]|[^\u0000-\u007f${INVISIBLE_CLASS}]){0,62}"`
const QUOTED_NAME = String.raw`"(?:[^"\\${FORBIDDEN}]|\\[^${FORBIDDEN}])*"`
const NO_NAME = String.raw`(?:"(?:\\?[ \t])*"[ \t]*)*`
/** A name with `@`, or with commas and semicolons, but not with both outside of quotes. */
const NAME = String.raw`(?:(?:${QUOTED_NAME}|[^<>"@${FORBIDDEN}])*|(?:${QUOTED_NAME}|[^<>",;${FORBIDDEN}])*)`
const ASCII_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
/** A label with non-ASCII letters. The pattern accepts all of them; only IDNA defines which are allowed, and where. */
const OTHER_LABEL = String.raw`(?=[A-Za-z0-9-]*[^\u0000-\u007f])[^\u0000-,./:-@[-\x60{-\u00a0\u2028-\u202e\u2066-\u2069]{1,63}`
const LABEL = `(?:${ASCII_LABEL}|${OTHER_LABEL})`

/** A domain name of at least two labels, the last one not a number, followed by the pattern `end`. */
const domainUpTo = (end: string) => String.raw`(?:${LABEL}[.\u3002\uff0e\uff61])+(?!\d+${end})${LABEL}${end}`
/** A local part of at most 64 characters without an encoded word (RFC 2047). */
const LOCAL = String.raw`(?!.*=\?[^?]+\?[bBqQ]\?)(?=[^@]{1,64}@)(?:${ATOMS_AND_DOTS}|${QUOTED_LOCAL})`
const addressUpTo = (end: string) => `${LOCAL}@${domainUpTo(end)}`
const BARE = addressUpTo(String.raw`[ \t]*$`)
const IN_BRACKETS = String.raw`<[ \t]*${addressUpTo(String.raw`[ \t]*>[ \t]*$`)}`
const commented = (comment: string) => String.raw`(?!")${addressUpTo(String.raw`[ \t]*\(${comment}\)[ \t]*$`)}`

/** An address: `ann@example.com`. `format` excludes internationalized addresses, and `maxLength` some addresses with
 *  spaces around them; the validating function accepts both. */
export const EMAIL = {
  format: 'email',
  maxLength: 320,
  pattern: String.raw`^[ \t]*(?:${BARE}|${NO_NAME}${IN_BRACKETS}|${commented(String.raw`[ \t]*`)})`,
}
/** An address with an optional display name: `Ann <ann@example.com>`, or `ann@example.com (Ann)`. */
export const MAILBOX = {
  maxLength: 998,
  pattern: String.raw`^[ \t]*(?:${BARE}|${NAME}${IN_BRACKETS}|${commented(`[^()@${FORBIDDEN}]*`)})`,
}
/** A domain name. */
export const DOMAIN = { maxLength: 253, pattern: `^${domainUpTo('$')}` }
/** A host name. Surrounding white space and a trailing dot are ignored. */
export const HOST = { maxLength: 1_000, pattern: String.raw`^\s*${domainUpTo(String.raw`\.?\s*$`)}` }

/** A time in RFC 3339 format without leap seconds, or a date alone. Only `format` rejects dates such as 31 February. */
export const TIME = {
  format: 'date-time',
  pattern: String.raw`^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:[Zz]|[+\-](?:[01]\d|2[0-3]):[0-5]\d))?$`,
}

const NOT_BLANK = String.raw`(?=\s*\S)`
/** A subject: one line, not blank. */
export const SUBJECT = { maxLength: 998, pattern: String.raw`^${NOT_BLANK}[^\r\n\u0000]*$` }
/** A body part, or the empty string, which counts as absent. */
export const BODY_OR_EMPTY = { pattern: String.raw`^(?:${NOT_BLANK}[^\u0000]+)?$` }
/** A body part: not blank, without NUL. */
export const BODY = { pattern: String.raw`^${NOT_BLANK}[^\u0000]+$` }
/** iCalendar text (mail/calendar.ts). */
export const CALENDAR = {
  pattern: String.raw`^\s*[Bb][Ee][Gg][Ii][Nn]:[Vv][Cc][Aa][Ll][Ee][Nn][Dd][Aa][Rr][ \t]*[\r\n][^\u0000]*$`,
}
/** Any text that is not blank. */
export const NOT_BLANK_TEXT = { pattern: String.raw`^${NOT_BLANK}` }
/** Text of visible characters only (net/visible-text.ts), not blank. */
export const SEEN = { pattern: String.raw`^${NOT_BLANK}[^${INVISIBLE_CLASS}]+$` }

/** Name of a message stream. */
export const STREAM = { pattern: '^[a-z0-9][a-z0-9_-]{0,31}$' }

/** Headers that Postrider sets itself (sending/submission/checks.ts). */
const OWN_HEADERS =
  'from|to|cc|bcc|reply-to|subject|date|message-id|mime-version|sender|dkim-signature|domainkey-signature|received|received-spf|return-path|delivered-to|authentication-results|' +
  'content-(?:type|transfer-encoding|disposition|id|description|location|base|md5|length)'
const OWN_PREFIXES = 'arc-|resent-|x-service-|x-postrider-'
/** `ab` → `[Aa][Bb]`, because a JSON Schema pattern has no flag for case-insensitive matching. */
const anyCase = (words: string) => words.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)
/** Name of an additional header, except for those that Postrider sets itself. */
export const HEADER_NAME = {
  pattern: `^(?!(?:${anyCase(OWN_HEADERS)})$|${anyCase(OWN_PREFIXES)})[!-9;-~]{1,76}$`,
}
/** Value of a header: one line. */
export const HEADER_VALUE = { maxLength: 998, pattern: String.raw`^[^\u0000-\u0008\u000a-\u001f\u007f]*$` }
/** Headers of a request to an endpoint that Postrider sets itself, or that belong to the connection (RFC 9110 §7.6.1). */
export const POSTED_HEADERS = [
  ...[
    'accept',
    'accept-encoding',
    'connection',
    'expect',
    'host',
    'http2-settings',
    'keep-alive',
    'proxy-authenticate',
  ],
  ...['proxy-authentication-info', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'user-agent'],
]
export const POSTED_PREFIXES = ['content-', 'svix-', 'webhook-', 'x-inbound-', 'x-postrider-', 'x-service-']
/** Some servers read `_` as `-`. */
const anySpelling = (names: readonly string[]) => anyCase(names.join('|')).replaceAll('-', '[-_]')
/** Name of an additional header of webhooks and inbound routes: a token (RFC 9110 §5.6.2). */
export const ENDPOINT_HEADER_NAME = {
  pattern: `^(?!(?:${anySpelling(POSTED_HEADERS)})$|${anySpelling(POSTED_PREFIXES)})[!#$%&'*+\\-.^_\`|~0-9A-Za-z]{1,100}$`,
}
/** Value of such a header: visible ASCII with spaces between. */
export const ASCII_LINE = /^[!-~](?:[ -~]*[!-~])?$/
export const ENDPOINT_HEADER_VALUE = { maxLength: 4_096, pattern: ASCII_LINE.source }
/** Name of an attachment, without a path. */
export const FILENAME = {
  minLength: 1,
  maxLength: 255,
  pattern: String.raw`^(?!\.{1,2}$)[^\u0000-\u001f\u007f\u2028-\u202e\u2066-\u2069/\\]+$`,
}
const TOKEN = String.raw`[A-Za-z0-9!#$&^_.+\-]+`
/** Media type with optional parameters (RFC 2045 §5.1). */
export const CONTENT_TYPE = {
  maxLength: 255,
  pattern: String.raw`^${TOKEN}/${TOKEN}(?:[ \t]*;[ \t]*${TOKEN}=(?:${TOKEN}|"[ !#-[\]-~]*"))*$`,
}
/** Content-ID of an attachment, with or without angle brackets and `cid:`. */
export const CONTENT_ID = { pattern: '^(?!<?[Cc][Ii][Dd]:>?$)(?:<[!-;=?-~]{1,255}>|[!-;=?-~]{1,255})$' }

/** Alias of a template. */
export const ALIAS = { pattern: '^[a-z0-9-]{1,100}$' }
/** Language tag with an optional script and region. */
export const LOCALE = { pattern: '^[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?$' }
/** ID or alias of a template. */
export const TEMPLATE_NAME = { pattern: '^(?:tpl_[0-9a-hjkmnp-tv-z]{26}|[a-z0-9-]{1,100})$' }

/** An https URL without credentials or a refused port. Only the validating function checks that its address is
 *  public. */
export const ENDPOINT_URL = {
  format: 'uri',
  maxLength: 2_048,
  pattern: String.raw`^[Hh][Tt][Tt][Pp][Ss]://(?![^/?#]*:0*(?:${[...REFUSED_PORTS].join('|')})(?:[/?#]|$))[^/@\\\s\u0000-\u001f\u007f]+(?:[/?#][^\\\s\u0000-\u001f\u007f]*)?$`,
}

const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const IPV4 = String.raw`(?:${BYTE}\.){3}${BYTE}`
/** An IP address, or a network in CIDR notation. */
export const NETWORK = {
  maxLength: 64,
  pattern: String.raw`^(?:${IPV4}(?:/0*(?:3[0-2]|[12]?[0-9]))?|(?=[^/]*:)[0-9A-Fa-f:.]{2,45}(?:/0*(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$`,
}

/** A host without a port, or an http or https URL. */
export const BLOCKED_TARGET = {
  pattern: String.raw`^\s*(?:[Hh][Tt][Tt][Pp][Ss]?://[^/?#\s]\S*|[^/?#@:\s]+|\[[0-9A-Fa-f:.]+\])\s*$`,
}
