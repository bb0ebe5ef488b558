import type { Json } from '../../kit/api.ts'
import { percent } from '../../kit/format.ts'

/** Rates of the dashboard. The API computes them; this says which of them mean something, and how they look. Every place that
 *  shows a rate of mail takes it from an answer of `GET /v1/stats`, through these functions. Shares of other counts, such as
 *  those of a sending address, have the same least number. */

/** Fewer recipients give no rate: one bounce of three is not 33 %. */
const LEAST = 20
/** Fewer recipients give no judgement, as for `quality.min_sent`. */
const LEAST_JUDGED = 100
/** One report alone says nothing about the others: in three hundred messages it would be beyond the limit. */
const LEAST_REPORTS = 2

/** Limits: at `warn` a rate is near the limit, at `bad` beyond it. Gmail and Yahoo ask for a complaint rate below 0.1 %
 *  that never reaches 0.3 % (support.google.com/a/answer/81126). */
const LIMITS: Partial<Record<Rate, { warn: number; bad: number }>> = {
  bounce_rate: { warn: 0.02, bad: 0.05 },
  complaint_rate: { warn: 0.001, bad: 0.003 },
}

export type Rate = 'delivery_rate' | 'bounce_rate' | 'complaint_rate' | 'open_rate' | 'click_rate'

/** Counts of a range or group → the rate, 0 to 1; null if too few recipients have an outcome, or were delivered. */
export function rateOf(counts: Json, rate: Rate): number | null {
  return baseOf(counts, rate) < LEAST ? null : counts[rate]
}

/** Part of a whole → its share, 0 to 1; null if the whole is too small for a rate. */
export const shareOf = (part: number, whole: number): number | null => (whole < LEAST ? null : part / whole)

function baseOf({ delivered, bounced }: Json, rate: Rate): number {
  return rate === 'delivery_rate' || rate === 'bounce_rate' ? delivered + bounced : delivered
}

/** Change of a rate against the period before, in percentage points; null where chance alone explains it (two standard
 *  errors of the difference of two shares) or one of the two has no rate. */
export function changeOf(now: Json, before: Json, rate: Rate): number | null {
  const [one, other] = [rateOf(now, rate), before ? rateOf(before, rate) : null]
  if (one === null || other === null) return null
  const variance = (one * (1 - one)) / baseOf(now, rate) + (other * (1 - other)) / baseOf(before, rate)
  return Math.abs(one - other) <= 2 * Math.sqrt(variance) ? null : (one - other) * 100
}

/** `98.9%`; two digits for complaints, of which one in a thousand matters; '–' without a rate. */
export const shown = (value: number | null, rate: Rate) => percent(value, rate === 'complaint_rate' ? 2 : 1)

/** Whether a rate is beyond its limit. Delivery is the rest of the bounces. */
export function toneOfRate(counts: Json, rate: Rate): 'good' | 'warn' | 'bad' | 'quiet' {
  const asked = rate === 'delivery_rate' ? 'bounce_rate' : rate
  const [value, limits] = [rateOf(counts, asked), LIMITS[asked]]
  if (value === null || limits === undefined || baseOf(counts, asked) < LEAST_JUDGED) return 'quiet'
  if (asked === 'complaint_rate' && value > 0 && counts.complained < LEAST_REPORTS) return 'quiet'
  return value >= limits.bad ? 'bad' : value >= limits.warn ? 'warn' : 'good'
}
