import { keptDelivered, sentOf } from './stats.ts'

/** Counts of a domain's live mail over a window that ends now. */
export interface QualityFigures {
  /** Recipients with a final result: delivered or bounced. */
  sent: number
  hardBounced: number
  /** Delivered recipients, without those that bounced later. */
  delivered: number
  complained: number
}

/** Outcomes of a domain's live mail, by recipient. */
export interface OutcomeCounts {
  delivered: number
  /** Hard and soft, including late ones. */
  bounced: number
  hardBounced: number
  /** Had counted as delivered before. */
  lateBounced: number
  complained: number
}

/** Outcomes in a window → its figures. */
export function qualityFigures(counts: OutcomeCounts): QualityFigures {
  const { bounced, hardBounced, complained } = counts
  return { sent: sentOf(counts, bounced), hardBounced, delivered: keptDelivered(counts), complained }
}

/** Rates are fractions of 1. */
export interface QualityThresholds {
  bounceRate: number
  complaintRate: number
  /** Minimum number of recipients for a meaningful rate. */
  minSent: number
}

export const QUALITY_METRICS = ['bounce_rate', 'complaint_rate'] as const
export type QualityMetric = (typeof QUALITY_METRICS)[number]

/** A rate of a domain that exceeds, or exceeded, its threshold. */
export interface QualityAlert {
  id: string
  organizationId: string
  domainId: string
  /** Name of the domain. */
  domain: string
  metric: QualityMetric
  /** This and the next field have the values of the time when `state` was last set. */
  value: number
  threshold: number
  windowHours: number
  sent: number
  affected: number
  state: 'firing' | 'resolved'
  triggeredAt: number
  resolvedAt: number | null
}
