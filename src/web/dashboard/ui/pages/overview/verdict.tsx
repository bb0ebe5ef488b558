import type { Json } from '../../kit/api.ts'
import { number } from '../../kit/format.ts'
import { Chip } from '../../kit/status.tsx'
import type { Range } from '../statistics/range.ts'
import { rateOf, shown, toneOfRate } from '../statistics/rates.ts'

/** One sentence: is the mail of this time arriving? */
export function Verdict({ totals, range, needs }: { totals: Json; range: Range; needs: number }) {
  const [tone, word, text] = verdictOf(totals)
  return (
    <p class="verdict">
      <Chip word={word} tone={tone} /> <span>{text}</span>{' '}
      <span class="muted">{range.label.charAt(0).toUpperCase() + range.label.slice(1)}.</span>{' '}
      {needs > 0 && <a href="#needs">{needs === 1 ? '1 thing needs you' : `${number(needs)} things need you`}</a>}
    </p>
  )
}

function verdictOf(totals: Json): ['good' | 'warn' | 'bad' | 'quiet', word: string, text: string] {
  const rate = rateOf(totals, 'delivery_rate')
  const ended = totals.delivered + totals.bounced
  if (rate === null)
    return [
      'quiet',
      totals.accepted === 0 ? 'No mail' : 'Little mail',
      `${number(totals.accepted)} sent, too few for a rate.`,
    ]
  const sentence = `${shown(rate, 'delivery_rate')} of ${number(ended)} delivered.`
  const complaints = toneOfRate(totals, 'complaint_rate')
  if (complaints === 'bad') return ['bad', 'Too many spam reports', sentence]
  const tone = toneOfRate(totals, 'delivery_rate')
  if (tone === 'bad') return ['bad', 'Mail bounces', sentence]
  if (tone === 'warn' || complaints === 'warn') return ['warn', 'Mostly arriving', sentence]
  return ['good', 'Mail is arriving', sentence]
}
