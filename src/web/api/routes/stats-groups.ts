import type { Interval, Period } from '../../../model/period.ts'
import { invalid } from '../../../model/refusal.ts'
import { addCounts, type Counts, noCounts, type StatsGrouping } from '../../../model/stats.ts'
import type { StatsFilter, Store } from '../../../storage/store.ts'
import { ratesOf, toWire } from './stats-record.ts'

/** Groups in a response; the others are summed up. */
const MOST_GROUPS = 100
/** Longest ranges: each day may have a thousand tags, templates or providers (FIXED_LIMITS.tagsPerDay), which SQLite adds up
 *  in 4 ms. */
const MOST_DAYS: Record<StatsGrouping, number> = { domain: 400, tag: 100, stream: 400, template: 100, provider: 100 }
const DAY_MS = 86_400_000

/** Refuses with validation_error what the counters cannot answer: tags of a stream, streams of a tag, and long ranges. */
export function requireGroupable(
  { group_by: by, tag, stream }: { group_by?: StatsGrouping | undefined; tag?: unknown; stream?: unknown },
  periods: readonly Period[],
): void {
  if (by === undefined) return
  if (by !== 'domain' && (tag ?? stream) !== undefined)
    throw invalid([{ field: 'group_by', message: `group_by ${by} cannot be combined with tag or stream` }])
  const { from, before } = rangeOf(periods)
  const most = MOST_DAYS[by]
  if (before - from > most * DAY_MS)
    throw invalid([{ field: 'from', message: `with group_by ${by}, from and to must be at most ${most} days apart` }])
}

/** Counts and rates of the largest groups by accepted recipients, and of the others together (`other`; null if there are
 *  none). `filter` is null for a caller that sees nothing. */
export async function groupRecords(
  filter: StatsFilter | null,
  by: StatsGrouping,
  interval: Interval,
  periods: readonly Period[],
  { stats, ...names }: GroupStore,
) {
  const unit = interval === 'hour' ? 'hour' : 'day'
  const found =
    filter === null ? new Map<string, Counts>() : await stats.groups(filter, by, { ...rangeOf(periods), unit })
  // The database has already added some up.
  const rest = found.get('') ?? noCounts()
  const hasRest = found.delete('')
  const sorted = [...found].sort(([a, one], [b, other]) => other.accepted - one.accepted || (a < b ? -1 : 1))
  const others = sorted.slice(MOST_GROUPS).reduce((total, [, counts]) => addCounts(total, counts), rest)
  const groups = sorted.slice(0, MOST_GROUPS).map(async ([key, counts]) => {
    return { key, name: await nameOf(by, key, names), ...withRates(counts) }
  })
  const hasOther = hasRest || sorted.length > MOST_GROUPS
  return { groups: await Promise.all(groups), other: hasOther ? withRates(others) : null }
}

/** What groups and their names are read from. */
export type GroupStore = Pick<Store, 'stats' | 'domains' | 'templates'>

/** Name of a group; null for a domain or template that was removed. */
async function nameOf(by: StatsGrouping, key: string, { domains, templates }: Omit<GroupStore, 'stats'>) {
  if (by === 'domain') return (await domains.get(key))?.name ?? null
  if (by === 'template') return (await templates.get(key))?.name ?? null
  return key
}

const withRates = (counts: Counts) => ({ ...toWire(counts), ...ratesOf(counts) })

const rangeOf = (periods: readonly Period[]) => ({ from: periods[0]?.from ?? 0, before: periods.at(-1)?.before ?? 0 })
