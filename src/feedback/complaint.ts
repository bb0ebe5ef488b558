import type { Verp } from '../mail/verp.ts'
import { iso } from '../model/event.ts'
import type { Complaint, ReportContent } from './content.ts'
import { type Judgement, MAX_NAME, onlyKept } from './judgement.ts'

/** A report of a feedback loop, or a mail in no known form → the delivery it speaks of; null when nothing in it carries a tag
 *  of ours (loops strike addresses out, and anybody can write a report). The tag stands in the return path and in the
 *  unsubscribe address of the reported mail; what the report's own From says counts for nothing. RFC 5965 §3.2. */
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

/** What a complaint means. `not-spam` is the opposite of one (RFC 6430), and `auth-failure` is a machine's word about our
 *  signatures, not a person's about our mail (RFC 6591): both are kept, and nothing follows. Never throws. */
export function judgeComplaint({ userAgent, ...report }: Complaint, at: number): Judgement {
  const feedbackType = report.feedbackType.slice(0, MAX_NAME)
  const kept = onlyKept({ kind: 'complaint', reporter: userAgent, feedbackType })
  if (NO_COMPLAINTS.has(feedbackType)) return kept
  const fields = { complained_at: iso(at), feedback_type: feedbackType }
  return { ...kept, event: { type: 'message.complained', fields }, suppress: 'complaint' }
}

const NO_COMPLAINTS = new Set(['not-spam', 'auth-failure'])
