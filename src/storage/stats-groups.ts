import { TRANSACTIONAL } from '../model/message.ts'
import { addCounts, COUNTED, type Counts, noCounts, type StatsGrouping } from '../model/stats.ts'
import { DAY_MS, HOUR_MS, isTransactionalOnly, STREAM_TAG, WHOLE_DAY } from './mail-counts.ts'
import type { StatsFilter, StatsSpan } from './store.ts'

/** Which rows of the counters: those of the filter's tag, of all streams but the transactional one, or of all tags. */
export type TagRange = 'counted' | 'streams' | 'tags'

/** Rows of the counters in a span → their sums, by the value of a column. */
export type SumsBy = (
  column: 'tag' | 'domain_id',
  tags: TagRange,
  filter: StatsFilter,
  span: StatsSpan,
) => Promise<Map<string, Counts>>

/** → Stats.groups. */
export async function groupsOf(
  sumsBy: SumsBy,
  filter: StatsFilter,
  by: StatsGrouping,
  span: StatsSpan,
): Promise<Map<string, Counts>> {
  if (by === 'tag') return sumsBy('tag', 'tags', filter, span)
  if (by === 'domain') {
    const counted = await sumsBy('domain_id', 'counted', filter, span)
    if (isTransactionalOnly(filter)) {
      for (const [domain, counts] of await sumsBy('domain_id', 'streams', filter, span)) {
        const rest = counted.get(domain)
        if (rest !== undefined) addCounts(rest, counts, -1)
      }
    }
    return withoutZeros(counted)
  }
  const { organizationId, domainId, mode } = filter
  const everything = { organizationId, domainId, tag: null, mode }
  const transactional = (await sumsBy('tag', 'counted', everything, span)).get('') ?? noCounts()
  const streams = new Map([[TRANSACTIONAL, transactional]])
  for (const [tag, counts] of await sumsBy('tag', 'streams', everything, span)) {
    addCounts(transactional, counts, -1)
    streams.set(tag.slice(STREAM_TAG.length), counts)
  }
  return withoutZeros(streams)
}

/** Span → its rows of the counters. */
export function placesOf({ from, before, unit }: StatsSpan): { day: number; hour: number }[] {
  const length = unit === 'hour' ? HOUR_MS : DAY_MS
  return Array.from({ length: Math.max(0, Math.ceil((before - from) / length)) }, (_, at) => {
    const start = from + at * length
    const hour = unit === 'hour' ? Math.floor(start / HOUR_MS) % 24 : WHOLE_DAY
    return { day: Math.floor(start / DAY_MS), hour }
  })
}

function withoutZeros(groups: Map<string, Counts>): Map<string, Counts> {
  return new Map([...groups].filter(([, counts]) => COUNTED.some((name) => counts[name] !== 0)))
}
