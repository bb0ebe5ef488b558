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
  mode?: string
}

/** Prints counts of recipients by hour, day or month with their totals and rates, without the periods in which nothing
 *  happened, or "no mail in this time". `--json` prints all periods. Throws CommandFailure for an unknown `org` or
 *  `domain`, and Refusal for an invalid time or range. */
export async function showStats(options: Options): Promise<void> {
  const { from, to, interval, tag, stream, mode } = options
  await withCliContext(options.config, async ({ store, operator }) => {
    const { organizationId, domainId } = await requirePlace(options, store)
    const filter = { from, to, interval, domain_id: domainId ?? undefined, tag, stream, mode }
    const given = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const stats = await operator.run('stats_read', { organizationId, query: Object.fromEntries(given) })
    if (options.json) printJson(stats)
    else print(shown(stats, interval))
  })
}

function shown({ data, totals }: Results['stats_read'], interval: string): string {
  const counted = data.filter((each) => COLUMNS.some((name) => each[name] > 0))
  if (counted.length === 0) return 'no mail in this time'
  const rows = counted.map((each) => [
    each.period_start.slice(0, LENGTHS[interval]),
    ...COLUMNS.map((name) => each[name]),
  ])
  const total = ['total', ...COLUMNS.map((name) => totals[name])]
  const rates = RATES.map((name) => `${name.replace('_', ' ')} ${(totals[name] * 100).toFixed(2)} %`)
  const cells = [...rows, total].map((row) => row.map(String))
  return `${table([interval, ...COLUMNS.map((name) => name.replace('unique_', '').replace('_', ' '))], cells)}\n\n${rates.join(', ')}`
}

/** Characters of an ISO 8601 time that name a period: `2026-11-21T14:00`, `2026-11-21`, `2026-11`. */
const LENGTHS: Readonly<Record<string, number>> = { hour: 16, day: 10, month: 7 }
const COLUMNS = [
  ...(['accepted', 'delivered', 'deferred', 'hard_bounced', 'soft_bounced', 'suppressed'] as const),
  ...(['unique_opened', 'unique_clicked', 'unsubscribed', 'complained'] as const),
]
const RATES = ['delivery_rate', 'bounce_rate', 'complaint_rate', 'open_rate', 'click_rate'] as const
