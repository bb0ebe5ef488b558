import { type FeedbackReport, readFeedbackReport } from '../mail/arf.ts'
import { isAutoReply } from '../mail/auto-reply.ts'
import { type Dsn, readDsn } from '../mail/dsn.ts'
import { decodeWords, readHeaderFields } from '../mail/header-fields.ts'
import { UNSUBSCRIBE_SUBJECT } from '../mail/list-unsubscribe.ts'

/** What a mail to one of our keyed addresses is, whatever its author calls it. */
export type ReportContent =
  | { kind: 'complaint'; complaint: FeedbackReport }
  | { kind: 'dsn'; dsn: Dsn }
  | { kind: 'auto_reply' }
  | { kind: 'other' }

/** Raw mail and its return path (empty = null) → what it is, the most certain first. A program that unsubscribes marks
 *  its mail as automatic (Apple's do: `Auto-Submitted: auto-replied`), hence the subject that our mailto link gives goes
 *  before that mark. Never throws. */
export function readReport(raw: Uint8Array, returnPath: string): ReportContent {
  const complaint = readFeedbackReport(raw)
  if (complaint !== null) return { kind: 'complaint', complaint }
  const dsn = readDsn(raw)
  if (dsn !== null) return { kind: 'dsn', dsn }
  const { fields } = readHeaderFields(raw)
  const subject = fields.find(({ key }) => key === 'subject')?.value ?? ''
  if (decodeWords(subject).trim().toLowerCase() === UNSUBSCRIBE_SUBJECT) return { kind: 'other' }
  return { kind: returnPath === '' || isAutoReply(fields) ? 'auto_reply' : 'other' }
}
