import type { Json } from '../../kit/api.ts'
import { number } from '../../kit/format.ts'
import { withBreaks } from '../../kit/pieces.tsx'
import { href, place } from '../../kit/router.ts'
import { CountChange, RateChange } from './change.tsx'
import { type Compared, GROUPINGS, type Grouping } from './load.ts'
import { rateOf, shown, toneOfRate } from './rates.ts'
import { METRICS, type Metric } from './tiles.tsx'

/** Columns that a phone leaves out: the tiles have their totals, and the file all of them. */
const WIDE = new Set(['opened', 'clicked', 'replied'])
const classOf = (metric: string) => (WIDE.has(metric) ? 'num wide-only' : 'num')

const PROVIDERS: Record<string, string> = {
  google: 'Gmail and Google Workspace',
  microsoft: 'Outlook and Microsoft 365',
  yahoo: 'Yahoo and AOL',
  apple: 'iCloud',
}

/** Name of a group for people. */
export function nameOf(by: Grouping, { key, name }: Json): string {
  if (key === undefined) return by === 'provider' ? 'Others, and no mail server found' : 'All others'
  if (by === 'provider') return PROVIDERS[key] ?? key
  return name ?? `Removed ${by}`
}

/** Groups of an answer, and the sum of the others as the last one. */
export const rowsOf = ({ groups, other }: Json): Json[] => (other === null ? groups : [...groups, other])

/** A row for each group with the metrics of these IDs; at most `most` rows. A name filters by its group, where the API can. */
export function Groups({
  stats: { by, now, before },
  metrics,
  most = 100,
}: {
  stats: Compared
  metrics: readonly string[]
  most?: number
}) {
  const heading = GROUPINGS.find(([id]) => id === by)?.[1] ?? ''
  const columns = METRICS.filter(({ id }) => metrics.includes(id))
  const rows = rowsOf(now)
  const earlier = new Map<string | undefined, Json>(before ? rowsOf(before).map((row) => [row.key, row]) : [])
  if (rows.length === 0) return <p class="muted">No mail in this time</p>
  return (
    <table class="plain groups">
      <caption class="hidden">Recipients by {by}</caption>
      <thead>
        <tr>
          <th scope="col">{heading}</th>
          {columns.map(({ id, name }) => (
            <th key={id} scope="col" class={classOf(id)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, most).map((row) => (
          <tr key={row.key ?? ''}>
            <td class="break">
              <GroupName by={by} of={row} />
            </td>
            {columns.map((metric) => (
              <td key={metric.id} class={classOf(metric.id)}>
                <Cell metric={metric} now={row} before={earlier.get(row.key)} isCompared={before !== null} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Cell({ metric: { field, rate }, now, before, isCompared }: CellProps) {
  if (rate === undefined)
    return (
      <span>
        {number(now[field])}{' '}
        <span class="muted change">{isCompared && <CountChange now={now[field]} before={before?.[field] ?? 0} />}</span>
      </span>
    )
  const value = rateOf(now, rate)
  const tone = toneOfRate(now, rate)
  if (value === null) return <span class="muted">{number(now[field])}</span>
  return (
    <span title={`${number(now[field])} ${now[field] === 1 ? 'recipient' : 'recipients'}`}>
      <span class={tone === 'bad' || tone === 'warn' ? `${tone}-text` : undefined}>{shown(value, rate)}</span>{' '}
      <RateChange now={now} before={before} rate={rate} />
    </span>
  )
}

interface CellProps {
  metric: Metric
  now: Json
  before: Json
  isCompared: boolean
}

/** Filters of the API by grouping. */
const FILTER_OF: Partial<Record<Grouping, string>> = { domain: 'domain_id', tag: 'tag', stream: 'stream' }

function GroupName({ by, of }: { by: Grouping; of: Json }) {
  const [name, filter] = [nameOf(by, of), FILTER_OF[by]]
  const { path, query } = place.value
  if (of.key === undefined || filter === undefined || of.name === null)
    return <span dir="auto">{withBreaks(name)}</span>
  const { by: _, ...rest } = query
  return (
    <a href={href(path, { ...rest, [filter]: of.key })} dir="auto">
      {withBreaks(name)}
    </a>
  )
}
