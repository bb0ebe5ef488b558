import { decodeCharset } from './charset.ts'
import { cutText } from './cut-text.ts'
import type { DsnRecipient, FormDsn } from './dsn-content.ts'
import { firstAddress, type HeaderField, readHeaderFields } from './header-fields.ts'
import { withoutControls } from './header-text.ts'
import { parseReplyLine } from './reply.ts'

/** Content of a message/delivery-status part → its recipients; those without a status are omitted. `leading` are fields
 *  before it. Empty lines separate groups, or if they are missing, a repeated field. A general status (`5.0.0`) is
 *  replaced by the more exact diagnostic. Never throws. RFC 3464 §2.1, RFC 6533 §3 */
export function readDeliveryStatus(leading: readonly HeaderField[], content: Uint8Array): Omit<FormDsn, 'form'> {
  const groups: Map<string, string>[] = []
  let reportingMta: string | null = null
  for (const group of [leading, ...groupsOf(content)]) {
    let current: Map<string, string> | null = null
    for (const { key, value } of group) {
      if (key === 'reporting-mta') reportingMta ??= hostOf(value)
      if (!RECIPIENT_FIELDS.has(key)) continue
      if (current === null || current.has(key)) {
        if (groups.length >= MAX_RECIPIENTS) break
        // An empty line within a recipient's fields: the next group has no address.
        const goesOn: Map<string, string> | undefined =
          current === null && !namesRecipient(group) ? groups.at(-1) : undefined
        current = goesOn !== undefined && !goesOn.has(key) ? goesOn : new Map()
        if (current !== goesOn) groups.push(current)
      }
      current.set(key, value)
    }
  }
  return { reportingMta, recipients: groups.map(readRecipient).filter((each) => each !== null) }
}

/** Reply text → its enhanced status code; null if none. RFC 3463 §2 */
export function statusIn(text: string): string | null {
  const reply = parseReplyLine(text)
  return reply?.enhanced ?? ANY_STATUS.exec(text)?.[1] ?? null
}

/** Text with a server's reply → its class (2, 4 or 5); null if none. */
function classIn(text: string): string | null {
  return statusIn(text)?.[0] ?? /^(?:\W*)([245])\d\d(?!\d)/.exec(text)?.[1] ?? null
}

/** White space and control characters become one space; at most 2,000 characters; null for empty text. */
export function diagnosticText(text: string): string | null {
  return (
    cutText(
      withoutControls(withoutEscapes(cutText(text, 8_000)))
        .replace(/ {2,}/g, ' ')
        .trim(),
      LONGEST_DIAGNOSTIC,
    ) || null
  )
}

/** Japanese reports contain ISO-2022-JP where RFC 3464 §2.1.2 requires ASCII. */
function withoutEscapes(text: string): string {
  return text.includes('\x1b$') ? (decodeCharset(Buffer.from(text, 'latin1'), 'iso-2022-jp') ?? text) : text
}

/** `dns; mx.example. (192.0.2.1)` → `mx.example`; null without a host. */
export function hostOf(value: string): string | null {
  const host = /^(?:[a-z][\w-]*\s*;\s*)?([^\s();\x00-\x1f\x7f]{1,255})/i.exec(value.trimStart())?.[1]
  return host?.replace(/\.$/, '') || null
}

const MAX_RECIPIENTS = 1_000
const LONGEST_DIAGNOSTIC = 2_000
const RECIPIENT_FIELDS: ReadonlySet<string> = new Set([
  'final-recipient',
  'original-recipient',
  'action',
  'status',
  'diagnostic-code',
  'remote-mta',
])
const [LF, CR] = [10, 13]
// Not inside an IP address or version number.
const ANY_STATUS = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)/

function* groupsOf(content: Uint8Array): Generator<HeaderField[]> {
  for (let at = 0; at < content.length; ) {
    if (content[at] === LF || content[at] === CR) {
      at++
      continue
    }
    const { fields, bodyAt } = readHeaderFields(content.subarray(at))
    yield fields
    at += bodyAt
  }
}

function namesRecipient(group: readonly HeaderField[]): boolean {
  return group.some((field) => field.key === 'final-recipient' || field.key === 'original-recipient')
}

function readRecipient(group: ReadonlyMap<string, string>): DsnRecipient | null {
  const value = (key: string) => group.get(key) ?? ''
  // The type is an atom: `smtp`, `X-Postfix`, `x-unix`.
  const diagnostic = diagnosticText(value('diagnostic-code').replace(/^\s*[a-z][\w-]*\s*;/i, ''))
  const said = ANY_STATUS.exec(value('status'))?.[1] ?? null
  const status = said === null || said.endsWith('.0.0') ? (sameClass(statusIn(diagnostic ?? ''), said) ?? said) : said
  const action = actionOf(value('action'), status?.[0] ?? classIn(diagnostic ?? ''))
  if (action === null) return null
  return {
    finalRecipient: recipientOf(value('final-recipient')),
    originalRecipient: recipientOf(value('original-recipient')),
    action,
    status,
    diagnostic,
    remoteMta: hostOf(value('remote-mta')),
  }
}

function sameClass(status: string | null, said: string | null): string | null {
  return said === null || status?.[0] === said[0] ? status : null
}

/** Action field, else the meaning of the status class. RFC 3464 §2.3.3 */
function actionOf(value: string, statusClass: string | null): DsnRecipient['action'] | null {
  const word = /^[a-z]+/.exec(value.toLowerCase())?.[0] ?? ''
  const action = ACTIONS.get(word)
  if (action !== undefined) return action
  if (statusClass === '5') return 'failed'
  if (statusClass === '4') return 'delayed'
  return statusClass === '2' ? 'delivered' : null
}

const ACTIONS = new Map<string, DsnRecipient['action']>([
  ['failed', 'failed'],
  ['failure', 'failed'],
  ['fail', 'failed'],
  ['delayed', 'delayed'],
  ['delay', 'delayed'],
  ['delivered', 'delivered'],
  ['relayed', 'relayed'],
  ['expanded', 'expanded'],
  // Its queue time expired. Not registered, but in use.
  ['expired', 'failed'],
])

/** `rfc822; a@b.example` → the address; also without type, in brackets, with comments. Anything that is not a mail
 *  address (a local name) stays unchanged. Decodes the `\x{…}` of RFC 6533 §3. */
function recipientOf(value: string): string | null {
  const typed = /^\s*([a-z][\w-]*)\s*;(.*)$/is.exec(value)
  const text = (typed?.[2] ?? value).trim()
  const plain = /^utf-8$/i.test(typed?.[1] ?? '') ? text.replace(/\\x\{([0-9a-f]{2,6})\}/gi, unescaped) : text
  return firstAddress(plain) ?? (/^[^\s\x00-\x1f\x7f]{1,320}$/.test(plain) ? plain : null)
}

function unescaped(written: string, hex: string): string {
  const point = Number.parseInt(hex, 16)
  const isCharacter = point > 0x1f && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)
  return isCharacter ? String.fromCodePoint(point) : written
}
