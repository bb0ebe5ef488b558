import { cutText } from '../../mail/cut-text.ts'
import type { BounceType } from '../../model/delivery.ts'
import type { EventType } from '../../model/event.ts'
import type { DeliveryStatus } from '../../model/message.ts'
import type { Report } from '../../model/report.ts'
import type { SuppressionReason } from '../../model/suppression.ts'

/** The effect of a report on its delivery; written in one transaction. */
export interface Judgement {
  /** Without a reporter it is the SMTP client. */
  report: Omit<Report, 'receivedAt' | 'digest'>
  /** Null if the delivery is unchanged. */
  change: {
    status: DeliveryStatus
    smtpResponse: string | null
    bounceType: BounceType
    bounceCode: string
  } | null
  event: { type: EventType; fields: Record<string, unknown> } | null
  suppress: Exclude<SuppressionReason, 'manual'> | null
}

/** A report that is stored without effect. The reporter's name comes from the report and is cut. */
export function onlyKept(report: Partial<Judgement['report']> & Pick<Report, 'kind'>): Judgement {
  const nothing = { status: null, diagnostic: null, cause: null, feedbackType: null }
  const reporter = report.reporter == null ? null : cutText(report.reporter, MAX_NAME)
  return { report: { ...nothing, ...report, reporter }, change: null, event: null, suppress: null }
}

/** Longest report text that is stored and sent in events. */
export const MAX_DIAGNOSTIC = 2_000
/** Longest name of a host, program or complaint type. */
export const MAX_NAME = 255
