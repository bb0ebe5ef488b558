import { get, type Json } from '../../kit/api.ts'
import { number, when } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { Fault } from '../../kit/pieces.tsx'
import { limit } from './limits.ts'

/** What the plan allows, what is used of it, and the months before. */
export function UsageCard({ name }: { name: string }) {
  const { data, error, reload } = useLoad((signal) => get('/v1/billing', {}, signal), [])
  if (data === undefined) return <Fault error={error} onRetry={reload} />
  const { usage, limits, past_months: past } = data
  return (
    <section class="card stack">
      <h2>Usage of {name}</h2>
      <div class="columns">
        <Used of="Messages this month" count={usage.messages} most={limits?.messages_per_month ?? -1} />
        <Used of="Domains" count={usage.domains} most={limits?.domains ?? -1} />
      </div>
      <p class="muted small">The month ends {when(usage.resets_at)}. Recipients of live mail are counted.</p>
      {past.length > 0 && (
        <details>
          <summary>Months before</summary>
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

function Used({ of, count, most }: { of: string; count: number; most: number }) {
  const share = most <= 0 ? 0 : Math.min(1, count / most)
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : ''
  return (
    <dl class="figure">
      <dt>{of}</dt>
      <dd>
        {number(count)} <span class="muted small">of {limit(most)}</span>
      </dd>
      {most > 0 && (
        <div class={`meter ${tone}`} aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </div>
      )}
    </dl>
  )
}
