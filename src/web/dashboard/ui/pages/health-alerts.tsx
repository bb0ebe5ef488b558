import { useState } from 'preact/hooks'
import { get, type Json, post } from '../kit/api.ts'
import { ago, number } from '../kit/format.ts'
import { type Loaded, useLoad } from '../kit/load.ts'
import { ErrorNotice, withCode } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { toast, toastError } from '../kit/toast.tsx'

/** Alerts and their channels; none for users who are not the operator. */
export const useAlerts = () =>
  useLoad(async (signal) => (may('alerts_list') ? get('/v1/alerts', {}, signal) : { data: [], channels: [] }), [], {
    everyMs: 20_000,
  })

const MOST_ENDED = 5

/** Firing alerts with what to do, the last ones that ended, and the channels. */
export function Alerts({ loaded: { data, error, reload } }: { loaded: Loaded<Json> }) {
  if (!data) return <ErrorNotice error={error} onRetry={reload} />
  if (data.channels.length === 0) return <NoChannels />
  const firing = data.data.filter(({ state }: Json) => state === 'firing')
  const ended = data.data.filter(({ state }: Json) => state !== 'firing').slice(0, MOST_ENDED)
  return (
    <section class="card stack" aria-labelledby="alerts">
      <h2 id="alerts">{firing.length === 0 ? 'No alerts' : `${number(firing.length)} alerts`}</h2>
      <ErrorNotice error={error} onRetry={reload} />
      {firing.length > 0 && (
        <ul class="findings checks">
          {firing.map((alert: Json) => (
            <Alert key={alert.id} alert={alert} />
          ))}
        </ul>
      )}
      {ended.length > 0 && (
        <details>
          <summary>Resolved</summary>
          <ul class="findings checks">
            {ended.map((alert: Json) => (
              <Alert key={alert.id} alert={alert} />
            ))}
          </ul>
        </details>
      )}
      <Channels channels={data.channels} onTested={reload} />
    </section>
  )
}

function Alert({ alert: { state, severity, title, message, advice, raised_at, resolved_at } }: { alert: Json }) {
  const isFiring = state === 'firing'
  const tone = isFiring ? (severity === 'critical' ? 'bad' : 'warn') : 'good'
  return (
    <li>
      <Chip word={isFiring ? (severity === 'critical' ? 'Critical' : 'Warning') : 'Resolved'} tone={tone} />
      <div>
        <span class="break">
          <strong>{title}</strong>: {message} <span class="muted">{ago(resolved_at ?? raised_at)}</span>
        </span>
        {isFiring && <p class="muted advice">{withCode(advice)}</p>}
      </div>
    </li>
  )
}

function Channels({ channels, onTested }: { channels: Json[]; onTested: () => void }) {
  const [isTesting, setTesting] = useState(false)
  const test = async () => {
    setTesting(true)
    try {
      const { data } = await post('/v1/alerts/test')
      const failed = data.filter(({ delivered }: Json) => !delivered).map(({ channel }: Json) => channel)
      if (failed.length > 0) toastError(new Error(`Test failed: ${failed.join(', ')}`))
      else toast('Test sent to every channel')
    } catch (thrown) {
      toastError(thrown)
    } finally {
      setTesting(false)
      onTested()
    }
  }
  return (
    <div class="stack tight">
      <h3>Channels</h3>
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
      <div>
        <button type="button" disabled={isTesting} onClick={test}>
          {isTesting ? 'Sending…' : 'Send test'}
        </button>
      </div>
    </div>
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

const MOST_NOTICES = 3

/** Notices of firing alerts, for the overview; nothing for users who are not the operator. */
export function AlertNotices({ of: data }: { of: Json }) {
  const firing = (data?.data ?? []).filter(({ state }: Json) => state === 'firing')
  const more = firing.length - MOST_NOTICES
  return (
    <>
      {firing.slice(0, MOST_NOTICES).map(({ id, severity, title, message, advice }: Json) => (
        <div key={id} class={`notice ${severity === 'critical' ? 'bad' : 'warn'}`} role="alert">
          <strong>{title}</strong>: {message}. {withCode(advice)}
        </div>
      ))}
      {more > 0 && <a href={href('/health')}>{more === 1 ? '1 more alert' : `${number(more)} more alerts`}</a>}
    </>
  )
}
