/** Periods of statistics: whole UTC hours, days or months. */
export const INTERVALS = ['hour', 'day', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

/** Both ms UTC; `before` is exclusive. */
export interface Period {
  from: number
  before: number
}

/** Two times → the whole periods that they touch, in order. At most `most` + 1 are returned, so that a caller sees
 *  an excess without producing all of them. Empty if `before` is not after `from`. Never throws. */
export function periodsOf({ from, before }: Period, interval: Interval, most: number): Period[] {
  const periods: Period[] = []
  for (let at = beginOf(from, interval); at < before && from < before && periods.length <= most; ) {
    const end = endOf(at, interval)
    periods.push({ from: at, before: end })
    at = end
  }
  return periods
}

/** Start of the period that contains `at`. */
function beginOf(at: number, interval: Interval): number {
  if (interval === 'month') return monthFrom(at, 0)
  return Math.floor(at / LENGTH_MS[interval]) * LENGTH_MS[interval]
}

function endOf(begin: number, interval: Interval): number {
  return interval === 'month' ? monthFrom(begin, 1) : begin + LENGTH_MS[interval]
}

function monthFrom(at: number, months: number): number {
  const date = new Date(at)
  const begin = new Date(0)
  // Date.UTC maps the years 0 to 99 to the 20th century.
  begin.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + months, 1)
  return begin.getTime()
}

const LENGTH_MS = { hour: 3_600_000, day: 86_400_000 }
