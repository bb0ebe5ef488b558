import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { INTERVALS, type Interval, type Period, periodsOf } from '../../../model/period.ts'
import { invalid } from '../../../model/refusal.ts'
import { addCounts, type Counts, noCounts, STATS_GROUPINGS } from '../../../model/stats.ts'
import type { StatsFilter } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { requireOwned } from '../errors.ts'
import { type Operation, operation } from '../operation.ts'
import { characters, domainIdOrName, FIRST_TIME, isoTime } from '../schema.ts'
import { narrowed, scopeOf } from '../scope.ts'
import { type GroupStore, groupRecords, requireGroupable } from './stats-groups.ts'
import { ratesOf, toWire } from './stats-record.ts'

const query = z.strictObject({
  from: isoTime.optional().meta({ example: '2026-11-01T00:00:00Z' }),
  to: isoTime.optional().meta({ example: '2026-11-21T00:00:00Z' }),
  interval: z.enum(INTERVALS).default('day').meta({ example: 'day' }),
  domain_id: domainIdOrName.optional(),
  tag: characters(64, z.string().min(1, 'must not be empty')).optional(),
  stream: characters(32, z.string().min(1)).optional().describe('Message stream. Not together with `tag`.'),
  group_by: z
    .enum(STATS_GROUPINGS)
    .optional()
    .describe(
      'Adds `groups` and `other`. Except for `domain`, it cannot be combined with the filters `tag` and `stream`. `provider`: `google`, `microsoft`, `yahoo`, `apple`, or the domain of the MX host.',
    ),
  mode: z.enum(['live', 'test']).optional().describe('Absent: `live`, or `test` with a test key.'),
})

const DAY_MS = 86_400_000
/** Default length of the range: 30 days, up to the end of its last day. */
const DEFAULT_MS = 30 * DAY_MS
/** Maximum number of periods in a response. Ten years in months take some thousand lookups. */
const MOST: Record<Interval, number> = { hour: 1000, day: 1000, month: 120 }

/** The operation of `/v1/stats`: counts by hour, day or month. Periods are complete and in UTC: `from` is rounded down,
 *  `to` (exclusive) up. Periods without events have zeros.
 *
 *  All counts are recipients. `accepted` includes suppressed ones. `bounced` counts final bounces only; a soft bounce
 *  with `will_retry` counts as a deferral. Opens and clicks by machines do not count. A bounce after delivery counts in
 *  the period in which it arrives, and `delivered` stays unchanged. */
export function statsOperations(deps: { store: GroupStore }): Operation[] {
  const { stats, domains } = deps.store

  const countsOf = (filter: StatsFilter, interval: Interval, periods: Period[]): Promise<Counts[]> => {
    if (interval !== 'hour') return stats.days(filter, periods)
    return stats.hours(
      filter,
      periods.map(({ from }) => from),
    )
  }

  return [
    operation({
      id: 'stats_read',
      method: 'GET',
      path: '/v1/stats',
      tag: 'Statistics',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      tool: {
        name: 'get_statistics',
        description:
          'Counts recipients by hour, day or month: accepted, delivered, bounced, opened, clicked and more, with rates. The default is the last 30 days by day.',
      },
      summary: 'Retrieve statistics by hour, day or month',
      description:
        'All counts are recipients. Periods are complete and in UTC: `from` is rounded down, `to` (exclusive) up. The default is the last 30 days. At most 1000 hours or days, or 120 months. `accepted` includes suppressed recipients; `bounced` counts final bounces only; opens and clicks count people only. Rates are relative to recipients with a final outcome, or to delivered recipients. `group_by` adds the counts of the whole range by domain, tag, stream, template or provider: the 100 largest groups, and the sum of the others. The range is then at most 400 days; by tag, template or provider 100. A recipient counts as accepted for a provider with the first attempt there; recipients for which no mail server was found are in `other`.',
      responses: async () => (await import('../responses/figures.ts')).statsResponses,
      refusals: ['not_found'],
      query,
      async handle({ key, organizationId, query: asked, now }) {
        if (asked.domain_id !== undefined) requireOwned(await domains.get(asked.domain_id), organizationId, 'domain')
        if (asked.stream !== undefined && asked.tag !== undefined)
          throw invalid([{ field: 'stream', message: 'expected either stream or tag, found both' }])
        const periods = requirePeriods(asked, now)
        const { interval } = asked
        requireGroupable(asked, periods)
        const within = narrowed(asked, scopeOf(key))
        const filter = within && {
          organizationId,
          domainId: within.domainId,
          tag: asked.tag ?? null,
          stream: asked.stream ?? null,
          mode: within.mode ?? 'live',
        }
        const counts = filter === null ? periods.map(noCounts) : await countsOf(filter, interval, periods)
        const groups = asked.group_by && (await groupRecords(filter, asked.group_by, interval, periods, deps.store))
        const totals = counts.reduce((total, each) => addCounts(total, each), noCounts())
        const data = periods.map(({ from }, at) => ({ period_start: iso(from), ...toWire(counts[at] ?? noCounts()) }))
        return { status: 200, body: { data, totals: { ...toWire(totals), ...ratesOf(totals) }, ...groups } }
      },
    }),
  ]
}

/** Query → its periods. Throws `validation_error` if `to` is not after `from`, or for too many periods. */
function requirePeriods(asked: z.infer<typeof query>, now: number): Period[] {
  const { interval } = asked
  const before = asked.to ?? Math.max(now, asked.from ?? now) + 1
  const from = asked.from ?? Math.max(FIRST_TIME, Math.ceil(before / DAY_MS) * DAY_MS - DEFAULT_MS)
  if (from >= before) throw invalid([{ field: 'to', message: 'to must be later than from' }])
  const periods = periodsOf({ from, before }, interval, MOST[interval])
  if (periods.length <= MOST[interval]) return periods
  throw invalid([{ field: 'from', message: `from and to must be at most ${MOST[interval]} ${interval}s apart` }])
}
