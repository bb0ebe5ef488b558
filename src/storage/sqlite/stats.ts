import { COUNTED, type Counts, noCounts } from '../../model/stats.ts'
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
import type { Stats, StatsFilter } from '../store.ts'
import { type Connection, one } from './driver.ts'

const SUMS = COUNT_COLUMNS.map((column) => `sum(${column})`).join(', ')
const OF_ORGANIZATION = `select ${SUMS} from stats where day = ? and hour = ? and organization_id = ? and tag = ? and mode = ?`
const OF_DOMAIN = `${OF_ORGANIZATION} and domain_id = ?`
// Of all streams but the transactional one.
const OF_STREAMS = `select ${SUMS} from stats where day = ? and hour = ? and organization_id = ? and tag > '${STREAM_TAG}'
  and tag < '${BEHIND_STREAMS}' and mode = ? and (? is null or domain_id = ?)`

/** Reads counters only: one lookup for each hour or day of the ranges. */
export function sqliteStats(db: Connection): Stats {
  const ofOrganization = db.prepare<unknown[], SumRow>(OF_ORGANIZATION).raw()
  const ofDomain = db.prepare<unknown[], SumRow>(OF_DOMAIN).raw()

  const ofStreams = db.prepare<unknown[], SumRow>(OF_STREAMS).raw()

  const read = (filter: StatsFilter, day: number, hour: number): SumRow => {
    const { organizationId, domainId, mode } = filter
    const values = [day, hour, organizationId, countedTag(filter), mode]
    return domainId === null ? one(ofOrganization, ...values) : one(ofDomain, ...values, domainId)
  }
  const addRow = (counts: Counts, row: SumRow, sign: 1 | -1) => {
    if (row[0] === null) return
    for (const [at, name] of COUNTED.entries()) counts[name] += sign * (row[at] ?? 0)
  }
  const add = (counts: Counts, filter: StatsFilter, day: number, hour: number) => {
    addRow(counts, read(filter, day, hour), 1)
    if (!isTransactionalOnly(filter)) return
    const { organizationId, domainId, mode } = filter
    addRow(counts, one(ofStreams, day, hour, organizationId, mode, domainId, domainId), -1)
  }

  return {
    hours: async (filter, starts) =>
      starts.map((start) => {
        const counts = noCounts()
        add(counts, filter, Math.floor(start / DAY_MS), Math.floor(start / HOUR_MS) % 24)
        return counts
      }),
    days: async (filter, spans) =>
      spans.map(({ from, before }) => {
        const counts = noCounts()
        for (let at = from; at < before; at += DAY_MS) add(counts, filter, Math.floor(at / DAY_MS), WHOLE_DAY)
        return counts
      }),
  }
}

/** Null where nothing was counted. */
type SumRow = (number | null)[]
