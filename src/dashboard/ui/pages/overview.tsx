import { get, type Json, type Paged } from '../kit/api.ts'
import { Chart } from '../kit/chart.tsx'
import { ago, number, percent } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { Fault, Head, Segments } from '../kit/pieces.tsx'
import { ask, href, place } from '../kit/router.ts'
import { mode, organization } from '../kit/state.ts'
import { Chip } from '../kit/status.tsx'
import { SetUp } from './set-up.tsx'

/** How the mail goes: what was sent and what became of it, how far the providers' limits are, what waits, what is wrong. */
export default function Overview() {
  const range = rangeOf(place.value.query.range)
  const stats = useLoad((signal) => get('/v1/stats', { ...periodOf(range), mode: mode.value }, signal), [range], OFTEN)
  if (organization.value === null) return <NobodyYet />
  return (
    <div class="stack">
      <Head name="Overview" about={`${mode.value === 'live' ? 'Live' : 'Sandbox'} mail of ${organization.value.name}`}>
        <Segments name="Range" options={RANGES} chosen={range} onChoose={(id) => ask({ range: id })} />
      </Head>
      <SetUp />
      <Alerts />
      <Fault error={stats.error} onRetry={stats.reload} />
      {stats.data && <Sent stats={stats.data} range={range} />}
      <div class="columns">
        <Limits />
        <Queue />
      </div>
    </div>
  )
}

const OFTEN = { everyMs: 20_000 }
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

function Sent({ stats: { data, totals }, range }: { stats: Json; range: Range }) {
  const counts = (name: string): number[] => data.map((period: Json) => period[name])
  const label = (at: number) =>
    new Date(at).toLocaleString(
      undefined,
      range === '30d' ? { dateStyle: 'medium' } : { dateStyle: 'short', timeStyle: 'short' },
    )
  const figures: [name: string, count: number, share: string][] = [
    ['Accepted', totals.accepted, ''],
    ['Delivered', totals.delivered, percent(totals.delivery_rate, 1)],
    ['Deferred', totals.deferred, 'tried again later'],
    ['Bounced', totals.bounced, percent(totals.bounce_rate)],
    ['Complained', totals.complained, percent(totals.complaint_rate)],
    ['Opened', totals.unique_opened, percent(totals.open_rate, 1)],
  ]
  return (
    <section class="card stack" aria-label="Sent">
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
        name="Recipients by time"
        times={data.map((period: Json) => Date.parse(period.period_start))}
        lines={[
          { name: 'Accepted', colour: '--strong-line', isFilled: true, values: counts('accepted') },
          { name: 'Delivered', colour: '--accent', values: counts('delivered') },
          { name: 'Deferred', colour: '--warn', dash: [6, 4], values: counts('deferred') },
          { name: 'Bounced', colour: '--bad', dash: [2, 3], values: counts('bounced') },
        ]}
        label={label}
      />
    </section>
  )
}

/** What fires at present, of all domains. */
function Alerts() {
  const { data } = useLoad((signal) => get<Paged>('/v1/quality', { limit: 100 }, signal), [], OFTEN)
  const firing = (data?.data ?? []).flatMap((domain) =>
    domain.alerts.filter(({ state }: Json) => state === 'firing').map((alert: Json) => ({ domain, alert })),
  )
  return firing.map(({ domain, alert }) => (
    <div key={alert.alert_id} class="notice bad" role="alert">
      <strong>{domain.domain}</strong>: {alert.metric === 'bounce_rate' ? 'bounces' : 'complaints'} are at{' '}
      {percent(alert.value)}, over {percent(alert.threshold)} in {alert.window_hours} hours ({number(alert.affected)} of{' '}
      {number(alert.sent)}).{' '}
      {domain.sending_stopped
        ? 'Sending from this domain is stopped until it is lower again.'
        : 'Stop what sends to old or bought addresses before receivers stop you.'}
    </div>
  ))
}

/** Rates of each domain beside what Gmail and Yahoo publish: under 0.1 % complaints, never 0.3 %. */
function Limits() {
  const quality = useLoad((signal) => get<Paged>('/v1/quality', { limit: 100 }, signal), [], OFTEN)
  const domains = (quality.data?.data ?? []).filter(({ sent }) => sent > 0)
  return (
    <section class="card stack" aria-labelledby="limits">
      <h2 id="limits">Against the limits</h2>
      <Fault error={quality.error} onRetry={quality.reload} />
      {quality.data && domains.length === 0 && (
        <p class="muted">Nothing was sent in the last day. Gmail and Yahoo ask for less than 0.1 % complaints.</p>
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
            note="Gmail and Yahoo: under 0.1 %, never 0.3 %"
          />
          <Meter
            name="Hard bounces"
            rate={bounce_rate}
            isFew={sent < thresholds.min_sent}
            warn={thresholds.bounce_rate / 2}
            bad={thresholds.bounce_rate}
            note={`alert at ${percent(thresholds.bounce_rate, 1)} within ${window_hours} hours`}
          />
        </div>
      ))}
    </section>
  )
}

/** A rate on the way to where it hurts; of a few mails it says nothing yet. */
function Meter({ name, rate, isFew, warn, bad, note }: Measured) {
  const tone = rate >= bad ? 'bad' : rate >= warn ? 'warn' : 'good'
  return (
    <div>
      <div class="row apart">
        <span>
          {name} <strong class="num">{percent(rate)}</strong>
        </span>
        {isFew ? <Chip word="too few to say" tone="quiet" /> : <Chip word={WORDS[tone]} tone={tone} />}
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
const WORDS = { good: 'good', warn: 'near the limit', bad: 'over the limit' }

/** What waits in the whole house, and for how long. */
function Queue() {
  const queues = useLoad((signal) => get('/v1/queues', {}, signal), [], { everyMs: 5_000 })
  const rows: [string, Json][] = [
    ['Mail', queues.data?.deliveries],
    ['Webhooks', queues.data?.webhook_deliveries],
    ['Inbound', queues.data?.inbound_deliveries],
  ]
  return (
    <section class="card stack" aria-labelledby="queue">
      <h2 id="queue">Waiting</h2>
      <Fault error={queues.error} onRetry={queues.reload} />
      {queues.data && (
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Of the whole server</th>
              <th scope="col" class="num">
                Now
              </th>
              <th scope="col" class="num">
                Later
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

/** Due for more than five minutes: the server does not keep up, or receivers let it wait. */
function Age({ since }: { since: string | null }) {
  if (since === null) return <span class="muted">–</span>
  const isLong = Date.now() - Date.parse(since) > 300_000
  return <Chip word={ago(since)} tone={isLong ? 'warn' : 'quiet'} />
}

function NobodyYet() {
  return (
    <div class="stack">
      <Head name="Overview" />
      <div class="card stack">
        <h2>There is no organization yet</h2>
        <p class="muted">An organization owns domains, keys and messages. On the server:</p>
        <pre>postrider init --domain example.com</pre>
      </div>
    </div>
  )
}
