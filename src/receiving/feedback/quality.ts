import {
  QUALITY_METRICS,
  type QualityFigures,
  type QualityMetric,
  type QualityThresholds,
} from '../../model/quality.ts'
import { share } from '../../model/stats.ts'

/** One rate of a domain with its threshold. */
export interface Measured {
  metric: QualityMetric
  /** Fraction of 1. */
  value: number
  threshold: number
  sent: number
  /** Recipients counted against it. */
  affected: number
}

/** Figures of a window → its rates: hard bounces per sent, complaints per delivered. */
export function measure(figures: QualityFigures, thresholds: QualityThresholds): Measured[] {
  const { sent, hardBounced, delivered, complained } = figures
  const of = {
    bounce_rate: { value: share(hardBounced, sent), threshold: thresholds.bounceRate, affected: hardBounced },
    complaint_rate: { value: share(complained, delivered), threshold: thresholds.complaintRate, affected: complained },
  }
  return QUALITY_METRICS.map((metric) => ({ metric, ...of[metric], sent }))
}

/** Whether an alert starts, ends, or stays as it is. It starts above the threshold with the minimum volume, and ends
 *  only clearly below: under four fifths of the threshold, or with less than half the minimum volume. Rates that
 *  fluctuate around the threshold therefore cause one alert, not many. */
export function judgeQuality(
  { value, threshold, sent }: Measured,
  { minSent }: Pick<QualityThresholds, 'minSent'>,
  isFiring: boolean,
): 'raise' | 'resolve' | null {
  if (!isFiring) return value > threshold && sent >= minSent ? 'raise' : null
  return isClearlyBelow(value, threshold) || sent < minSent / 2 ? 'resolve' : null
}

/** Under four fifths, in integers so that 0.04 is not below 0.8 × 0.05; only 0 is below a threshold of 0. */
function isClearlyBelow(value: number, threshold: number): boolean {
  return value === 0 || value * 5 < threshold * 4
}
