import { get, type Json, post } from '../kit/api.ts'
import { ago } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { useBusy } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { Chip } from '../kit/status.tsx'
import { toast } from '../kit/toast.tsx'

/** Alerts and their channels; none for users who are not the operator. */
export const useAlerts = () =>
  useLoad(async (signal) => (may('alerts_list') ? get('/v1/alerts', {}, signal) : { data: [], channels: [] }), [], {
    everyMs: 20_000,
  })

/** The last result of the health checks; none for users who are not the operator. */
export const useChecks = () =>
  useLoad(
    async (signal) =>
      may('health_checks_list') ? get('/v1/health-checks', {}, signal) : { checks: [], checked_at: null },
    [],
    { everyMs: 30_000 },
  )

const MOST_ENDED = 5

/** Where alerts are sent, and the last ones that ended. */
export function AlertChannels({ of: data, reload }: { of: Json; reload: () => void }) {
  if (data.channels.length === 0) return <NoChannels />
  const ended = data.data.filter(({ state }: Json) => state !== 'firing').slice(0, MOST_ENDED)
  return (
    <section class="card stack" aria-labelledby="alerts">
      <div class="row apart">
        <h2 id="alerts">Alert channels</h2>
        <TestButton onTested={reload} />
      </div>
      <Channels channels={data.channels} />
      {ended.length > 0 && (
        <details>
          <summary>Resolved alerts</summary>
          <ul class="findings checks">
            {ended.map((alert: Json) => (
              <Resolved key={alert.id} alert={alert} />
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function Resolved({ alert: { title, message, resolved_at } }: { alert: Json }) {
  return (
    <li>
      <Chip word="Resolved" tone="good" />
      <span class="break">
        <strong>{title}</strong>: {message} <span class="muted">{ago(resolved_at)}</span>
      </span>
    </li>
  )
}

function TestButton({ onTested }: { onTested: () => void }) {
  const [isTesting, test] = useBusy(async () => {
    const { data } = await post('/v1/alerts/test').finally(onTested)
    const failed = data.filter(({ delivered }: Json) => !delivered).map(({ channel }: Json) => channel)
    if (failed.length > 0) throw new Error(`Test failed: ${failed.join(', ')}`)
    toast('Test sent to every channel')
  })
  return (
    <button type="button" class="tiny" disabled={isTesting} onClick={test}>
      {isTesting ? 'Sending…' : 'Send test'}
    </button>
  )
}

function Channels({ channels }: { channels: Json[] }) {
  return (
    <ul class="findings">
      {channels.map(({ name, type, last_delivered_at, last_error, failing_since }) => (
        <li key={name}>
          <Chip
            word={last_error !== null ? 'Failing' : last_delivered_at === null ? 'Unused' : 'OK'}
            tone={last_error !== null ? 'bad' : last_delivered_at === null ? 'quiet' : 'good'}
          />
          <span class="break">
            {name} <span class="muted">{type}</span>
            {last_error !== null && (
              <span class="muted">
                : {last_error}, since {ago(failing_since)}
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

function NoChannels() {
  return (
    <section class="card stack" aria-labelledby="alerts">
      <h2 id="alerts">Alerts</h2>
      <p class="muted">
        Alerts are off. Configure <code>[[alerts.channels]]</code> to learn of problems by mail, webhook or chat.{' '}
        <a href="/manual/alerts" target="_blank" rel="noreferrer">
          How to configure alerts
        </a>
      </p>
    </section>
  )
}
