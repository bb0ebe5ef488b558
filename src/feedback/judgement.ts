import type { BounceType } from '../model/delivery.ts'
import type { EventType } from '../model/event.ts'
import type { DeliveryStatus } from '../model/message.ts'
import type { Report } from '../model/report.ts'
import type { SuppressionReason } from '../model/suppression.ts'

/** What a report means for the delivery it speaks of; written in one transaction, or not at all. */
export interface Judgement {
  /** Without a reporter it was the client. */
  report: Omit<Report, 'receivedAt' | 'digest'>
  /** Null = the delivery stays what it is. */
  change: {
    status: DeliveryStatus
    smtpResponse: string | null
    bounceType: BounceType
    bounceCode: string
  } | null
  event: { type: EventType; fields: Record<string, unknown> } | null
  suppress: Exclude<SuppressionReason, 'manual'> | null
}

/** A report that is kept and changes nothing. The reporter's name is cut: it stands in the report and may have any length. */
export function onlyKept(report: Partial<Judgement['report']> & Pick<Report, 'kind'>): Judgement {
  const nothing = { status: null, diagnostic: null, cause: null, feedbackType: null }
  const reporter = report.reporter?.slice(0, MAX_NAME) ?? null
  return { report: { ...nothing, ...report, reporter }, change: null, event: null, suppress: null }
}

/** Longest text of a report that is kept and told. */
export const MAX_DIAGNOSTIC = 2_000
/** Longest name of a host, a program or a kind of complaint. */
export const MAX_NAME = 255
