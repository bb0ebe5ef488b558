/** Ranges of the overview: the value in the URL and the label. */
export const RANGES = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const
export type Range = (typeof RANGES)[number][0]

/** Value in the URL → range; 24 hours for another value. */
export const rangeOf = (text: string | undefined): Range => RANGES.find(([id]) => id === text)?.[0] ?? '24h'

/** Length of a range in hours. */
export const HOURS: Record<Range, number> = { '24h': 24, '7d': 168, '30d': 720 }

/** Range → from, to and interval of the statistics; `back` is the number of periods before the current one. */
export function periodOf(range: Range, back = 0) {
  const end = Date.now() - back * HOURS[range] * 3_600_000
  const from = new Date(end - (HOURS[range] - 1) * 3_600_000).toISOString()
  return { from, to: new Date(end + 1).toISOString(), interval: range === '30d' ? 'day' : 'hour' }
}

/** Time in ms UTC → its label in a table of a chart of this range. */
export function labelOf(range: Range): (at: number) => string {
  const style: Intl.DateTimeFormatOptions =
    range === '30d' ? { dateStyle: 'medium' } : { dateStyle: 'short', timeStyle: 'short' }
  return (at) => new Date(at).toLocaleString(undefined, style)
}
