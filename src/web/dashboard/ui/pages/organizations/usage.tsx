import { get, type Json } from '../../kit/api.ts'
import { bytes, number, when } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { Pending } from '../../kit/pieces.tsx'
import { limit } from './limits.ts'

/** Usage in this period against the limits of the plan, and usage of previous months. */
export function UsageCard({ name }: { name: string }) {
  const { data, error, reload } = useLoad((signal) => get('/v1/billing', {}, signal), [])
  if (data === undefined) return <Pending error={error} onRetry={reload} />
  const { usage, limits, past_months: past } = data
  return (
    <section class="card stack">
      <h2>Usage of {name}</h2>
      <div class="columns usage">
        {FIGURES.map(({ of, used, most, show }) => (
          <Used key={used} of={of} count={usage[used]} most={limits?.[most] ?? -1} show={show} />
        ))}
      </div>
      <p class="muted small">
        Each recipient counts as one message. Daily counters reset at {when(usage.day_resets_at)}, monthly counters at{' '}
        {when(usage.resets_at)} (midnight UTC).
      </p>
      {past.length > 0 && (
        <details>
          <summary>Previous months</summary>
          <table>
            <caption class="hidden">Messages by month</caption>
            <thead>
              <tr>
                <th scope="col">Month</th>
                <th scope="col" class="num">
                  Messages
                </th>
              </tr>
            </thead>
            <tbody>
              {past.map(({ month, messages }: Json) => (
                <tr key={month}>
                  <td>{month}</td>
                  <td class="num">{number(messages)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  )
}

interface Figure {
  of: string
  used: string
  most: string
  show?: (count: number) => string
}

/** `used` is a field of `usage` in `/v1/billing`, `most` one of `limits`. */
const FIGURES: Figure[] = [
  { of: 'Messages this month', used: 'messages', most: 'messages_per_month' },
  { of: 'Test messages this month', used: 'test_messages', most: 'test_messages_per_month' },
  { of: 'Forwards today', used: 'forwards', most: 'forwards_per_day' },
  { of: 'Storage', used: 'stored_bytes', most: 'stored_bytes', show: bytes },
  { of: 'Scheduled messages', used: 'scheduled_messages', most: 'scheduled_messages' },
  { of: 'Domains', used: 'domains', most: 'domains' },
  { of: 'API keys', used: 'api_keys', most: 'api_keys' },
  { of: 'Webhooks', used: 'webhooks', most: 'webhooks' },
  { of: 'Inbound routes', used: 'inbound_routes', most: 'inbound_routes' },
  { of: 'Templates', used: 'templates', most: 'templates' },
  { of: 'Suppressions', used: 'suppressions', most: 'suppressions' },
]

function Used({ of, count, most, show = number }: Pick<Figure, 'of' | 'show'> & { count: number; most: number }) {
  const share = most < 0 ? 0 : most === 0 ? Number(count > 0) : Math.min(1, count / most)
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : ''
  return (
    <dl class="figure">
      <dt>{of}</dt>
      <dd>
        {show(count)} <span class="note">of {most < 0 ? limit(most) : show(most)}</span>
      </dd>
      {most > 0 && (
        <div class={`meter ${tone}`} aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </div>
      )}
      {(share >= 0.8 || most === 0) && (
        <dd class={`note ${tone}`}>
          {most === 0 ? 'Not included in the plan' : share >= 1 ? 'Limit reached' : 'Close to the limit'}
        </dd>
      )}
    </dl>
  )
}
