import { type Command, Option } from 'commander'
import { INTERVALS } from '../../model/period.ts'
import { STATS_GROUPINGS } from '../../model/stats.ts'
import { addOperation, type Given } from '../operation-command.ts'
import { MODES, ORG } from '../options.ts'
import { organizationOfDomainQuery } from '../places.ts'
import { table } from '../print.ts'
import type { Results } from '../results.ts'

/** `postrider stats`: counts of recipients with their totals and rates, without the periods in which nothing happened. */
export function addStats(program: Command): void {
  addOperation(program, 'stats', 'stats_read', {
    about: 'show how many recipients got, bounced, opened or reported mail, by hour, day or month',
    place: organizationOfDomainQuery,
    placed: [ORG, new Option('--domain <name>', 'only mail from this domain')],
    query: {
      from: new Option('--from <time>', 'ISO 8601, rounded down to a period in UTC (default: 30 days before the end)'),
      to: new Option('--to <time>', 'ISO 8601, exclusive, rounded up (default: now)'),
      interval: new Option('--interval <interval>', 'length of a period').choices(INTERVALS).default('day'),
      tag: new Option('--tag <tag>', 'only messages with this tag'),
      stream: new Option('--stream <stream>', 'only messages of this stream').conflicts('tag'),
      group_by: new Option('--group-by <group>', 'show groups instead of periods').choices(STATS_GROUPINGS),
      mode: new Option('--mode <mode>', 'live or test messages').choices(MODES).default('live'),
    },
    text: (stats, { options }: Given<{ interval: string; groupBy?: string }>) => statsText(stats, options),
  })
}

function statsText(stats: Results['stats_read'], options: { interval: string; groupBy?: string }): string {
  const { totals } = stats
  const lines = linesOf(stats, options.interval).filter(([, counts]) => COLUMNS.some((name) => counts[name] > 0))
  if (lines.length === 0) return 'no mail in this time'
  const cells = [...lines, ['total', totals] as const].map(([label, counts]) => [
    label,
    ...COLUMNS.map((name) => String(counts[name])),
  ])
  const rates = RATES.map((name) => `${name.replace('_', ' ')} ${(totals[name] * 100).toFixed(2)} %`)
  const names = COLUMNS.map((name) => name.replace('unique_', '').replace('_', ' '))
  return `${table([options.groupBy ?? options.interval, ...names], cells)}\n\n${rates.join(', ')}`
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
  ...(['unique_opened', 'unique_clicked', 'unsubscribed', 'complained', 'replied'] as const),
]
const RATES = ['delivery_rate', 'bounce_rate', 'complaint_rate', 'open_rate', 'click_rate'] as const
