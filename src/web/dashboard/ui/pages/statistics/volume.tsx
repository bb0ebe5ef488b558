import type { Json } from '../../kit/api.ts'
import { Chart } from '../../kit/chart.tsx'
import type { Compared } from './load.ts'
import { labelOf } from './range.ts'
import { METRICS } from './tiles.tsx'

/** Recipients over time by outcome, or one metric alone, over a line of the period before. */
export function Volume({ stats: { range, now, before }, chosen }: { stats: Compared; chosen: string | undefined }) {
  const metrics = METRICS.filter(({ id }) =>
    chosen === undefined ? id === 'delivered' || id === 'bounced' : id === chosen,
  )
  const bars = (field: string, of: Json): number[] => summed(of.data, field, range.step)
  const lines = metrics.map(({ name, field, colour }) => ({ name, colour, values: bars(field, now) }))
  const earlier = before && metrics.map(({ field }) => bars(field, before))
  return (
    <Chart
      name="Recipients over time"
      times={now.data
        .filter((_: Json, at: number) => at % range.step === 0)
        .map((period: Json) => Date.parse(period.period_start))}
      lines={lines}
      before={earlier?.[0]?.map((_: number, at: number) => sum(earlier.map((values: number[]) => values[at] ?? 0)))}
      label={labelOf(range)}
    />
  )
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)

/** Counts of each `step` periods in a row. */
function summed(periods: Json[], field: string, step: number): number[] {
  const bars: number[] = []
  for (const [at, period] of periods.entries()) {
    const bar = Math.floor(at / step)
    bars[bar] = (bars[bar] ?? 0) + period[field]
  }
  return bars
}
