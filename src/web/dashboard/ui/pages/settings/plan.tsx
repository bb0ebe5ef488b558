import { get, type Json, loadSession, patch } from '../../kit/api.ts'
import { confirm } from '../../kit/dialog.tsx'
import { bytes, number, when } from '../../kit/format.ts'
import { type Loaded, useLoad } from '../../kit/load.ts'
import { Pending } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { href } from '../../kit/router.ts'
import { organization } from '../../kit/state.ts'
import { attempt } from '../../kit/toast.tsx'
import { limit, limitsText } from '../organizations/limits.ts'

/** Plan and usage of the selected organization. Owners also see past months, and the plans that they can choose. */
export const useUsage = (): Loaded<Json> =>
  useLoad((signal) => get(may('billing_get') ? '/v1/billing' : '/v1/usage', {}, signal), [])

/** Usage of this period against the limits of the plan, past months, and other plans. */
export function PlanAndUsage() {
  const { data, error, reload } = useUsage()
  if (data === undefined) return <Pending error={error} onRetry={reload} />
  return (
    <div class="stack">
      <Usage of={data} />
      <OtherPlans of={data} onChanged={reload} />
    </div>
  )
}

function Usage({ of: { plan, usage, limits, past_months: past = [] } }: { of: Json }) {
  return (
    <section class="card stack">
      <h2>
        Plan: <span class="capital">{plan}</span>
      </h2>
      <div class="columns usage">
        {FIGURES.map(({ of, used, most, show }) => (
          <Used key={used} of={of} count={usage[used]} most={limits?.[most] ?? -1} show={show} />
        ))}
      </div>
      <p class="muted small">
        Each recipient counts as one message. Monthly counters reset on {when(usage.resets_at)}, daily ones at midnight
        UTC.
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

/** The plans that an owner can choose without the operator; nothing if there are none. */
function OtherPlans({ of: { plan, self_service_plans: plans = [] }, onChanged }: { of: Json; onChanged: () => void }) {
  const others = plans.filter((each: Json) => each.plan !== plan)
  if (!may('billing_update') || others.length === 0) return null
  const choose = async (chosen: string) => {
    const isSure = await confirm({
      name: `Change to the plan ${chosen}?`,
      text: 'The new limits apply immediately. A plan with a shorter retention period deletes older messages, events and inbound mail.',
      action: 'Change plan',
    })
    const change = () => patch('/v1/billing', { plan: chosen })
    if (!isSure || !(await attempt(change, `Plan changed to ${chosen}`))) return
    onChanged()
    await loadSession()
  }
  return (
    <section class="card stack">
      <h2>Change plan</h2>
      <ul class="plain-list stack">
        {others.map((each: Json) => (
          <li key={each.plan} class="row apart">
            <span>
              <strong class="capital">{each.plan}</strong>
              <div class="muted">{limitsText({ plan: each.plan, ...each.limits })}</div>
            </span>
            <button type="button" onClick={() => choose(each.plan)}>
              Change<span class="hidden"> to {each.plan}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A warning on the overview when a limit is 80 % used or more; nothing before that. */
export function UsageNotice({ of: data }: { of: Json }) {
  const close = (data === undefined ? [] : FIGURES).flatMap(({ of, used, most, show = number }) => {
    const [count, limit] = [data.usage[used], data.limits?.[most] ?? -1]
    return limit > 0 && count / limit >= CLOSE
      ? [{ of, isFull: count >= limit, text: `${show(count)} of ${show(limit)}` }]
      : []
  })
  if (close.length === 0) return null
  return (
    <div class={`notice ${close.some(({ isFull }) => isFull) ? 'bad' : 'warn'}`}>
      {close.map(({ of, isFull, text }) => (
        <div key={of}>
          <strong>{isFull ? 'Limit reached' : 'Close to the limit'}</strong>: {of.toLowerCase()}, {text}.
        </div>
      ))}
      <a href={href('/settings', { tab: 'plan' })}>Plan and usage of {organization.value?.name}</a>
    </div>
  )
}

/** Share of a limit from which its use is a warning. */
const CLOSE = 0.8

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
  const tone = share >= 1 ? 'bad' : share >= CLOSE ? 'warn' : ''
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
      {(share >= CLOSE || most === 0) && (
        <dd class={`note ${tone}`}>
          {most === 0 ? 'Not included in the plan' : share >= 1 ? 'Limit reached' : 'Close to the limit'}
        </dd>
      )}
    </dl>
  )
}
