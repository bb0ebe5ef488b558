import { get, type Json, type Paged } from '../kit/api.ts'
import { Chart } from '../kit/chart.tsx'
import { ago, number, percent } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { ErrorNotice, Head, Segments } from '../kit/pieces.tsx'
import { href, place, setQuery } from '../kit/router.ts'
import { mode, organization } from '../kit/state.ts'
import { Chip } from '../kit/status.tsx'
import { GetStarted } from './get-started.tsx'

/** Delivery statistics, alerts, bounce and complaint rates against the limits of mailbox providers, and the queue. */
export default function Overview() {
  const range = rangeOf(place.value.query.range)
  const stats = useLoad(
    (signal) => get('/v1/stats', { ...periodOf(range), mode: mode.value }, signal),
    [range],
    REFRESH,
  )
  if (organization.value === null) return <NoOrganizations />
  return (
    <div class="stack">
      <Head name="Overview" about={`${mode.value === 'live' ? 'Live' : 'Test'} messages of ${organization.value.name}`}>
        <Segments name="Range" options={RANGES} chosen={range} onChoose={(id) => setQuery({ range: id })} />
      </Head>
      <GetStarted />
      <Alerts />
      <ErrorNotice error={stats.error} onRetry={stats.reload} />
      {stats.data && <Statistics stats={stats.data} range={range} />}
      <div class="columns">
        <Deliverability />
        <Queue />
      </div>
    </div>
  )
}

const REFRESH = { everyMs: 20_000 }
const RANGES = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const
type Range = (typeof RANGES)[number][0]
const rangeOf = (text: string | undefined): Range => RANGES.find(([id]) => id === text)?.[0] ?? '24h'

function periodOf(range: Range) {
  const hours = { '24h': 24, '7d': 168, '30d': 720 }[range]
  const from = new Date(Date.now() - (hours - 1) * 3_600_000).toISOString()
  return { from, to: new Date(Date.now() + 1).toISOString(), interval: range === '30d' ? 'day' : 'hour' }
}

function Statistics({ stats: { data, totals }, range }: { stats: Json; range: Range }) {
  const counts = (name: string): number[] => data.map((period: Json) => period[name])
  const label = (at: number) =>
    new Date(at).toLocaleString(
      undefined,
      range === '30d' ? { dateStyle: 'medium' } : { dateStyle: 'short', timeStyle: 'short' },
    )
  const figures: [name: string, count: number, share: string][] = [
    ['Sent', totals.accepted, ''],
    ['Delivered', totals.delivered, percent(totals.delivery_rate, 1)],
    ['Deferred', totals.deferred, 'will retry'],
    ['Bounced', totals.bounced, percent(totals.bounce_rate)],
    ['Complaints', totals.complained, percent(totals.complaint_rate)],
    ['Opened', totals.unique_opened, percent(totals.open_rate, 1)],
  ]
  return (
    <section class="card stack" aria-label="Statistics">
      <div class="figures-row">
        {figures.map(([name, count, share]) => (
          <dl key={name} class="figure">
            <dt>{name}</dt>
            <dd class="num">{number(count)}</dd>
            <dd class="note">{count > 0 ? share : ''}</dd>
          </dl>
        ))}
      </div>
      <Chart
        name="Recipients over time"
        times={data.map((period: Json) => Date.parse(period.period_start))}
        lines={[
          { name: 'Sent', colour: '--strong-line', isFilled: true, values: counts('accepted') },
          { name: 'Delivered', colour: '--accent', values: counts('delivered') },
          { name: 'Deferred', colour: '--warn', dash: [6, 4], values: counts('deferred') },
          { name: 'Bounced', colour: '--bad', dash: [2, 3], values: counts('bounced') },
        ]}
        label={label}
      />
    </section>
  )
}

