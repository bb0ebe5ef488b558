import { isComposedHeader } from '../../mail/compose.ts'
import { hasAtMost } from '../../mail/cut-text.ts'
import { foreignUnsubscribe } from '../../mail/foreign-unsubscribe.ts'
import { findUnsubscribe } from '../../mail/unsubscribe-placeholder.ts'
import { type Metadata, STREAM_NAME } from '../../model/message.ts'
import { hasInvisible } from '../../net/visible-text.ts'
import { isRecord } from '../../os/records.ts'

/** Validity of each field of a submission, for API and SMTP. A check returns the fault as a predicate for the field
 *  name (`must be …`), or null; none throws. Sizes are UTF-8 bytes. Numbers marked "ours" are our own choice; the
 *  others are the customer's requirements. */

export const MAX_ATTACHMENTS = 100 // ours: each costs a MIME part; no mail client shows more
export const MAX_HEADERS = 50 // ours
export const MAX_TAGS = 10
export const MAX_EXPIRES_SECONDS = 366 * 86_400 // ours: longer than any retry schedule, and a valid date
export const MAX_SCHEDULE_AHEAD_MS = 30 * 24 * 3_600_000

export function subjectFault(subject: string): string | null {
  if (subject.trim() === '') return 'must not be empty'
  return lineFault(subject) ?? (bytesOf(subject) > 998 ? 'must be at most 998 bytes' : null)
}

/** For `html` and `text`. Accepts sloppy HTML, which is common in mail; refuses what no client can show. */
export function bodyFault(body: string): string | null {
  if (!/\S/.test(body)) return 'must not be empty'
  if (body.includes('\0')) return 'must not contain NUL'
  return body.isWellFormed() ? null : MALFORMED
}

/** Name of an extra header: RFC 5322 §3.6.8 ftext, except names that Postrider writes itself. */
export function headerNameFault(name: string): string | null {
  if (!/^[!-9;-~]{1,76}$/.test(name)) {
    return 'must have a name of 1 to 76 printable ASCII characters without space and colon'
  }
  const isOurs = isComposedHeader(name) || OWN_HEADER.test(name)
  return isOurs ? 'is set by Postrider and cannot be overridden' : null
}

export function headerValueFault(value: string): string | null {
  const fault = lineFault(value)
  if (fault !== null) return fault
  if (/[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(value)) return 'must not contain control characters'
  return bytesOf(value) > 998 ? 'must be at most 998 bytes' : null // RFC 5322 §2.1.1
}

/** Checks the author's own unsubscribe headers among the extra ones: `List-Unsubscribe` with https or mailto URIs (RFC
 *  2369 §3.2), and `List-Unsubscribe-Post` only beside an https URI (RFC 8058 §3.1). Returns the first fault, or null. */
export function unsubscribeHeaderFault(headers: readonly [string, string][]): { name: string; fault: string } | null {
  const find = (key: string) => headers.find(([name]) => name.toLowerCase() === key)
  const [uris, post] = [find('list-unsubscribe'), find('list-unsubscribe-post')]
  if (uris !== undefined && !UNSUBSCRIBE_URIS.test(uris[1])) {
    return { name: uris[0], fault: 'must be a list such as <https://example.com/leave>, <mailto:leave@example.com>' }
  }
  const placeholder = uris && (findUnsubscribe(uris[1]) ?? foreignUnsubscribe(uris[1]))
  if (uris !== undefined && placeholder) {
    return { name: uris[0], fault: `must not contain ${placeholder}. Omit the header, and set unsubscribe to true` }
  }
  if (post === undefined) return null
  if (post[1].trim() !== 'List-Unsubscribe=One-Click') {
    return { name: post[0], fault: 'must be List-Unsubscribe=One-Click' }
  }
  const isOneClick = uris !== undefined && /<https:/i.test(uris[1])
  return isOneClick ? null : { name: post[0], fault: 'requires an https link in List-Unsubscribe' }
}

/** Whether these are headers that Postrider adds where `unsubscribe` is not false. */
export function isUnsubscribeHeader(name: string): boolean {
  return /^list-unsubscribe(?:-post)?$/i.test(name)
}

/** Mail clients use it to save the file, so it must not select a folder. */
export function filenameFault(filename: string): string | null {
  const characters = [...filename.slice(0, 2 * 255 + 1)].length
  if (characters < 1 || characters > 255) return 'must be 1 to 255 characters' // NAME_MAX of macOS and Windows
  if (CONTROL.test(filename)) return 'must not contain line breaks, NUL or other control characters'
  if (TURNING.test(filename)) return 'must not contain bidirectional control characters'
  if (!filename.isWellFormed()) return MALFORMED
  return /[/\\]/.test(filename) || filename === '.' || filename === '..' ? 'must not contain a path' : null
}

/** `type/subtype` with parameters. RFC 2045 §5.1 */
export function contentTypeFault(contentType: string): string | null {
  const fault = lineFault(contentType)
  if (fault !== null) return fault
  if (contentType.length <= 255 && CONTENT_TYPE.test(contentType)) return null
  return 'must be a media type such as application/pdf'
}

/** The target of `cid:…` in html, without angle brackets. */
export function contentIdFault(contentId: string): string | null {
  const fault = lineFault(contentId)
  if (fault !== null) return fault
  if (/^[!-;=?-~]{1,255}$/.test(contentId)) return null
  return 'must be 1 to 255 printable ASCII characters without spaces and angle brackets'
}

export function tagFault(tag: string): string | null {
  if (tag.trim() === '' || !hasAtMost(tag, 64)) return 'must be 1 to 64 characters'
  if (!tag.isWellFormed()) return MALFORMED
  return hasInvisible(tag)
    ? 'must not contain line breaks, NUL or other control, bidirectional or invisible characters'
    : null
}

/** Whether it is configured, streams.ts says. */
export function streamFault(stream: string): string | null {
  return STREAM_NAME.test(stream) ? null : 'must be the name of a message stream'
}

/** Metadata of any type → its faults, each with its key or null for the whole; [] if it is valid Metadata. */
export function metadataFaults(metadata: unknown): { key: string | null; fault: string }[] {
  if (!isRecord(metadata)) return [{ key: null, fault: 'must be an object' }]
  // JSON has no infinity, but 1e999 parses to one and would be written as null.
  const faults: { key: string | null; fault: string }[] = Object.entries(metadata)
    .filter(([, value]) => !VALUE_TYPES.has(typeof value) || value === Infinity || value === -Infinity)
    .map(([key]) => ({ key, fault: 'must be a string, a number or a boolean' }))
  const fault = metadataFault(metadata)
  return fault === null ? faults : [...faults, { key: null, fault }]
}

export const isMetadata = (metadata: unknown): metadata is Metadata => metadataFaults(metadata).length === 0

/** Metadata whose values are strings, numbers and booleans. */
export function metadataFault(metadata: Record<string, unknown>): string | null {
  if (Object.keys(metadata).length > 50) return 'must have at most 50 keys'
  // No text of 30 MB is read to its end: JSON has at least a byte for each of its characters.
  const isLong = (part: unknown) => typeof part === 'string' && part.length > MAX_METADATA
  if (Object.entries(metadata).flat().some(isLong)) return TOO_LONG
  const json = JSON.stringify(metadata)
  if (!json.isWellFormed()) return MALFORMED
  return bytesOf(json) > MAX_METADATA ? TOO_LONG : null
}

const MAX_METADATA = 4096 // bytes
const TOO_LONG = `must be at most ${MAX_METADATA} bytes of JSON`

/** 1 to 255 printable ASCII characters, space included. */
export function idempotencyKeyFault(key: string): string | null {
  return /^[\x20-\x7e]{1,255}$/.test(key) ? null : 'must be 1 to 255 printable ASCII characters'
}

/** Base64 text → bytes; null unless it is RFC 4648 §4 with correct padding. Line breaks as in RFC 2045 are accepted. */
export function decodeBase64(text: string): Uint8Array | null {
  // The runtime's lenient decoder is eight times faster than its strict one (35 MB in 5 ms, not 43 ms).
  const lenient = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  // It reads only the low byte of each character, so a non-ASCII one could pass as base64.
  const isAscii = bytesOf(text) === text.length
  const isWhole = isAscii && text.length % 4 === 0 && lenient.length === (text.length / 4) * 3 - padding
  const tail = lenient.subarray(Math.floor((lenient.length - 1) / 3) * 3).toString('base64')
  if (isWhole && text.endsWith(tail) && !text.includes('-') && !text.includes('_')) return lenient
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
  } catch {
    return null
  }
}

