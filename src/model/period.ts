/** Stretches of time that statistics are told in: whole hours, days or months, UTC. */
export const INTERVALS = ['hour', 'day', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

/** Both ms UTC; `before` is exclusive. */
export interface Period {
  from: number
  before: number
}

/** Two times → the whole periods that they touch, in order, but at most `most` + 1 of them, so that a caller sees that
 *  there are too many without making them all. Empty when `before` is not after `from`. Never throws. */
export function periodsOf({ from, before }: Period, interval: Interval, most: number): Period[] {
  const periods: Period[] = []
  for (let at = beginOf(from, interval); at < before && from < before && periods.length <= most; ) {
    const end = endOf(at, interval)
    periods.push({ from: at, before: end })
    at = end
  }
  return periods
}

/** When the period that holds `at` begins. */
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
  // Date.UTC takes the years 0 to 99 for those of the last century.
  begin.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + months, 1)
  return begin.getTime()
}

const LENGTH_MS = { hour: 3_600_000, day: 86_400_000 }
