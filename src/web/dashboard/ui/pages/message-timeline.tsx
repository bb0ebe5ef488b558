import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { BounceClass } from '../../../../mail/bounce-rules.ts'
import { EVENT_FACTS, type EventFacts, type EventType } from '../../../../model/event-types.ts'
import { get, type Json, type Paged } from '../kit/api.ts'
import { ago, duration, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { CopyButton, ErrorNotice, Facts, type Moment, Timeline } from '../kit/pieces.tsx'
import { Chip, toneOf } from '../kit/status.tsx'
import { SuppressionOf } from './message-suppression.tsx'

/** `children` beside a table of recipients, each opening in place: status, next step, and a timeline of attempts with their SMTP transcripts, reports,
 *  opens and clicks. */
export function MessageTimeline({ message, children }: { message: Json; children: ComponentChildren }) {
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
  // Both columns at once: on a phone, the details would move when the recipients arrive.
  if (data === undefined && error === undefined)
    return <div class="card skeleton-page" role="progressbar" aria-label="Loading recipients" />
  return (
    <div class="two-columns">
      <div class="stack">
        <ErrorNotice error={error} onRetry={reload} />
        <section
          class={`card recipients ${message.recipients.length > MANY ? 'dense' : ''}`}
          aria-labelledby="recipients"
        >
          <h2 id="recipients">
            {message.recipients.length === 1 ? 'Recipient' : `${message.recipients.length} recipients`}
          </h2>
          {problemsFirst(message.recipients).map((recipient) => (
            <Recipient
              key={recipient.email}
              message={message}
              recipient={recipient}
              why={data?.explained.recipients.find(({ email }: Json) => email === recipient.email)}
              moments={data === undefined ? [] : momentsOf(message, recipient.email, data)}
              outcome={data === undefined ? '' : outcomeOf(recipient, data.attempts.data)}
              isOpen={message.recipients.length === 1}
            />
          ))}
        </section>
        {data?.hasMore && <p class="muted">Showing the 100 most recent events.</p>}
      </div>
      {children}
    </div>
  )
}

/** From this number on, rows are lower, so that 24 fit a screen. */
const MANY = 12
const PROBLEMS = ['bounced', 'suppressed', 'deferred']

/** The recipients that did not get the message, then the others, each in the order of the message. */
function problemsFirst(recipients: Json[]): Json[] {
  const [problems, others] = [true, false].map((isWanted) =>
    recipients.filter(({ status }) => PROBLEMS.includes(status) === isWanted),
  )
  return [...(problems ?? []), ...(others ?? [])]
}

/** One recipient: address, status and outcome in a line, which opens the explanation and the timeline. */
function Recipient({
  message,
  recipient,
  why,
  moments,
  outcome,
  isOpen,
}: {
  message: Json
  recipient: Json
  why: Json
  moments: Moment[]
  outcome: string
  isOpen: boolean
}) {
  const { email, type, status, next_attempt_at, opens, clicks } = recipient
  const [isShown, setShown] = useState(isOpen)
  const engagement = [
    opens > 0 && `Opened ${times(opens)}`,
    clicks > 0 && `${opens > 0 ? 'clicked' : 'Clicked'} ${times(clicks)}`,
  ]
    .filter(Boolean)
    .join(', ')
  return (
    <details class="recipient" open={isOpen} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        <span class="ellipsis" title={email}>
          <span class="strong">{email}</span>
          {type !== 'to' && <span class="muted"> {type}</span>}
        </span>
        <span class="muted ellipsis outcome">{outcome}</span>
        <Chip word={status} />
      </summary>
      {isShown && (
        <div class="stack">
          {why && (
            <div class={`notice ${toneOf(status)} stack tight`}>
              {why.explanation.map((sentence: string) => (
                <p key={sentence} class="break">
                  {sentence.replace(ISO_TIME, when)}
                </p>
              ))}
              {why.meaning && status !== 'suppressed' && <p class="muted small">Reply codes: {why.meaning}</p>}
              {next_attempt_at && (
                <p>
                  <strong>Next attempt {ago(next_attempt_at)}</strong>, at {when(next_attempt_at)}.
                </p>
              )}
              {MAY_BE_SUPPRESSED.includes(status) && <SuppressionOf email={email} message={message} />}
            </div>
          )}
          {engagement !== '' && <p class="muted">{engagement}. These counts are estimates.</p>}
          {moments.length > 0 && <Timeline name={`Timeline of ${email}`} moments={moments} />}
          {moments.length === 0 && <p class="muted">Accepted {when(message.created_at)}.</p>}
        </div>
      )}
    </details>
  )
}

const MAY_BE_SUPPRESSED = ['bounced', 'suppressed', 'complained', 'failed']

/** The end of a recipient's last attempt, in a few words: `Delivered to mx.example.com in 240 ms`. */
function outcomeOf({ email, status, next_attempt_at }: Json, attempts: Json[]): string {
  const last = attempts.findLast((attempt) => attempt.recipient.toLowerCase() === email.toLowerCase())
  if (status === 'deferred' && next_attempt_at) return `Next attempt ${ago(next_attempt_at)}`
  if (last === undefined || status === 'suppressed') return ''
  if (last.outcome === 'delivered') return `Delivered to ${last.mx_host} in ${duration(last.duration_ms)}`
  const cause = CAUSES[last.cause?.class] ?? ''
  return cause === '' ? (last.smtp_response ?? '') : `${cause.charAt(0).toUpperCase()}${cause.slice(1)}`
}

const ISO_TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g
const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

interface Data {
  attempts: Json
  events: Json[]
}

const ACCEPTED: EventType = 'message.accepted'
/** Events that the moments of attempts show already. */
const OF_ATTEMPTS: readonly string[] = [
  'message.delivered',
  'message.deferred',
  'message.bounced',
  'message.expired',
] satisfies EventType[]

/** The timeline of one recipient, oldest first. Omits events that repeat its acceptance or an attempt. */
function momentsOf(message: Json, email: string, { attempts, events }: Data): Moment[] {
  const isThis = (address: string) => address.toLowerCase() === email.toLowerCase()
  const own = attempts.data.filter(({ recipient }: Json) => isThis(recipient))
  const reported = attempts.reports.filter((report: Json) => isThis(report.email))
  const isShown = (type: string) => type === ACCEPTED || (own.length > 0 && OF_ATTEMPTS.includes(type))
  const others = events.filter(({ type, data }) => isThis(data.to) && !isShown(type))
  return [
    { tone: 'calm' as const, key: 'accepted', iso: message.created_at, what: 'Accepted' },
    ...own.map((attempt: Json, at: number) => attemptMoment(attempt, at === own.length - 1)),
    ...reported.map(reportMoment),
    ...others.map(eventMoment),
  ]
    .toSorted((a, b) => Date.parse(a.iso) - Date.parse(b.iso))
    .map((moment) => ({ ...moment, at: when(moment.iso) }))
}

type Untimed = Omit<Moment, 'at'> & { iso: string }

/** The transcript of the last attempt is open if it failed. */
function attemptMoment(attempt: Json, isLast: boolean): Untimed {
  const { number, started_at, outcome, mx_host, mx_ip, source_ip, duration_ms, smtp_response, cause, transcript } =
    attempt
  const tls =
    attempt.tls_version === null
      ? 'none (plaintext)'
      : `${attempt.tls_version} ${attempt.tls_cipher ?? ''}, certificate ${attempt.tls_verified ? 'verified' : 'not verified'}`
  return {
    key: `attempt ${number}`,
    tone: toneOf(outcome),
    iso: started_at,
    what: (
      <>
        Attempt {number}: <strong>{OUTCOMES[outcome] ?? outcome}</strong>
        {mx_host !== null && outcome !== 'unknown' && <> by {mx_host}</>}
      </>
    ),
    more: (
      <div class="stack tight">
        {smtp_response !== null && <code class="break">{smtp_response}</code>}
        <details open={isLast && outcome !== 'delivered'}>
          <summary>SMTP transcript</summary>
          <div class="stack tight">
            <Facts
              of={[
                ['MX host', mx_host && `${mx_host} (${mx_ip ?? 'no address'})`],
                ['Source IP', source_ip],
                ['TLS', mx_host && tls],
                ['TLS policy', attempt.tls_policy === 'none' ? null : attempt.tls_policy],
                ['Duration', duration(duration_ms)],
                [
                  'Classified as',
                  cause && (
                    <span title={`${cause.class}, rule ${cause.rule}`}>{CAUSES[cause.class] ?? cause.class}</span>
                  ),
                ],
              ]}
            />
            {transcript !== '' && (
              <div class="transcript">
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
                <pre class="wrap" tabIndex={0}>
                  {transcript}
                </pre>
                <CopyButton text={transcript} label="SMTP transcript" />
              </div>
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
  unknown: 'connection lost after the content was sent; will resend with the same Message-ID',
}

/** Labels of bounce classes (mail/bounce-class.ts). */
const CAUSES: Record<string, string> = {
  no_mailbox: 'mailbox does not exist',
  no_domain: 'domain does not exist',
  mailbox_full: 'mailbox is full',
  mailbox_disabled: 'mailbox is disabled',
  policy: 'rejected by policy',
  reputation: 'poor IP or domain reputation',
  content: 'content rejected',
  authentication: 'authentication failed',
  rate: 'rate limited',
  greylist: 'greylisted',
  size: 'message too large',
  network: 'network error',
  system: 'receiving system error',
  tls: 'TLS error',
  protocol: 'protocol error',
  unknown: 'unknown reason',
} satisfies Record<BounceClass, string>

/** Labels of reports by kind. */
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

/** Test messages have no attempts, so their timeline shows the events. */
function eventMoment({ id, type, timestamp, data }: Json): Untimed {
  const facts: EventFacts | undefined = EVENT_FACTS[type as EventType] // absent: of a newer server, while nodes are upgraded
  const word = type.replace('message.', '')
  const detail =
    data.smtp_response ?? data.bounce_message ?? data.url ?? data.feedback_type ?? data.reason?.replaceAll('_', ' ')
  return {
    key: id,
    tone: facts?.tone ?? 'quiet',
    iso: timestamp,
    what: `${facts?.label ?? word.charAt(0).toUpperCase() + word.slice(1)}${data.machine ? ' (automated)' : ''}`,
    more: (
      <span class="muted small break">{[detail, data.ip_address, data.user_agent].filter(Boolean).join(' · ')}</span>
    ),
  }
}
