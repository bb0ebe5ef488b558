import type { Json } from '../../kit/api.ts'
import { Chart } from '../../kit/chart.tsx'
import { number, percent } from '../../kit/format.ts'
import { href } from '../../kit/router.ts'
import { HOURS, labelOf, RANGES, type Range } from './range.ts'

/** Tiles with the change against the period before, each a link to its list, and recipients over time by outcome. */
export function Statistics({
  stats: { data, totals },
  before,
  range,
}: {
  stats: Json
  /** Statistics of the period before; undefined while they load. */
  before: Json
  range: Range
}) {
  const counts = (name: string): number[] => data.map((period: Json) => period[name])
  const since = String(HOURS[range])
  const messages = (status = '') => href('/messages', { status, since })
  const tiles: [name: string, field: string, share: string, link: string][] = [
    ['Sent', 'accepted', '', messages()],
    ['Delivered', 'delivered', percent(totals.delivery_rate, 1), messages('delivered')],
    ['Deferred', 'deferred', '', messages('deferred')],
    ['Bounced', 'bounced', percent(totals.bounce_rate), messages('bounced')],
    ['Complaints', 'complained', percent(totals.complaint_rate), href('/suppressions', { reason: 'complaint' })],
    ['Opened', 'unique_opened', percent(totals.open_rate, 1), messages()],
  ]
  return (
    <section class="card stack" aria-labelledby="volume">
      <h2 id="volume">Volume</h2>
      <div class="tiles">
        {tiles.map(([name, field, share, link]) => (
          <a key={name} class="tile" href={link}>
            <dl class="figure">
              <dt>{name}</dt>
              <dd class="num">{number(totals[field])}</dd>
              <dd class="note num">
                {totals[field] > 0 && share}
                <Change now={totals[field]} before={before?.totals[field]} range={range} />
              </dd>
            </dl>
          </a>
        ))}
      </div>
      <Chart
        name="Recipients over time"
        times={data.map((period: Json) => Date.parse(period.period_start))}
        lines={[
          { name: 'Delivered', colour: '--accent', values: counts('delivered') },
          { name: 'Deferred', colour: '--warn-line', values: counts('deferred') },
          { name: 'Bounced', colour: '--bad', values: counts('bounced') },
        ]}
        label={labelOf(range)}
      />
    </section>
  )
}

/** Change against the period before: `↑12%`; nothing without messages in it. */
function Change({ now, before, range }: { now: number; before: number | undefined; range: Range }) {
  if (before === undefined || before === 0) return null
  const change = Math.round(((now - before) / before) * 100)
  const period = RANGES.find(([id]) => id === range)?.[1]
  return (
    <span title={`${number(before)} in the ${period} before`}>
      {change < 0 ? '↓' : '↑'}
      {number(Math.abs(change))}%
    </span>
  )
}
