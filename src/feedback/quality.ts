import { QUALITY_METRICS, type QualityFigures, type QualityMetric, type QualityThresholds } from '../model/quality.ts'
import { share } from '../model/stats.ts'

/** One rate of a domain beside its threshold. */
export interface Measured {
  metric: QualityMetric
  /** Share of 1. */
  value: number
  threshold: number
  sent: number
  /** Recipients that make it bad. */
  affected: number
}

/** Figures of a window → each rate of them: hard bounces over what was sent, complaints over what was delivered. */
export function measure(figures: QualityFigures, thresholds: QualityThresholds): Measured[] {
  const { sent, hardBounced, delivered, complained } = figures
  const of = {
    bounce_rate: { value: share(hardBounced, sent), threshold: thresholds.bounceRate, affected: hardBounced },
    complaint_rate: { value: share(complained, delivered), threshold: thresholds.complaintRate, affected: complained },
  }
  return QUALITY_METRICS.map((metric) => ({ metric, ...of[metric], sent }))
}

/** Whether an alert starts, ends, or all stays as it is. It starts over the threshold with the minimum sent, and ends only
 *  clearly below: under four fifths of the threshold, or with less than half the minimum left to judge by. A rate or a
 *  volume that moves about its mark therefore does not raise one alert after the other. */
export function judgeQuality(
  { value, threshold, sent }: Measured,
  { minSent }: Pick<QualityThresholds, 'minSent'>,
  isFiring: boolean,
): 'raise' | 'resolve' | null {
  if (!isFiring) return value > threshold && sent >= minSent ? 'raise' : null
  return isClearlyBelow(value, threshold) || sent < minSent / 2 ? 'resolve' : null
}

/** Under four fifths, in whole numbers so that 0.04 is not below 0.8 × 0.05; a threshold of 0 has only 0 below it. */
function isClearlyBelow(value: number, threshold: number): boolean {
  return value === 0 || value * 5 < threshold * 4
}
