/** How well the live mail of a domain is received, over a window that ends now. */
export interface QualityFigures {
  /** Recipients whose fate became known: delivered for good, or bounced. */
  sent: number
  hardBounced: number
  /** Without those that bounced later. */
  delivered: number
  complained: number
}

/** Rates are shares of 1. */
export interface QualityThresholds {
  bounceRate: number
  complaintRate: number
  /** Of this many recipients on a rate means something. */
  minSent: number
}

export const QUALITY_METRICS = ['bounce_rate', 'complaint_rate'] as const
export type QualityMetric = (typeof QUALITY_METRICS)[number]

/** A rate of a domain that is, or was, over its threshold. */
export interface QualityAlert {
  id: string
  organizationId: string
  domainId: string
  /** Its name. */
  domain: string
  metric: QualityMetric
  /** These and the next as they were when `state` was last set. */
  value: number
  threshold: number
  windowHours: number
  sent: number
  affected: number
  state: 'firing' | 'resolved'
  triggeredAt: number
  resolvedAt: number | null
}
