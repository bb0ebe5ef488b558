import { get, type Json } from '../../kit/api.ts'
import { type Loaded, useLoad } from '../../kit/load.ts'
import { mode } from '../../kit/state.ts'
import { periodOf, type Range, rangeBefore } from './range.ts'

export const GROUPINGS = [
  ['provider', 'Provider'],
  ['domain', 'Domain'],
  ['tag', 'Tag'],
  ['stream', 'Stream'],
  ['template', 'Template'],
] as const
export type Grouping = (typeof GROUPINGS)[number][0]

/** Filters of the statistics by their names in the URL and in the API. */
export interface StatsFilters {
  domain_id?: string | undefined
  tag?: string | undefined
  stream?: string | undefined
}

export const filtersOf = ({ domain_id, tag, stream }: Record<string, string>): StatsFilters => ({
  domain_id,
  tag,
  stream,
})

/** Tags, streams, templates and providers are not counted together: with such a filter only domains remain. The API groups
 *  more than 100 days by domain or stream only. */
export function groupingsWith({ tag, stream }: StatsFilters, { from, before }: Range) {
  const isOfSome = tag !== undefined || stream !== undefined
  const isLong = before - from > MOST_MS
  return GROUPINGS.filter(([id]) => id === 'domain' || (!isOfSome && (id === 'stream' || !isLong)))
}

/** What a range counted, and what the period before did; `before` is null without a comparison. */
export interface Compared {
  range: Range
  by: Grouping
  now: Json
  before: Json
}

const EVERY_MS = 20_000
const MOST_MS = 100 * 86_400_000

/** Loads counts of a range by hour or day, and by groups, each with the same of the period before. While another range, filter
 *  or grouping loads, the data stay those of the last one, which they name. */
export function useStatistics(
  range: Range,
  filters: StatsFilters,
  { by, isCompared = true }: { by: Grouping; isCompared?: boolean },
): Loaded<Compared> {
  const of = (asked: Range, signal: AbortSignal) =>
    get('/v1/stats', { ...periodOf(asked), ...filters, group_by: by, mode: mode.value }, signal)
  return useLoad(
    async (signal): Promise<Compared> => {
      const [now, before] = await Promise.all([of(range, signal), isCompared ? of(rangeBefore(range), signal) : null])
      return { range, by, now, before }
    },
    [range.id, range.from, range.before, filters, by, isCompared],
    { everyMs: EVERY_MS, keepsOld: true },
  )
}
