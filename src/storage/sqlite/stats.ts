import { COUNTED, type Counts, noCounts } from '../../model/stats.ts'
import { COUNT_COLUMNS, DAY_MS, HOUR_MS, WHOLE_DAY } from '../mail-counts.ts'
import type { Stats, StatsFilter } from '../store.ts'
import { type Connection, one } from './driver.ts'

const SUMS = COUNT_COLUMNS.map((column) => `sum(${column})`).join(', ')
const OF_ORGANIZATION = `select ${SUMS} from stats where day = ? and hour = ? and organization_id = ? and tag = ? and mode = ?`
const OF_DOMAIN = `${OF_ORGANIZATION} and domain_id = ?`

/** Reads counters only: one lookup for each hour or day of the ranges. */
export function sqliteStats(db: Connection): Stats {
  const ofOrganization = db.prepare<unknown[], SumRow>(OF_ORGANIZATION).raw()
  const ofDomain = db.prepare<unknown[], SumRow>(OF_DOMAIN).raw()

  const read = ({ organizationId, domainId, tag, mode }: StatsFilter, day: number, hour: number): SumRow => {
    const values = [day, hour, organizationId, tag ?? '', mode]
    return domainId === null ? one(ofOrganization, ...values) : one(ofDomain, ...values, domainId)
  }
  const add = (counts: Counts, row: SumRow) => {
    if (row[0] === null) return
    for (const [at, name] of COUNTED.entries()) counts[name] += row[at] ?? 0
  }

  return {
    hours: async (filter, starts) =>
      starts.map((start) => {
        const counts = noCounts()
        add(counts, read(filter, Math.floor(start / DAY_MS), Math.floor(start / HOUR_MS) % 24))
        return counts
      }),
    days: async (filter, spans) =>
      spans.map(({ from, before }) => {
        const counts = noCounts()
        for (let at = from; at < before; at += DAY_MS) add(counts, read(filter, Math.floor(at / DAY_MS), WHOLE_DAY))
        return counts
      }),
  }
}

/** Null where nothing was counted. */
type SumRow = (number | null)[]
