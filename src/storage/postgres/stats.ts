import { COUNTED, type Counts, noCounts } from '../../model/stats.ts'
import {
  COUNT_COLUMNS,
  countedTag,
  DAY_MS,
  HOUR_MS,
  isTransactionalOnly,
  STREAM_TAG,
  WHOLE_DAY,
} from '../mail-counts.ts'
import { groupsOf, placesOf, type SumsBy, type TagRange } from '../stats-groups.ts'
import type { Stats, StatsFilter } from '../store.ts'
import { numberArray } from './arrays.ts'
import type { Reads } from './reads.ts'

const SUMS = COUNTED.map((name, at) => `sum(${COUNT_COLUMNS[at]})::float8 as "${name}"`).join(', ')
// The aggregate inside makes it one lookup for each hour or day, whatever the planner expects.
const read = (condition: string, tags = 'tag = $4') => `select at::int, counted.*
  from unnest($1::int[], $2::int[]) with ordinality asked (day, hour, at)
    cross join lateral (select ${SUMS} from stats s where organization_id = $3 and s.day = asked.day
      and s.hour = asked.hour and ${tags} and mode = $5 ${condition}) counted
  where counted.accepted is not null`
const OF_ORGANIZATION = read('')
const OF_DOMAIN = read('and domain_id = $6')
// Of all streams but the transactional one.
const OF_STREAMS = read('and ($6::text is null or domain_id = $6)', 'starts_with(tag, $4)')

const TAGS: Record<TagRange, string> = {
  counted: 'tag = $4',
  streams: 'starts_with(tag, $4)',
  tags: "tag <> '' and not starts_with(tag, $4)",
}
const TOTALS = COUNTED.map((name) => `sum("${name}") as "${name}"`).join(', ')

/** Reads counters only for each hour or day of the ranges. */
export function postgresStats(reads: Reads): Stats {
  /** Rows of the counters, each with the place of the period that it belongs to → the counts of `length` periods. */
  const count = async (filter: StatsFilter, length: number, rows: readonly Place[]): Promise<Counts[]> => {
    const { organizationId, domainId, mode } = filter
    const asked = [numberArray(rows.map(({ day }) => day)), numberArray(rows.map(({ hour }) => hour))]
    const values = [...asked, organizationId, countedTag(filter), mode]
    const found = await (domainId === null
      ? reads.query<Found>(OF_ORGANIZATION, values)
      : reads.query<Found>(OF_DOMAIN, [...values, domainId]))
    const streams = isTransactionalOnly(filter)
      ? await reads.query<Found>(OF_STREAMS, [...asked, organizationId, STREAM_TAG, mode, domainId])
      : []
    const periods = Array.from({ length }, noCounts)
    const add = ({ at, ...sums }: Found, sign: 1 | -1) => {
      const counts = periods[rows[at - 1]?.period ?? -1]
      if (counts !== undefined) for (const name of COUNTED) counts[name] += sign * sums[name]
    }
    for (const each of found) add(each, 1)
    for (const each of streams) add(each, -1)
    return periods
  }
  return {
    hours: (filter, starts) =>
      count(
        filter,
        starts.length,
        starts.map((start, period) => ({ day: dayOf(start), hour: Math.floor(start / HOUR_MS) % 24, period })),
      ),
    days: (filter, spans) =>
      count(
        filter,
        spans.length,
        spans.flatMap(({ from, before }, period) => {
          const length = Math.max(0, Math.ceil((before - from) / DAY_MS))
          return Array.from({ length }, (_, at) => ({ day: dayOf(from) + at, hour: WHOLE_DAY, period }))
        }),
      ),
    groups: (filter, by, span) => groupsOf(sumsOf(reads), filter, by, span),
  }
}

/** One lookup for each hour or day. */
function sumsOf(reads: Reads): SumsBy {
  return async (column, tags, filter, span) => {
    const { organizationId, domainId, mode } = filter
    const places = placesOf(span)
    const sql = `select key, ${TOTALS} from unnest($1::int[], $2::int[]) asked (day, hour)
      cross join lateral (select ${column} as key, ${SUMS} from stats s where organization_id = $3
        and s.day = asked.day and s.hour = asked.hour and ${TAGS[tags]} and mode = $5
        and ($6::text is null or domain_id = $6) group by 1) counted
      group by key`
    const rows = await reads.query<Counts & { key: string }>(sql, [
      numberArray(places.map(({ day }) => day)),
      numberArray(places.map(({ hour }) => hour)),
      organizationId,
      tags === 'counted' ? countedTag(filter) : STREAM_TAG,
      mode,
      domainId,
    ])
    return new Map(rows.map(({ key, ...counts }) => [key, counts]))
  }
}

const dayOf = (at: number) => Math.floor(at / DAY_MS)

/** A row of the counters, and the period that it belongs to. */
interface Place {
  day: number
  hour: number
  period: number
}

interface Found extends Counts {
  /** Number of the row that was asked for, from 1. */
  at: number
}
