import { TRANSACTIONAL } from '../../model/message.ts'
import { addCounts, COUNTED, type Counts, noCounts, type StatsGrouping } from '../../model/stats.ts'
import {
  COUNT_COLUMNS,
  countedTag,
  DAY_MS,
  FIRST_TAG,
  HOUR_MS,
  isTransactionalOnly,
  PROVIDER_TAG,
  STREAM_TAG,
  TEMPLATE_TAG,
  WHOLE_DAY,
} from '../mail-counts.ts'
import { rows, type Statement, sql, type Work } from '../sql.ts'
import type { StatsFilter, StatsSpan } from '../store.ts'

/** Which rows of the counters: those of the filter's tag, of all tags, of all streams but the transactional one, of all
 *  templates, or of all providers. */
type TagRange = 'counted' | 'tags' | 'streams' | 'templates' | 'providers'

const SUMS = COUNTED.map((name, at) => `sum(${COUNT_COLUMNS[at]})::float8 as "${name}"`).join(', ')
const TOTALS = COUNTED.map((name) => `sum("${name}") as "${name}"`).join(', ')
const TAGS: Record<TagRange, { text: string; sqlite: string }> = {
  counted: { text: 'tag = $3', sqlite: 'tag = $3' },
  tags: { text: `ascii(tag) >= ascii($3)`, sqlite: `tag >= $3` },
  streams: behind(STREAM_TAG, FIRST_TAG),
  templates: behind(TEMPLATE_TAG, STREAM_TAG),
  providers: behind(PROVIDER_TAG, TEMPLATE_TAG),
}
/** Tags of one kind. */
function behind(prefix: string, next: string): { text: string; sqlite: string } {
  return { text: 'starts_with(tag, $3)', sqlite: `tag >= '${prefix}' and tag < '${next}'` }
}
/** Hours of a day, with the row for the whole day: a place in the counters is a day times this, and an hour. */
const HOURS = WHOLE_DAY + 1
const isOf = (tags: string) => `s.organization_id = $2 and ${tags} and mode = $4`

/** Sums of the rows at each of the places $1, with its number in the list from 1. One lookup for each place, on PostgreSQL
 *  because of the aggregate inside. SQLite has no lateral join. */
function sumsOfPlaces(tags: TagRange, domain: string): Statement<Counts & { at: number }> {
  const { text, sqlite } = TAGS[tags]
  return sql(
    `select at::int, counted.* from unnest($1::int[]) with ordinality asked (place, at)
      cross join lateral (select ${SUMS} from stats s where s.day = asked.place / ${HOURS}
        and s.hour = asked.place % ${HOURS} and ${isOf(text)} ${domain}) counted
      where counted.accepted is not null`,
    `select asked.key + 1 as at, ${SUMS} from json_each($1) asked
      cross join stats s on s.day = asked.value / ${HOURS} and s.hour = asked.value % ${HOURS} and ${isOf(sqlite)} ${domain}
      group by asked.key`,
  )
}
const IN_DOMAIN = 'and domain_id = $5'
const IF_IN_DOMAIN = 'and ($5::text is null or domain_id = $5)'
const OF_ORGANIZATION = sumsOfPlaces('counted', '')
const OF_DOMAIN = sumsOfPlaces('counted', IN_DOMAIN)
const OF_STREAMS = sumsOfPlaces('streams', IF_IN_DOMAIN)

/** Sums of the rows at all places $1, by the value of a column. */
function sumsBy(column: 'tag' | 'domain_id', tags: TagRange): Statement<Counts & { key: string }> {
  const { text, sqlite } = TAGS[tags]
  return sql(
    `select key, ${TOTALS} from unnest($1::int[]) asked (place)
      cross join lateral (select ${column} as key, ${SUMS} from stats s where s.day = asked.place / ${HOURS}
        and s.hour = asked.place % ${HOURS} and ${isOf(text)} ${IF_IN_DOMAIN} group by 1) counted
      group by key`,
    `select ${column} as key, ${SUMS} from json_each($1) asked
      cross join stats s on s.day = asked.value / ${HOURS} and s.hour = asked.value % ${HOURS} and ${isOf(sqlite)} ${IF_IN_DOMAIN}
      group by 1`,
  )
}
const BY_TAG = {
  counted: sumsBy('tag', 'counted'),
  tags: sumsBy('tag', 'tags'),
  streams: sumsBy('tag', 'streams'),
  templates: sumsBy('tag', 'templates'),
  providers: sumsBy('tag', 'providers'),
}
const BY_DOMAIN = { counted: sumsBy('domain_id', 'counted'), streams: sumsBy('domain_id', 'streams') }

