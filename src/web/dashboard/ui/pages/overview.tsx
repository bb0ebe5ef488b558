import { get, type Json, type Paged } from '../kit/api.ts'
import { number, percent } from '../kit/format.ts'
import { type Loaded, useLoad } from '../kit/load.ts'
import { ErrorNotice, Head, Segments } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { place, setQuery } from '../kit/router.ts'
import { mode, organization } from '../kit/state.ts'
import { GetStarted, useSteps } from './get-started.tsx'
import { AlertNotices, useAlerts } from './health-alerts.tsx'
import { Deliverability } from './overview/deliverability.tsx'
import { Groups } from './overview/groups.tsx'
import { periodOf, RANGES, rangeOf } from './overview/range.ts'
import { Statistics } from './overview/statistics.tsx'
import { useTroubles } from './overview/troubles.tsx'
import { Queues } from './queues.tsx'

/** Deliverability first, then volume, then the queue; last what may change without moving the others. */
export default function Overview() {
  const range = rangeOf(place.value.query.range)
  const statsOf = (back: number) => (signal: AbortSignal) =>
    get('/v1/stats', { ...periodOf(range, back), mode: mode.value }, signal)
  const stats = useLoad(statsOf(0), [range], REFRESH)
  const before = useLoad(statsOf(1), [range, 'before'], REFRESH)
  const quality = useLoad((signal) => get<Paged>('/v1/quality', { limit: 100 }, signal), [], REFRESH)
  const mayQueues = may('queues_get')
  const queues = useLoad(async (signal) => (mayQueues ? get('/v1/queues', {}, signal) : null), [mayQueues], {
    everyMs: 5_000,
  })
  const troubles = useTroubles()
  const alerts = useAlerts()
  const steps = useSteps()
  // All at once, so that a part that comes later does not move the others.
  const isReady = [stats, quality, queues, troubles, steps, alerts].every(
    ({ data, error }) => data !== undefined || error !== undefined,
  )
  if (organization.value === null) return <NoOrganizations />
  // Before the first message, rates and charts of zeros say nothing.
  const isNew = steps.data?.isComplete === false && stats.data?.totals.accepted === 0
  return (
    <div class="stack">
      <Head name="Overview" about={`${mode.value === 'live' ? 'Live' : 'Test'} messages of ${organization.value.name}`}>
        <Segments name="Range" options={RANGES} chosen={range} onChoose={(id) => setQuery({ range: id })} />
      </Head>
      {isReady ? (
        <>
          <GetStarted steps={steps.data} />
          <AlertNotices of={alerts.data} />
          <Alerts quality={quality} />
          <ErrorNotice error={stats.error} onRetry={stats.reload} />
          {!isNew && <Deliverability quality={quality} stats={stats.data} troubles={troubles.data} range={range} />}
          {!isNew && stats.data && <Statistics stats={stats.data} before={before.data} range={range} />}
          {mayQueues && <Queues loaded={queues} />}
          {!isNew && <Groups range={range} {...REFRESH} />}
        </>
      ) : (
        <div class="card skeleton-page" role="progressbar" aria-label="Loading overview" />
      )}
    </div>
  )
}

const REFRESH = { everyMs: 20_000 }

/** Firing alerts of all domains. */
function Alerts({ quality: { data } }: { quality: Loaded<Paged> }) {
  const firing = (data?.data ?? []).flatMap((domain) =>
    domain.alerts.filter(({ state }: Json) => state === 'firing').map((alert: Json) => ({ domain, alert })),
  )
  return firing.map(({ domain, alert }) => (
    <div key={alert.alert_id} class="notice bad" role="alert">
      <strong>{domain.domain}</strong>: the {alert.metric === 'bounce_rate' ? 'bounce' : 'complaint'} rate is{' '}
      {percent(alert.value)} in {alert.window_hours} hours ({number(alert.affected)} of {number(alert.sent)}), above the{' '}
      {percent(alert.threshold)} threshold.{' '}
      {domain.sending_stopped
        ? 'Sending from this domain is stopped until the rate drops.'
        : 'Stop sending to old or purchased lists before mailbox providers block you.'}
    </div>
  ))
}

function NoOrganizations() {
  return (
    <div class="stack">
      <Head name="Overview" />
      <div class="card stack">
        <h2>No organizations yet</h2>
        <p class="muted">An organization owns domains, keys and messages. Create one on the server:</p>
        <pre>postrider init --domain example.com</pre>
      </div>
    </div>
  )
}
