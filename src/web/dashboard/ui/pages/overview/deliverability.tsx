import type { Json, Paged } from '../../kit/api.ts'
import { Chart } from '../../kit/chart.tsx'
import { percent } from '../../kit/format.ts'
import type { Loaded } from '../../kit/load.ts'
import { ErrorNotice } from '../../kit/pieces.tsx'
import { href } from '../../kit/router.ts'
import { Chip } from '../../kit/status.tsx'
import { labelOf, type Range } from './range.ts'
import { Troubles } from './troubles.tsx'

/** Gmail and Yahoo: keep the complaint rate below 0.1%, never reach 0.3% (support.google.com/a/answer/81126). */
const COMPLAINTS = { warn: 0.001, bad: 0.003 }

/** Rates of each domain against the limits of mailbox providers, the rates over time, and destinations and domains with
 *  problems. */
export function Deliverability({
  quality,
  stats,
  troubles,
  range,
}: {
  quality: Loaded<Paged>
  stats: Json
  troubles: Troubles | undefined
  range: Range
}) {
  const domains = (quality.data?.data ?? []).filter(({ sent }) => sent > 0)
  return (
    <section class="card stack" aria-labelledby="deliverability">
      <h2 id="deliverability">Deliverability</h2>
      <ErrorNotice error={quality.error} onRetry={quality.reload} />
      {quality.data && domains.length === 0 && (
        <p class="muted">No messages in the last 24 hours. Gmail and Yahoo ask for a complaint rate below 0.1%.</p>
      )}
      {domains.length > 0 && (
        <div class="columns wide">
          {domains.map((domain) => (
            <DomainRates key={domain.domain_id} of={domain} />
          ))}
          {stats && (
            <>
              <RateChart
                name="Bounce rate"
                stats={stats}
                rateOf={bounceRateOf}
                limit={domains[0]?.thresholds.bounce_rate}
                range={range}
              />
              <RateChart
                name="Complaint rate"
                stats={stats}
                rateOf={complaintRateOf}
                limit={COMPLAINTS.bad}
                range={range}
              />
            </>
          )}
        </div>
      )}
      <Troubles of={troubles} />
    </section>
  )
}

function DomainRates({ of: { domain_id, domain, sent, bounce_rate, complaint_rate, thresholds, window_hours } }: Json) {
  return (
    <div class="stack tight">
      <h3 class="break">
        <a href={href(`/domains/${domain_id}`)}>{domain}</a>
      </h3>
      <Meter
        name="Complaints"
        rate={complaint_rate}
        isFew={sent < thresholds.min_sent}
        {...COMPLAINTS}
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
  )
}

/** A rate over time, with its limit as a line. */
function RateChart({
  name,
  stats: { data },
  rateOf,
  limit,
  range,
}: {
  name: string
  stats: Json
  rateOf: (period: Json) => number
  limit: number
  range: Range
}) {
  return (
    <Chart
      name={`${name} over time`}
      times={data.map((period: Json) => Date.parse(period.period_start))}
      lines={[{ name, colour: '--accent', values: data.map(rateOf) }]}
      label={labelOf(range)}
      isStacked={false}
      heightPx={112}
      limit={limit}
      format={(rate) => percent(rate, 1)}
    />
  )
}

const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole)
const bounceRateOf = ({ bounced, delivered }: Json): number => share(bounced, bounced + delivered)
const complaintRateOf = ({ complained, delivered }: Json): number => share(complained, Math.max(complained, delivered))

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