/** Stats.hours. */
export function hourCounts(filter: StatsFilter, starts: readonly number[]): Work<Counts[]> {
  return periodCounts(
    filter,
    starts.map((from) => ({ from, before: from + HOUR_MS, unit: 'hour' })),
  )
}

/** Stats.days. */
export function dayCounts(filter: StatsFilter, spans: readonly Omit<StatsSpan, 'unit'>[]): Work<Counts[]> {
  return periodCounts(
    filter,
    spans.map((span) => ({ ...span, unit: 'day' })),
  )
}

function* periodCounts(filter: StatsFilter, spans: readonly StatsSpan[]): Work<Counts[]> {
  const { organizationId, domainId, mode } = filter
  const asked = spans.flatMap((span, period) => placesOf(span).map((place) => ({ place, period })))
  const places = asked.map(({ place }) => place)
  const counts = spans.map(noCounts)
  const add = (found: readonly (Counts & { at: number })[], sign: 1 | -1) => {
    for (const { at, ...sums } of found) {
      const of = counts[asked[at - 1]?.period ?? -1]
      if (of !== undefined) addCounts(of, sums, sign)
    }
  }
  const values = [places, organizationId, countedTag(filter), mode] as const
  add(yield* domainId === null ? rows(OF_ORGANIZATION, ...values) : rows(OF_DOMAIN, ...values, domainId), 1)
  if (isTransactionalOnly(filter)) add(yield* rows(OF_STREAMS, places, organizationId, STREAM_TAG, mode, domainId), -1)
  return counts
}

/** Stats.groups. */
export function* groupCounts(filter: StatsFilter, by: StatsGrouping, span: StatsSpan): Work<Map<string, Counts>> {
  if (by === 'tag') return yield* sums(BY_TAG.tags, filter, FIRST_TAG, span)
  if (by === 'template') return withoutPrefix(yield* sums(BY_TAG.templates, filter, TEMPLATE_TAG, span))
  if (by === 'provider') return withoutPrefix(yield* sums(BY_TAG.providers, filter, PROVIDER_TAG, span))
  if (by === 'domain') {
    const counted = yield* sums(BY_DOMAIN.counted, filter, countedTag(filter), span)
    if (isTransactionalOnly(filter)) {
      for (const [domain, counts] of yield* sums(BY_DOMAIN.streams, filter, STREAM_TAG, span)) {
        const rest = counted.get(domain)
        if (rest !== undefined) addCounts(rest, counts, -1)
      }
    }
    return withoutZeros(counted)
  }
  const transactional = (yield* sums(BY_TAG.counted, filter, '', span)).get('') ?? noCounts()
  const streams = new Map([[TRANSACTIONAL, transactional]])
  for (const [tag, counts] of yield* sums(BY_TAG.streams, filter, STREAM_TAG, span)) {
    addCounts(transactional, counts, -1)
    streams.set(tag.slice(STREAM_TAG.length), counts)
  }
  return withoutZeros(streams)
}

function* sums(
  statement: Statement<Counts & { key: string }>,
  { organizationId, mode, domainId }: StatsFilter,
  tag: string,
  span: StatsSpan,
): Work<Map<string, Counts>> {
  const found = yield* rows(statement, placesOf(span), organizationId, tag, mode, domainId)
  return new Map(found.map(({ key, ...counts }) => [key, counts]))
}

/** Span → its places in the counters. */
function placesOf({ from, before, unit }: StatsSpan): number[] {
  const length = unit === 'hour' ? HOUR_MS : DAY_MS
  return Array.from({ length: Math.max(0, Math.ceil((before - from) / length)) }, (_, at) => {
    const start = from + at * length
    const hour = unit === 'hour' ? Math.floor(start / HOUR_MS) % 24 : WHOLE_DAY
    return Math.floor(start / DAY_MS) * HOURS + hour
  })
}

/** All prefixes have one character. */
const withoutPrefix = (groups: Map<string, Counts>) =>
  withoutZeros(new Map([...groups].map(([tag, counts]) => [tag.slice(1), counts])))

function withoutZeros(groups: Map<string, Counts>): Map<string, Counts> {
  return new Map([...groups].filter(([, counts]) => COUNTED.some((name) => counts[name] !== 0)))
}
