import type { FeedbackReport } from '../mail/arf.ts'
import type { Verp } from '../mail/verp.ts'
import { iso } from '../model/event.ts'
import { type Judgement, onlyKept } from './judgement.ts'

/** A report of a feedback loop → the delivery it speaks of, or null when nothing in it carries a tag of ours (loops
 *  strike addresses out, and anybody can write a report). The tag stands in the return path and in the unsubscribe
 *  address of the reported mail; what the report's own From says counts for nothing. RFC 5965 §3.2. */
export function deliveryComplainedOf(report: FeedbackReport, verp: Verp): string | null {
  const places = [
    report.originalMailFrom ?? '',
    ...report.originalHeaders.filter(([name]) => TAGGED.has(name)).map(([, value]) => value),
  ]
  for (const [local] of places.flatMap((text) => text.match(KEYED) ?? []).map((found) => found.split('@'))) {
    const keyed = verp.decode(local!)
    if (keyed !== null) return keyed.deliveryId
  }
  return null
}

/** What a complaint means. `not-spam` is the opposite of one: kept, and nothing follows. Never throws. */
export function judgeComplaint({ feedbackType, userAgent }: FeedbackReport, at: number): Judgement {
  const kept = onlyKept({ kind: 'complaint', reporter: userAgent, feedbackType })
  if (feedbackType === 'not-spam') return kept // RFC 6430
  const fields = { complained_at: iso(at), feedback_type: feedbackType }
  return { ...kept, event: { type: 'message.complained', fields }, suppress: 'complaint' }
}

const TAGGED = new Set(['return-path', 'x-return-path', 'list-unsubscribe', 'x-original-return-path'])
const KEYED = /\b[bu]-[0-9a-z]{26}-[0-9a-z]{12}@/gi
