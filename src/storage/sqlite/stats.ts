import { COUNTED, type Counts, noCounts, type StatsGrouping } from '../../model/stats.ts'
import {
  BEHIND_STREAMS,
  COUNT_COLUMNS,
  countedTag,
  DAY_MS,
  HOUR_MS,
  isTransactionalOnly,
  STREAM_TAG,
  WHOLE_DAY,
} from '../mail-counts.ts'
import { groupsOf, placesOf, type SumsBy, type TagRange } from '../stats-groups.ts'
import type { Stats, StatsFilter, StatsSpan } from '../store.ts'
import { type Connection, one } from './driver.ts'
import { type Condition, when } from './page.ts'
import { joined } from './slices.ts'

const SUMS = COUNT_COLUMNS.map((column) => `sum(${column})`).join(', ')
const OF_ORGANIZATION = `select ${SUMS} from stats where day = ? and hour = ? and organization_id = ? and tag = ? and mode = ?`
const OF_DOMAIN = `${OF_ORGANIZATION} and domain_id = ?`
// Of all streams but the transactional one.
const OF_STREAMS = `select ${SUMS} from stats where day = ? and hour = ? and organization_id = ? and tag > '${STREAM_TAG}'
  and tag < '${BEHIND_STREAMS}' and mode = ? and (? is null or domain_id = ?)`

const TAGS: Record<Exclude<TagRange, 'counted'>, string> = {
  streams: `tag > '${STREAM_TAG}' and tag < '${BEHIND_STREAMS}'`,
  tags: `tag >= '${BEHIND_STREAMS}'`,
}

/** Reads counters only: one lookup for each hour or day of the ranges. */
export function statsReads(db: Connection) {
  const ofOrganization = db.prepare<unknown[], SumRow>(OF_ORGANIZATION).raw()
  const ofDomain = db.prepare<unknown[], SumRow>(OF_DOMAIN).raw()

  const ofStreams = db.prepare<unknown[], SumRow>(OF_STREAMS).raw()

  const read = (filter: StatsFilter, day: number, hour: number): SumRow => {
    const { organizationId, domainId, mode } = filter
    const values = [day, hour, organizationId, countedTag(filter), mode]
    return domainId === null ? one(ofOrganization, ...values) : one(ofDomain, ...values, domainId)
  }
  const add = (counts: Counts, filter: StatsFilter, day: number, hour: number) => {
    addSums(counts, read(filter, day, hour), 1)
    if (!isTransactionalOnly(filter)) return
    const { organizationId, domainId, mode } = filter
    addSums(counts, one(ofStreams, day, hour, organizationId, mode, domainId, domainId), -1)
  }

  return {
    hours: (filter: StatsFilter, starts: readonly number[]): Counts[] =>
      starts.map((start) => {
        const counts = noCounts()
        add(counts, filter, Math.floor(start / DAY_MS), Math.floor(start / HOUR_MS) % 24)
        return counts
      }),
    days: (filter: StatsFilter, spans: Parameters<Stats['days']>[1]): Counts[] =>
      spans.map(({ from, before }) => {
        const counts = noCounts()
        for (let at = from; at < before; at += DAY_MS) add(counts, filter, Math.floor(at / DAY_MS), WHOLE_DAY)
        return counts
      }),
    groups: (filter: StatsFilter, by: StatsGrouping, span: StatsSpan) => groupsOf(sumsOf(db), filter, by, span),
  }
}

/** One lookup for each hour or day. */
function sumsOf(db: Connection): SumsBy {
  return async (column, tags, filter, span) => {
    const { organizationId, domainId, mode } = filter
    const { sql, values } = joined([
      { sql: 'organization_id = ?', values: [organizationId] },
      tagsOf(filter, tags),
      { sql: 'mode = ?', values: [mode] },
      ...when(domainId, 'domain_id = ?'),
    ])
    const grouped = db
      .prepare<unknown[], [key: string, ...number[]]>(
        `select ${column}, ${SUMS} from stats where day = ? and hour = ? and ${sql} group by 1`,
      )
      .raw()
    const groups = new Map<string, Counts>()
    for (const { day, hour } of placesOf(span)) {
      for (const [key, ...sums] of grouped.all(day, hour, ...values)) {
        const counts = groups.get(key) ?? noCounts()
        addSums(counts, sums, 1)
        groups.set(key, counts)
      }
    }
    return groups
  }
}

const tagsOf = (filter: StatsFilter, tags: TagRange): Condition =>
  tags === 'counted' ? { sql: 'tag = ?', values: [countedTag(filter)] } : { sql: TAGS[tags], values: [] }

function addSums(counts: Counts, sums: SumRow, sign: 1 | -1): void {
  for (const [at, name] of COUNTED.entries()) counts[name] += sign * (sums[at] ?? 0)
}

/** Null where nothing was counted. */
type SumRow = (number | null)[]
