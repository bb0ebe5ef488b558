import { LOCALE } from '../../kit/format.ts'

/** Time ranges of the statistics: the value in the URL and the label. */
export const RANGES = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
] as const

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A request for hours may have a thousand of them. */
const MOST_HOURLY_MS = 8 * DAY_MS
/** The API groups by domain or stream over at most so many days. */
const MOST_DAYS = 400

/** Whole hours or days, ms UTC. */
export interface Range {
  /** One of RANGES, or `custom`. */
  id: string
  /** `last 7 days`, or the two dates. */
  label: string
  from: number
  before: number
  interval: 'hour' | 'day'
  /** Length of a bar in intervals. */
  step: number
}

/** Query of the URL → the range, which ends with the current hour or day, or has the days `from` to `to`. 24 hours for anything
 *  else. */
export function rangeOf({ range, from, to }: Record<string, string>, now = Date.now()): Range {
  const [first, last] = [Date.parse(from ?? ''), Date.parse(to ?? '')]
  if (range === 'custom' && first <= last) {
    const start = Math.max(first, last - (MOST_DAYS - 1) * DAY_MS)
    return rangeBetween('custom', `${dayOf(start)} to ${dayOf(last)}`, start, last + DAY_MS)
  }
  const [id, label] = RANGES.find(([each]) => each === range) ?? RANGES[0]
  const length = LENGTHS[id]
  const unit = length <= MOST_HOURLY_MS ? HOUR_MS : DAY_MS
  const before = Math.floor(now / unit) * unit + unit
  return rangeBetween(id, `last ${label}`, before - length, before)
}

const LENGTHS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS, '90d': 90 * DAY_MS }

function rangeBetween(id: string, label: string, from: number, before: number): Range {
  const length = before - from
  const isHourly = length <= MOST_HOURLY_MS
  return { id, label, from, before, interval: isHourly ? 'hour' : 'day', step: isHourly && length > 2 * DAY_MS ? 6 : 1 }
}

/** The range of the same length before it. */
export function rangeBefore(range: Range): Range {
  return { ...range, from: 2 * range.from - range.before, before: range.from }
}

/** The range as parameters of `GET /v1/stats`. */
export function periodOf({ from, before, interval }: Range) {
  return { from: new Date(from).toISOString(), to: new Date(before).toISOString(), interval }
}

/** Time in ms UTC → `2026-11-29`. */
export const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Time of a bar in ms UTC → its label in the table of the chart. */
export function labelOf({ interval }: Range): (at: number) => string {
  const style: Intl.DateTimeFormatOptions =
    interval === 'day' ? { dateStyle: 'medium', timeZone: 'UTC' } : { dateStyle: 'short', timeStyle: 'short' }
  return (at) => new Date(at).toLocaleString(LOCALE, style)
}
