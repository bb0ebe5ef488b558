import { withCliContext } from './cli-context.ts'
import { requirePlace } from './domain.ts'
import { print, printJson, table } from './print.ts'
import type { Results } from './results.ts'

interface Options {
  config: string
  json?: true
  org?: string
  domain?: string
  from?: string
  to?: string
  interval: string
  tag?: string
  stream?: string
  groupBy?: string
  mode?: string
}

/** Prints counts of recipients by hour, day or month with their totals and rates, without the periods in which nothing
 *  happened, or "no mail in this time". With `groupBy`, groups take the place of periods. `--json` prints everything. Throws CommandFailure for an unknown `org` or
 *  `domain`, and Refusal for an invalid time or range. */
export async function showStats(options: Options): Promise<void> {
  const { from, to, interval, tag, stream, groupBy, mode } = options
  await withCliContext(options.config, async ({ store, operator }) => {
    const { organizationId, domainId } = await requirePlace(options, store)
    const filter = { from, to, interval, domain_id: domainId ?? undefined, tag, stream, group_by: groupBy, mode }
    const given = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const stats = await operator.run('stats_read', { organizationId, query: Object.fromEntries(given) })
    if (options.json) printJson(stats)
    else print(shown(stats, groupBy ?? interval))
  })
}

function shown(stats: Results['stats_read'], first: string): string {
  const { totals } = stats
  const lines = linesOf(stats, first).filter(([, counts]) => COLUMNS.some((name) => counts[name] > 0))
  if (lines.length === 0) return 'no mail in this time'
  const cells = [...lines, ['total', totals] as const].map(([label, counts]) => [
    label,
    ...COLUMNS.map((name) => String(counts[name])),
  ])
  const rates = RATES.map((name) => `${name.replace('_', ' ')} ${(totals[name] * 100).toFixed(2)} %`)
  const names = COLUMNS.map((name) => name.replace('unique_', '').replace('_', ' '))
  return `${table([first, ...names], cells)}\n\n${rates.join(', ')}`
}

type Counted = Record<(typeof COLUMNS)[number], number>

/** Statistics → a line for each group, or for each period. */
function linesOf({ data, groups, other }: Results['stats_read'], interval: string): [label: string, Counted][] {
  if (groups === undefined) return data.map((each) => [each.period_start.slice(0, LENGTHS[interval]), each])
  const lines = groups.map(({ key, name, ...counts }): [string, Counted] => [name ?? key, counts])
  return other ? [...lines, ['other', other]] : lines
}

/** Characters of an ISO 8601 time that name a period: `2026-11-21T14:00`, `2026-11-21`, `2026-11`. */
const LENGTHS: Readonly<Record<string, number>> = { hour: 16, day: 10, month: 7 }
const COLUMNS = [
  ...(['accepted', 'delivered', 'deferred', 'hard_bounced', 'soft_bounced', 'suppressed'] as const),
  ...(['unique_opened', 'unique_clicked', 'unsubscribed', 'complained'] as const),
]
const RATES = ['delivery_rate', 'bounce_rate', 'complaint_rate', 'open_rate', 'click_rate'] as const