/** Firing alerts of all domains. */
function Alerts() {
  const { data } = useLoad((signal) => get<Paged>('/v1/quality', { limit: 100 }, signal), [], REFRESH)
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

/** Rates of each domain, and the limits that Gmail and Yahoo publish: complaints below 0.1%, never 0.3%. */
function Deliverability() {
  const quality = useLoad((signal) => get<Paged>('/v1/quality', { limit: 100 }, signal), [], REFRESH)
  const domains = (quality.data?.data ?? []).filter(({ sent }) => sent > 0)
  return (
    <section class="card stack" aria-labelledby="deliverability">
      <h2 id="deliverability">Deliverability</h2>
      <ErrorNotice error={quality.error} onRetry={quality.reload} />
      {quality.data && domains.length === 0 && (
        <p class="muted">No messages in the last 24 hours. Gmail and Yahoo ask for a complaint rate below 0.1%.</p>
      )}
      {domains.map(({ domain_id, domain, sent, bounce_rate, complaint_rate, thresholds, window_hours }) => (
        <div key={domain_id} class="stack tight">
          <h3 class="break">{domain}</h3>
          <Meter
            name="Complaints"
            rate={complaint_rate}
            isFew={sent < thresholds.min_sent}
            warn={0.001}
            bad={0.003}
            note="Gmail and Yahoo: stay below 0.1%, never reach 0.3%"
          />
          <Meter
            name="Hard bounces"
            rate={bounce_rate}
            isFew={sent < thresholds.min_sent}
            warn={thresholds.bounce_rate / 2}
            bad={thresholds.bounce_rate}
            note={`Alert at ${percent(thresholds.bounce_rate, 1)} within ${window_hours} hours`}
          />
        </div>
      ))}
    </section>
  )
}

/** A rate between zero and the limit. Too few messages give no verdict. */
function Meter({ name, rate, isFew, warn, bad, note }: Measured) {
  const tone = rate >= bad ? 'bad' : rate >= warn ? 'warn' : 'good'
  return (
    <div>
      <div class="row apart">
        <span>
          {name} <strong class="num">{percent(rate)}</strong>
        </span>
        {isFew ? <Chip word="not enough data" tone="quiet" /> : <Chip word={VERDICTS[tone]} tone={tone} />}
      </div>
      <div class={`meter ${isFew ? '' : tone}`} aria-hidden="true">
        <span style={{ width: `${Math.min(100, (rate / bad) * 100)}%` }} />
      </div>
      <span class="muted small">{note}</span>
    </div>
  )
}

interface Measured {
  name: string
  rate: number
  isFew: boolean
  warn: number
  bad: number
  note: string
}
const VERDICTS = { good: 'OK', warn: 'near the limit', bad: 'over the limit' }

/** Queue lengths over all organizations, and the age of the oldest entry. */
function Queue() {
  const queues = useLoad((signal) => get('/v1/queues', {}, signal), [], { everyMs: 5_000 })
  const rows: [string, Json][] = [
    ['Messages', queues.data?.deliveries],
    ['Webhooks', queues.data?.webhook_deliveries],
    ['Inbound webhooks', queues.data?.inbound_deliveries],
  ]
  return (
    <section class="card stack" aria-labelledby="queue">
      <h2 id="queue">Queue</h2>
      <ErrorNotice error={queues.error} onRetry={queues.reload} />
      {queues.data && (
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">All organizations</th>
              <th scope="col" class="num">
                Due
              </th>
              <th scope="col" class="num">
                Scheduled
              </th>
              <th scope="col">Oldest</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, queue]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="num">{number(queue.due)}</td>
                <td class="num">{number(queue.later)}</td>
                <td>
                  <Age since={queue.oldest_due_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <a href={href('/messages', { status: 'deferred' })}>Deferred messages</a>
    </section>
  )
}

/** Warns after five minutes: the server cannot keep up, or receivers are slow. */
function Age({ since }: { since: string | null }) {
  if (since === null) return <span class="muted">–</span>
  const isLong = Date.now() - Date.parse(since) > 300_000
  return <Chip word={ago(since)} tone={isLong ? 'warn' : 'quiet'} />
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
