import type { Json } from '../../kit/api.ts'
import { number } from '../../kit/format.ts'
import { changeOf, type Rate, rateOf, shown } from './rates.ts'

/** The period before needs so many for a change in per cent. */
const LEAST_BEFORE = 30

/** Change of a count against the period before: `↑12%`, `×17`, `new`. More mail is neither good nor bad. */
export function CountChange({ now, before }: { now: number; before: number | undefined }) {
  if (before === undefined || (now === 0 && before === 0)) return null
  const title = `${number(before)} in the period before`
  if (before < LEAST_BEFORE) return now < LEAST_BEFORE ? null : <span title={title}>new</span>
  const ratio = now / before
  if (ratio >= 10) return <span title={title}>×{Math.round(ratio)}</span>
  const change = Math.round(Math.abs(ratio - 1) * 100)
  return <span title={title}>{change === 0 ? '±0%' : `${ratio < 1 ? '↓' : '↑'}${change}%`}</span>
}

/** Change of a rate in percentage points, green where it is an improvement; nothing where it may be chance. */
export function RateChange({ now, before, rate }: { now: Json; before: Json; rate: Rate }) {
  const points = changeOf(now, before, rate)
  if (points === null) return null
  const isGood = points > 0 === (rate !== 'bounce_rate' && rate !== 'complaint_rate')
  return (
    <span
      class={`change ${isGood ? 'good-text' : 'bad-text'}`}
      title={`${shown(rateOf(before, rate), rate)} in the period before`}
    >
      {points < 0 ? '↓' : '↑'}
      {Math.abs(points).toFixed(rate === 'complaint_rate' ? 2 : 1)} pt
    </span>
  )
}
