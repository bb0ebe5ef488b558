import type { ComponentChildren } from 'preact'
import type { Json } from '../../kit/api.ts'
import { number } from '../../kit/format.ts'
import { setQuery } from '../../kit/router.ts'
import { CountChange, RateChange } from './change.tsx'
import type { Compared } from './load.ts'
import { type Rate, rateOf, shown, toneOfRate } from './rates.ts'

/** What the chart can show, by the value of `show` in the URL. */
export const METRICS = [
  { id: 'sent', name: 'Sent', field: 'accepted', colour: '--accent' },
  { id: 'delivered', name: 'Delivered', field: 'delivered', rate: 'delivery_rate', colour: '--accent' },
  { id: 'bounced', name: 'Bounced', field: 'bounced', rate: 'bounce_rate', colour: '--bad' },
  { id: 'complained', name: 'Spam reports', field: 'complained', rate: 'complaint_rate', colour: '--bad' },
  { id: 'opened', name: 'Opened', field: 'unique_opened', rate: 'open_rate', colour: '--calm' },
  { id: 'clicked', name: 'Clicked', field: 'unique_clicked', rate: 'click_rate', colour: '--calm' },
  { id: 'replied', name: 'Replied', field: 'replied', colour: '--calm' },
] as const satisfies readonly Metric[]

export interface Metric {
  id: string
  name: string
  field: string
  rate?: Rate
  colour: string
}

/** A tile for each metric: its rate, its count and the change; a press shows it alone in the chart. The one of sent
 *  recipients also has the suppressed ones, which are among those sent and have no other outcome. */
export function Tiles({
  stats: { now, before },
  chosen,
  children,
}: {
  stats: Compared
  chosen: string | undefined
  children?: ComponentChildren
}) {
  return (
    <div class="tiles">
      {METRICS.map((metric) => (
        <button
          key={metric.id}
          type="button"
          class="tile"
          aria-pressed={metric.id === chosen}
          onClick={() => setQuery({ show: metric.id === chosen ? undefined : metric.id })}
        >
          <Figure metric={metric} now={now.totals} before={before?.totals} />
        </button>
      ))}
      {children}
    </div>
  )
}

function Figure({ metric: { name, field, rate }, now, before }: { metric: Metric; now: Json; before: Json }) {
  if (rate === undefined)
    return (
      <TileText name={name} value={number(now[field])}>
        <CountChange now={now[field]} before={before?.[field]} />
        {field === 'accepted' && now.suppressed > 0 && <span>{number(now.suppressed)} suppressed</span>}
      </TileText>
    )
  const value = rateOf(now, rate)
  return (
    <TileText name={name} value={value === null ? number(now[field]) : shown(value, rate)} tone={toneOfRate(now, rate)}>
      {value !== null && <span>{number(now[field])}</span>}
      <RateChange now={now} before={before} rate={rate} />
    </TileText>
  )
}

const TONES: Record<string, string> = { warn: 'warn-text', bad: 'bad-text' }

export function TileText({ name, value, tone = '', children }: TileProps) {
  return (
    <>
      <span class="tile-name">{name}</span>
      <span class={`tile-value ${TONES[tone] ?? ''}`}>{value}</span>
      <span class="tile-note num">{children}</span>
    </>
  )
}

interface TileProps {
  name: string
  value: string
  tone?: string
  children?: ComponentChildren
}