/** Base64 as people and their libraries write it → bytes: also with the URL-safe alphabet, without padding, or as a `data:`
 *  URL. Null for anything else, also with a blank inside a line: a form makes one of each `+`. RFC 4648 §4 and §5, RFC
 *  2397 */
export function decodeWrittenBase64(text: string): Uint8Array | null {
  if (/[\w+/=-] [\w+/=-]/.test(text)) return null
  const strict = decodeBase64(text)
  if (strict !== null) return strict
  const written = text.slice(dataUrlStart(text.slice(0, LONGEST_DATA_URL_START)))
  const isUrlSafe = /[-_]/.test(written)
  if (isUrlSafe && /[+/]/.test(written)) return null
  try {
    const alphabet = isUrlSafe ? 'base64url' : 'base64'
    return Uint8Array.fromBase64(written, { alphabet, lastChunkHandling: 'loose' })
  } catch {
    return null
  }
}

/** Length of the part of a `data:` URL in front of its base64; 0 for other text. RFC 2397 §3 */
export function dataUrlStart(text: string): number {
  return /^\s*data:[^,]*;\s*base64\s*,/i.exec(text)?.[0].length ?? 0
}

export const LONGEST_DATA_URL_START = 300

// Trace and authentication fields belong to other servers; Postrider sets the rest.
const OWN_HEADER =
  /^(?:sender|dkim-signature|domainkey-signature|received|received-spf|return-path|delivered-to|authentication-results)$|^(?:arc|resent|x-service|x-postrider)-/i
const UNSUBSCRIBE_URI = '<(?:https?://|mailto:)[!-;=?-~]+>'
const UNSUBSCRIBE_URIS = new RegExp(`^ *${UNSUBSCRIBE_URI}(?: *, *${UNSUBSCRIBE_URI})* *$`, 'i')
const VALUE_TYPES = new Set(['string', 'number', 'boolean'])
const MALFORMED = 'must be well-formed Unicode'
const CONTROL = /[\x00-\x1f\x7f\u2028\u2029]/
/** With these `invoice\\u202efdp.exe` looks like a PDF. The marks U+200E and U+200F occur in Arabic and Hebrew
 *  names. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/
const TOKEN = '[A-Za-z0-9!#$&^_.+-]+'
const CONTENT_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[ !#-\\[\\]-~]*"))*$`)

function lineFault(text: string): string | null {
  if (/[\r\n\0]/.test(text)) return 'must not contain CR, LF or NUL'
  return text.isWellFormed() ? null : MALFORMED
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text)
}
