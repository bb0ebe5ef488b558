import { addressesOf, type HeaderField, readHeaderFields } from './header-fields.ts'
import { contentOf, fieldOf, leavesOf, type MimePart, readParts } from './mime-parts.ts'

/** A feedback loop complaint. RFC 5965 */
export interface FeedbackReport {
  /** `abuse`, `fraud`, `virus`, `not-spam`, `other` …: lower case, as in the report. */
  feedbackType: string
  userAgent: string | null
  /** Return path of the reported mail, without brackets. */
  originalMailFrom: string | null
  originalRecipients: string[]
  arrivalAt: number | null
  /** Header fields of the reported mail, names lower case, values unfolded; empty if omitted. */
  originalHeaders: [name: string, value: string][]
}

/** Raw mail → the complaint; null if it is none. Any mail with a message/feedback-report part counts, whatever its
 *  outer type; so does mail of Outlook's Junk Mail Reporting Program, which only attaches the reported mail. A report
 *  without a type is `other`; redacted addresses are omitted; the null return path is ''. `auth-failure` (RFC 6591)
 *  uses this form too and is not a person's complaint. Reads the first MiB; linear, never throws. RFC 5965 §2, §3 */
export function readFeedbackReport(raw: Uint8Array): FeedbackReport | null {
  const mail = readParts(raw)
  const leaves = leavesOf(mail)
  const original = leaves.find((leaf) => ORIGINALS.has(leaf.type))
  const originalFields = original ? readHeaderFields(contentOf(original)).fields : []
  const report = leaves.find((leaf) => leaf.type === 'message/feedback-report')
  if (report) return feedbackReport(reportFields(report), originalFields)
  if (isJunkReport(mail, originalFields)) return junkReport(originalFields)
  return null
}

const ORIGINALS: ReadonlySet<string> = new Set([
  'message/rfc822',
  'text/rfc822-headers',
  'message/rfc822-headers', // not registered, but in use
  'message/global', // RFC 6532
  'message/global-headers',
])

/** Fields of the machine-readable part, including those that moved into the part's own header because an empty line is
 *  missing. */
function reportFields(part: MimePart): HeaderField[] {
  const content = contentOf(part)
  let start = 0
  while (content[start] === 13 || content[start] === 10) start++
  const own = part.fields.filter((field) => !field.key.startsWith('content-'))
  return [...own, ...readHeaderFields(content.subarray(start)).fields]
}

function feedbackReport(fields: HeaderField[], originalFields: HeaderField[]): FeedbackReport {
  const first = (key: string) => fieldOf({ fields }, key)
  const recipients = fields.filter((field) => field.key === 'original-rcpt-to')
  return {
    feedbackType: /^[!-:<-~]+/.exec(first('feedback-type'))?.[0].toLowerCase() ?? 'other',
    userAgent: first('user-agent') || null,
    originalMailFrom: returnPath(first('original-mail-from')),
    originalRecipients: recipients.flatMap((field) => addressesOf(field.value)),
    // Received-Date is the name from drafts of the RFC, still used by some (RFC 5965 §3.2 keeps it).
    arrivalAt: instant(first('arrival-date') || first('received-date')),
    originalHeaders: pairs(originalFields),
  }
}

/** Outlook.com: an ordinary mail from staff@hotmail.com, `complaint about message from 192.0.2.1`, with the reported
 *  mail attached and the recipient in a field of its own. */
function isJunkReport(mail: MimePart, originalFields: HeaderField[]): boolean {
  const namesRecipient = originalFields.some((field) => field.key === 'x-hmxmroriginalrecipient')
  const author = addressesOf(fieldOf(mail, 'from'))[0] ?? ''
  return (
    namesRecipient &&
    (/^complaint about message\b/i.test(fieldOf(mail, 'subject')) || /^staff@(?:hotmail|outlook)\.com$/i.test(author))
  )
}

function junkReport(originalFields: HeaderField[]): FeedbackReport {
  const recipients = originalFields.filter((field) => field.key === 'x-hmxmroriginalrecipient')
  return {
    feedbackType: 'abuse',
    userAgent: null,
    originalMailFrom: returnPath(fieldOf({ fields: originalFields }, 'return-path')),
    originalRecipients: recipients.flatMap((field) => addressesOf(field.value)),
    arrivalAt: null,
    originalHeaders: pairs(originalFields),
  }
}

function pairs(fields: HeaderField[]): [name: string, value: string][] {
  return fields.map((field) => [field.key, field.value])
}

function returnPath(value: string): string | null {
  return /^<\s*>/.test(value) ? '' : (addressesOf(value)[0] ?? null)
}

/** RFC 5322 §3.3 date → ms UTC; null if invalid. Without a zone it counts as UTC. */
function instant(value: string): number | null {
  const date = value
    .slice(0, 100)
    .replace(/\([^()]*\)/g, '')
    .trim()
  const year = /\d{4}/.exec(date)
  if (year === null || !/\d:\d/.test(date.slice(year.index + 4))) return null
  const hasZone = /(?:[+-]\d{4}|[A-Z]{1,4})$/i.test(date)
  const at = Date.parse(hasZone ? date : `${date} +0000`)
  return Number.isNaN(at) ? null : at
}
