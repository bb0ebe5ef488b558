import { get, type Json, type Paged } from '../kit/api.ts'
import { ago, duration, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { CopyButton, Facts, Fault, type Moment, Timeline } from '../kit/pieces.tsx'
import { Chip, toneOf } from '../kit/status.tsx'

/** What happened to a message, for each recipient: why it is where it is and what comes next, then every attempt with what
 *  was said, every report that came back and what its reader did. */
export function Life({ message }: { message: Json }) {
  const { id } = message
  const about = [
    id,
    message.status,
    message.recipients.map(({ attempts, opens, clicks }: Json) => [attempts, opens, clicks]),
  ]
  const { data, error, reload } = useLoad(async (signal) => {
    const [explained, attempts, events] = await Promise.all([
      get(`/v1/messages/${id}/explain`, {}, signal),
      get(`/v1/messages/${id}/attempts`, {}, signal),
      get<Paged>(`/v1/messages/${id}/events`, { limit: 100 }, signal),
    ])
    return { explained, attempts, events: events.data, hasMore: events.has_more }
  }, about)
  return (
    <>
      <Fault error={error} onRetry={reload} />
      {message.recipients.map((recipient: Json) => (
        <Recipient
          key={recipient.email}
          message={message}
          recipient={recipient}
          why={data?.explained.recipients.find(({ email }: Json) => email === recipient.email)}
          moments={data === undefined ? [] : momentsOf(message, recipient.email, data)}
        />
      ))}
      {data?.hasMore && <p class="muted">The newest hundred events are shown.</p>}
    </>
  )
}

function Recipient({
  message,
  recipient,
  why,
  moments,
}: {
  message: Json
  recipient: Json
  why: Json
  moments: Moment[]
}) {
  const { email, type, status, next_attempt_at, opens, clicks } = recipient
  const reader = [opens > 0 && `opened ${times(opens)}`, clicks > 0 && `clicked ${times(clicks)}`]
    .filter(Boolean)
    .join(', ')
  return (
    <section class="card stack" aria-label={`To ${email}`}>
      <div class="row apart">
        <h2 class="break">
          {email} {type !== 'to' && <span class="muted">({type})</span>}
        </h2>
        <Chip word={status} />
      </div>
      {why && (
        <div class={`notice ${toneOf(status)} stack tight`}>
          {why.explanation.map((sentence: string) => (
            <p key={sentence} class="break">
              {sentence.replace(ISO_TIME, when)}
            </p>
          ))}
          {why.meaning && <p class="muted small">The codes of the reply mean: {why.meaning}</p>}
          {next_attempt_at && (
            <p>
              <strong>Next attempt {ago(next_attempt_at)}</strong>, at {when(next_attempt_at)}.
            </p>
          )}
        </div>
      )}
      {reader !== '' && <p class="muted">{reader}, as far as that can be told.</p>}
      {moments.length > 0 && <Timeline name={`What happened for ${email}`} moments={moments} />}
      {moments.length === 0 && <p class="muted">Accepted {when(message.created_at)}.</p>}
    </section>
  )
}

const ISO_TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g
const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

interface Data {
  attempts: Json
  events: Json[]
}

/** All that is known of one recipient, oldest first. An attempt's own event says nothing more than the attempt. */
function momentsOf(message: Json, email: string, { attempts, events }: Data): Moment[] {
  const isThis = (address: string) => address.toLowerCase() === email.toLowerCase()
  const tried = attempts.data.filter(({ recipient }: Json) => isThis(recipient))
  const reported = attempts.reports.filter((report: Json) => isThis(report.email))
  const lived = events.filter(({ type, data }) => isThis(data.to) && (READER[type] !== undefined || tried.length === 0))
  return [
    { tone: 'calm' as const, key: 'accepted', iso: message.created_at, what: 'Accepted' },
    ...tried.map(attemptMoment),
    ...reported.map(reportMoment),
    ...lived.map(eventMoment),
  ]
    .toSorted((a, b) => Date.parse(a.iso) - Date.parse(b.iso))
    .map((moment) => ({ ...moment, at: when(moment.iso) }))
}

type Untimed = Omit<Moment, 'at'> & { iso: string }

function attemptMoment(attempt: Json): Untimed {
  const { number, started_at, outcome, mx_host, mx_ip, source_ip, duration_ms, smtp_response, cause, transcript } =
    attempt
  const tls =
    attempt.tls_version === null
      ? 'in clear'
      : `${attempt.tls_version} ${attempt.tls_cipher ?? ''}, certificate ${attempt.tls_verified ? 'verified' : 'not verified'}`
  return {
    key: `attempt ${number}`,
    tone: toneOf(outcome),
    iso: started_at,
    what: (
      <>
        Attempt {number}: <strong>{OUTCOMES[outcome] ?? outcome}</strong>
        {mx_host !== null && <> at {mx_host}</>}
      </>
    ),
    more: (
      <div class="stack tight">
        {smtp_response !== null && <code class="break">{smtp_response}</code>}
        <details>
          <summary>What was said</summary>
          <div class="stack tight">
            <Facts
              of={[
                ['Host', mx_host && `${mx_host} (${mx_ip ?? 'no address'})`],
                ['From', source_ip],
                ['TLS', mx_host && tls],
                ['Demanded by', attempt.tls_policy === 'none' ? null : attempt.tls_policy],
                ['Took', duration(duration_ms)],
                ['Read as', cause && `${cause.class} (${cause.rule})`],
              ]}
            />
            {transcript !== '' && (
              <>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
                <pre class="wrap" tabIndex={0}>
                  {transcript}
                </pre>
                <span>
                  <CopyButton text={transcript} label="the dialogue" />
                </span>
              </>
            )}
          </div>
        </details>
      </div>
    ),
  }
}

const OUTCOMES: Record<string, string> = {
  delivered: 'delivered',
  deferred: 'deferred',
  bounced: 'bounced',
  unknown: 'the connection was lost behind the mail; it is sent again with the same Message-ID',
}

/** What a report says, by its kind. */
const REPORTS: Record<string, string> = {
  failed: 'Report: delivery failed',
  delayed: 'Report: delivery delayed',
  delivered: 'Report: delivered',
  relayed: 'Report: relayed',
  expanded: 'Report: delivered to a list',
  complaint: 'Complaint',
  unsubscribe: 'Unsubscribe request by email',
  auto_reply: 'Automatic reply',
  other: 'Unclassified report',
}

function reportMoment(report: Json): Untimed {
  const { kind, received_at, reporter, status, diagnostic, feedback_type } = report
  return {
    key: `report ${received_at} ${kind}`,
    tone: kind === 'failed' || kind === 'complaint' ? 'bad' : 'quiet',
    iso: received_at,
    what: `${REPORTS[kind] ?? kind}${reporter ? `, from ${reporter}` : ''}`,
    more: <code class="break">{[status, diagnostic, feedback_type].filter(Boolean).join(' ')}</code>,
  }
}

const READER: Record<string, string> = {
  'message.opened': 'Opened',
  'message.clicked': 'Clicked',
  'message.unsubscribed': 'Unsubscribed',
  'message.complained': 'Complained of as spam',
}

/** Of sandbox mail nobody tried anything: its events tell the whole story. */
function eventMoment({ id, type, timestamp, data }: Json): Untimed {
  const word = type.replace('message.', '')
  const told = data.smtp_response ?? data.bounce_message ?? data.url ?? data.feedback_type
  return {
    key: id,
    tone: toneOf(word),
    iso: timestamp,
    what: `${READER[type] ?? word.charAt(0).toUpperCase() + word.slice(1)}${data.machine ? ', by a machine' : ''}`,
    more: <span class="muted small break">{[told, data.ip_address, data.user_agent].filter(Boolean).join(' · ')}</span>,
  }
}
