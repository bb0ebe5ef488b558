import type { BounceType } from '../model/delivery.ts'
import type { EventType } from '../model/event.ts'
import type { DeliveryStatus } from '../model/message.ts'
import type { Report } from '../model/report.ts'
import type { SuppressionReason } from '../model/suppression.ts'

/** What a report means for the delivery it speaks of; written in one transaction, or not at all. */
export interface Judgement {
  report: Omit<Report, 'receivedAt' | 'digest'>
  /** Null = the delivery stays what it is. */
  change: {
    status: DeliveryStatus
    smtpResponse: string | null
    bounceType: BounceType
    bounceCode: string
  } | null
  event: { type: EventType; fields: Record<string, unknown> } | null
  suppress: SuppressionReason | null
}

/** A report that is kept and changes nothing. */
export function onlyKept(report: Partial<Judgement['report']> & Pick<Report, 'kind'>): Judgement {
  const nothing = { reporter: null, status: null, diagnostic: null, cause: null, feedbackType: null }
  return { report: { ...nothing, ...report }, change: null, event: null, suppress: null }
}

/** Longest text of a report that is kept and told. */
export const MAX_DIAGNOSTIC = 2_000
