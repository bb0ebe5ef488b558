import { get, type Json, type Paged } from '../kit/api.ts'
import { Chart } from '../kit/chart.tsx'
import { ago, number, percent } from '../kit/format.ts'
import { type Loaded, useLoad } from '../kit/load.ts'
import { ErrorNotice, Head, Segments } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href, place, setQuery } from '../kit/router.ts'
import { mode, organization } from '../kit/state.ts'
import { Chip } from '../kit/status.tsx'
import { GetStarted, useSteps } from './get-started.tsx'

/** Delivery statistics, alerts, bounce and complaint rates against the limits of mailbox providers, and the queue. */
export default function Overview() {
  const range = rangeOf(place.value.query.range)
  const stats = useLoad(
    (signal) => get('/v1/stats', { ...periodOf(range), mode: mode.value }, signal),
    [range],
    REFRESH,
  )
  const before = useLoad(
    (signal) => get('/v1/stats', { ...periodOf(range, 1), mode: mode.value }, signal),
    [range, 'before'],
    REFRESH,
  )
  const quality = useLoad((signal) => get<Paged>('/v1/quality', { limit: 100 }, signal), [], REFRESH)
  const mayQueues = may('queues_get')
  const queues = useLoad(async (signal) => (mayQueues ? get('/v1/queues', {}, signal) : null), [mayQueues], {
    everyMs: 5_000,
  })
  const steps = useSteps()
  // All at once, so that a part that comes later does not move the others.
  const isReady = [stats, quality, queues, steps].every(({ data, error }) => data !== undefined || error !== undefined)
  if (organization.value === null) return <NoOrganizations />
  return (
    <div class="stack">
      <Head name="Overview" about={`${mode.value === 'live' ? 'Live' : 'Test'} messages of ${organization.value.name}`}>
        <Segments name="Range" options={RANGES} chosen={range} onChoose={(id) => setQuery({ range: id })} />
      </Head>
      {isReady ? (
        <>
          <GetStarted steps={steps.data} />
          <Alerts quality={quality} />
          <ErrorNotice error={stats.error} onRetry={stats.reload} />
          <Deliverability quality={quality} stats={stats.data} />
          {stats.data && <Statistics stats={stats.data} before={before.data} range={range} />}
          {mayQueues && <Queue queues={queues} />}
        </>
      ) : (
        <div class="card skeleton-page" role="progressbar" aria-label="Loading overview" />
      )}
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

/** Range → from, to and interval of the statistics; `back` is the number of periods before the current one. */
function periodOf(range: Range, back = 0) {
  const hours = { '24h': 24, '7d': 168, '30d': 720 }[range]
  const end = Date.now() - back * hours * 3_600_000
  const from = new Date(end - (hours - 1) * 3_600_000).toISOString()
  return { from, to: new Date(end + 1).toISOString(), interval: range === '30d' ? 'day' : 'hour' }
}

function Statistics({ stats: { data, totals }, before, range }: { stats: Json; before: Json; range: Range }) {
  const counts = (name: string): number[] => data.map((period: Json) => period[name])
  const label = (at: number) =>
    new Date(at).toLocaleString(
      undefined,
      range === '30d' ? { dateStyle: 'medium' } : { dateStyle: 'short', timeStyle: 'short' },
    )
  const figures: [name: string, field: string, share: string, status: string][] = [
    ['Sent', 'accepted', '', ''],
    ['Delivered', 'delivered', percent(totals.delivery_rate, 1), 'delivered'],
    ['Deferred', 'deferred', 'will retry', 'deferred'],
    ['Bounced', 'bounced', percent(totals.bounce_rate), 'bounced'],
    ['Complaints', 'complained', percent(totals.complaint_rate), ''],
    ['Opened', 'unique_opened', percent(totals.open_rate, 1), ''],
  ]
  return (
    <section class="card stack" aria-label="Statistics">
      <div class="figures-row">
        {figures.map(([name, field, share, status]) => (
          <a key={name} class="tile" href={href('/messages', { status, since: HOURS[range] })}>
            <dl class="figure">
              <dt>{name}</dt>
              <dd class="num">{number(totals[field])}</dd>
              <dd class="note">
                {[totals[field] > 0 && share, changeText(totals[field], before?.totals[field])]
                  .filter(Boolean)
                  .join(' · ')}
              </dd>
            </dl>
          </a>
        ))}
      </div>
      <Chart
        name="Recipients over time"
        times={data.map((period: Json) => Date.parse(period.period_start))}
        lines={[
          { name: 'Delivered', colour: '--accent', values: counts('delivered') },
          { name: 'Deferred', colour: '--warn-line', values: counts('deferred') },
          { name: 'Bounced', colour: '--bad', values: counts('bounced') },
        ]}
        label={label}
      />
    </section>
  )
}

const HOURS: Record<Range, string> = { '24h': '24', '7d': '168', '30d': '720' }

/** Change against the period before: `+12%`, or '' without messages in it. */
function changeText(now: number, before: number | undefined): string {
  if (before === undefined || before === 0) return ''
  const change = Math.round(((now - before) / before) * 100)
  return change > 0 ? `+${change}%` : `${change}%`
}

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

/** Rates of each domain, and the limits that Gmail and Yahoo publish: complaints below 0.1%, never 0.3%. */
function Deliverability({ quality, stats }: { quality: Loaded<Paged>; stats: Json }) {
  const domains = (quality.data?.data ?? []).filter(({ sent }) => sent > 0)
  return (
    <section class="card stack" aria-labelledby="deliverability">
      <h2 id="deliverability">Deliverability</h2>
      <ErrorNotice error={quality.error} onRetry={quality.reload} />
      {quality.data && domains.length === 0 && (
        <p class="muted">No messages in the last 24 hours. Gmail and Yahoo ask for a complaint rate below 0.1%.</p>
      )}
      <div class="columns wide">
        {domains.map(({ domain_id, domain, sent, bounce_rate, complaint_rate, thresholds, window_hours }) => (
          <div key={domain_id} class="stack tight">
            <h3 class="break">
              <a href={href(`/domains/${domain_id}`)}>{domain}</a>
            </h3>
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
        {stats && domains.length > 0 && <BounceRates stats={stats} limit={domains[0]?.thresholds.bounce_rate} />}
      </div>
    </section>
  )
}

/** The bounce rate over time, with the alert threshold as a line. */
function BounceRates({ stats: { data }, limit }: { stats: Json; limit: number }) {
  return (
    <Chart
      name="Bounce rate over time"
      times={data.map((period: Json) => Date.parse(period.period_start))}
      lines={[{ name: 'Bounce rate', colour: '--accent', values: data.map(bounceRateOf) }]}
      label={(at) => new Date(at).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'short' })}
      isStacked={false}
      heightPx={120}
      limit={limit}
      format={(rate) => percent(rate, 1)}
    />
  )
}

const bounceRateOf = ({ bounced, delivered }: Json): number =>
  bounced + delivered === 0 ? 0 : bounced / (bounced + delivered)

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
function Queue({ queues }: { queues: Loaded<Json> }) {
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
