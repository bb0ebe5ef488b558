import { readFeedbackReport } from '../mail/arf.ts'
import { isAutoReply } from '../mail/auto-reply.ts'
import { type Dsn, readDsn } from '../mail/dsn.ts'
import { decodeWords, readHeaderFields } from '../mail/header-fields.ts'
import { UNSUBSCRIBE_SUBJECT } from '../mail/list-unsubscribe.ts'

/** What a mail to one of our keyed addresses is, whatever its author calls it. */
export type ReportContent =
  | { kind: 'complaint'; complaint: Complaint }
  | { kind: 'dsn'; dsn: Dsn }
  | { kind: 'auto_reply' }
  | { kind: 'other' }
  /** Reading it took too long, twice. */
  | { kind: 'unread' }

/** What counts of a feedback loop's report. */
export interface Complaint {
  /** RFC 5965 §3.1, lower-case. */
  feedbackType: string
  userAgent: string | null
  /** Local parts that look like keyed ones of ours, each with its `@`: first those of the return path, then those in the
   *  header of the reported mail. At most 50. */
  tagged: string[]
}

/** Raw mail and its return path (empty = null) → what it is, the most certain first. A program that unsubscribes marks
 *  its mail as automatic (Apple's do: `Auto-Submitted: auto-replied`), hence the subject that our mailto link gives goes
 *  before that mark. Never throws. */
export function readReport(raw: Uint8Array, returnPath: string): ReportContent {
  const complaint = readFeedbackReport(raw)
  if (complaint !== null) {
    const { feedbackType, userAgent, originalMailFrom, originalHeaders } = complaint
    const places = [
      originalMailFrom ?? '',
      ...originalHeaders.filter(([name]) => TAGGED.has(name)).map(([, value]) => value),
    ]
    const tagged = places.flatMap((text) => text.match(KEYED) ?? []).slice(0, MOST_TAGGED)
    return {
      kind: 'complaint',
      complaint: { feedbackType: cut(feedbackType), userAgent: cutOrNull(userAgent), tagged },
    }
  }
  const dsn = readDsn(raw)
  if (dsn !== null) return { kind: 'dsn', dsn: shortened(dsn) }
  const { fields } = readHeaderFields(raw)
  const subject = fields.find(({ key }) => key === 'subject')?.value ?? ''
  if (decodeWords(subject).trim().toLowerCase() === UNSUBSCRIBE_SUBJECT) return { kind: 'other' }
  return { kind: returnPath === '' || isAutoReply(fields) ? 'auto_reply' : 'other' }
}

/** Much longer than what is kept (judgement.ts). */
const MOST_CHARACTERS = 2_500
/** Of all recipients together; those beyond are left out. */
const MOST_RECIPIENT_CHARACTERS = 500_000
const MOST_TAGGED = 50
const TAGGED = new Set(['return-path', 'x-return-path', 'list-unsubscribe', 'x-original-return-path'])
const KEYED = /\b[bu]-[0-9a-z]{26}-[0-9a-z]{12}@/gi

const cut = (text: string) => text.slice(0, MOST_CHARACTERS)
const cutOrNull = (text: string | null) => (text === null ? null : cut(text))

function shortened({ form, reportingMta, recipients }: Dsn): Dsn {
  let characters = 0
  const short = recipients.map(({ action, ...said }) => ({
    action,
    finalRecipient: cutOrNull(said.finalRecipient),
    originalRecipient: cutOrNull(said.originalRecipient),
    status: cutOrNull(said.status),
    diagnostic: cutOrNull(said.diagnostic),
    remoteMta: cutOrNull(said.remoteMta),
  }))
  const kept = short.filter(({ action: _, ...said }) => {
    for (const text of Object.values(said)) characters += text?.length ?? 0
    return characters <= MOST_RECIPIENT_CHARACTERS
  })
  return { form, reportingMta: cutOrNull(reportingMta), recipients: kept }
}
