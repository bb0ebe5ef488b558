import { cutText } from '../../mail/cut-text.ts'
import type { Verp } from '../../mail/verp.ts'
import { iso } from '../../model/event.ts'
import type { Report } from '../../model/report.ts'
import type { Complaint, ReportContent } from './content.ts'
import { type Judgement, MAX_NAME, onlyKept } from './judgement.ts'

/** A feedback loop report, or mail of unknown form → the delivery it is about; null without one of our tags (loops
 *  redact addresses, and anyone can write a report). The tag is in the return path and the unsubscribe address of the
 *  reported mail; the report's own From is ignored. RFC 5965 §3.2 */
export function deliveryTaggedIn(content: ReportContent, verp: Verp): string | null {
  for (const each of tagsIn(content)) {
    const keyed = verp.decode(each.slice(0, each.indexOf('@')))
    if (keyed !== null) return keyed.deliveryId
  }
  return null
}

function tagsIn(content: ReportContent): readonly string[] {
  switch (content.kind) {
    case 'complaint':
      return content.complaint.tagged
    case 'notice':
    case 'other':
      return content.unclassified.tagged
    default:
      return []
  }
}

/** What a complaint means. `not-spam` is the opposite of a complaint (RFC 6430), and `auth-failure` is an automatic
 *  report about signatures (RFC 6591): both are stored without effect. Never throws. */
export function judgeComplaint({ userAgent, ...report }: Complaint, at: number): Judgement {
  const feedbackType = cutText(report.feedbackType, MAX_NAME)
  const kept = onlyKept({ kind: 'complaint', reporter: userAgent, feedbackType })
  if (!isComplaint(kept.report)) return kept
  const fields = { complained_at: iso(at), feedback_type: feedbackType }
  return { ...kept, event: { type: 'message.complained', fields }, suppress: 'complaint' }
}

/** Whether a report is a person's complaint. */
export const isComplaint = ({ kind, feedbackType }: Pick<Report, 'kind' | 'feedbackType'>) =>
  kind === 'complaint' && !NO_COMPLAINTS.has(feedbackType ?? '')

const NO_COMPLAINTS = new Set(['not-spam', 'auth-failure'])
