import { cutText } from './cut-text.ts'
import type { DsnRecipient, FormDsn } from './dsn.ts'
import { beginningOf, leavesOf, type MimePart } from './mime-parts.ts'

/** An Amazon SES notification, sent as mail by Amazon SNS: JSON as the text of the mail, or as `Message` of such JSON.
 *  docs.aws.amazon.com/ses/latest/dg/notification-contents.html */
export type SesNotification =
  | { kind: 'bounce'; dsn: FormDsn }
  | { kind: 'complaint'; feedbackType: string; userAgent: string | null }
  /** Delivered, opened, delayed, and all other types. */
  | { kind: 'nothing' }

/** Parts of a mail → the notification in its first text; null if none. Reads 256 KiB; never throws. */
export function readSesNotification(mail: MimePart): SesNotification | null {
  const plain = leavesOf(mail).find(({ type }) => type === 'text/plain')
  const text = plain === undefined ? '' : beginningOf(plain, LONGEST_TEXT).trimStart()
  if (!OPENING.test(text.slice(0, 2_000))) return null
  const envelope = objectIn(text)
  const json = typeof envelope?.Message === 'string' ? objectIn(envelope.Message) : envelope
  const kind = json?.notificationType ?? json?.eventType
  if (kind === 'Bounce') return bounce(json ?? {}) ?? { kind: 'nothing' }
  if (typeof kind !== 'string') return null
  if (kind !== 'Complaint') return { kind: 'nothing' }
  const complaint = recordOf(json?.complaint)
  return {
    kind: 'complaint',
    feedbackType: (stringOf(complaint.complaintFeedbackType) ?? 'abuse').toLowerCase(),
    userAgent: stringOf(complaint.userAgent),
  }
}

const LONGEST_TEXT = 262_144
const MAX_RECIPIENTS = 1_000
const OPENING = /^\{\s*"(?:notificationType|eventType|mail|bounce|complaint|delivery|Type)"/

type Json = Record<string, unknown>

function bounce(json: Json): SesNotification | null {
  const said = recordOf(json.bounce)
  const listed = Array.isArray(said.bouncedRecipients) ? said.bouncedRecipients.slice(0, MAX_RECIPIENTS) : []
  const recipients = listed.filter((each) => stringOf(recordOf(each).emailAddress) !== null)
  if (recipients.length === 0) return null
  const isPermanent = said.bounceType === 'Permanent'
  const records = recipients.map(recordOf).map((each): DsnRecipient => {
    const said = stringOf(each.status) ?? ''
    const status = /^[45]\.\d{1,3}\.\d{1,3}$/.test(said) ? said.slice(1) : '.0.0'
    return {
      finalRecipient: stringOf(each.emailAddress),
      originalRecipient: null,
      action: each.action === 'delayed' ? 'delayed' : 'failed',
      status: `${isPermanent ? 5 : 4}${status}`,
      diagnostic: isPermanent ? (stringOf(each.diagnosticCode)?.replace(/^\s*smtp\s*;\s*/i, '') ?? null) : null,
      remoteMta: null,
    }
  })
  return { kind: 'bounce', dsn: { form: 'amazon-sns', reportingMta: stringOf(said.reportingMTA), recipients: records } }
}

/** The object at the start of the text: mail programs break its long lines with a line end and a blank, and SNS appends
 *  a footer. */
function objectIn(text: string): Json | null {
  const joined = text.replace(/\r?\n ?/g, '')
  const end = joined.lastIndexOf('}')
  try {
    return recordOf(JSON.parse(joined.slice(0, end + 1)))
  } catch {
    return null
  }
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const recordOf = (value: unknown): Json => (isJson(value) ? value : {})
const stringOf = (value: unknown) => (typeof value === 'string' && value !== '' ? cutText(value, 2_000) : null)
