import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { EVENT_FACTS, type EventFacts, type EventType } from '../../../../model/event-types.ts'
import { get, type Json, type Paged } from '../kit/api.ts'
import { ago, precise, when } from '../kit/format.ts'
import { type Loaded, useLoad } from '../kit/load.ts'
import { CopyButton, copyText, ErrorNotice, Facts, type Moment, Timeline } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { Chip, toneOf } from '../kit/status.tsx'
import { CAUSES, outcomeOf } from './message-outcome.ts'
import { SuppressionOf } from './message-suppression.tsx'

/** What happened to a message, as MessageTimeline shows it. */
export interface Story {
  explained: Json
  attempts: Json
  events: Json[]
  hasMore: boolean
}

/** Loads the explanation, the attempts and the events of a message, again when its state changes. */
export function useStory(message: Json | undefined) {
  const id = message?.id
  const state = message?.recipients.map(({ status, attempts, opens, clicks }: Json) => [
    status,
    attempts,
    opens,
    clicks,
  ])
  return useLoad(
    async (signal): Promise<Story | null> => {
      if (id === undefined) return null
      const [explained, attempts, events] = await Promise.all([
        get(`/v1/messages/${id}/explain`, {}, signal),
        get(`/v1/messages/${id}/attempts`, {}, signal),
        get<Paged>(`/v1/messages/${id}/events`, { limit: 100 }, signal),
      ])
      return { explained, attempts, events: events.data, hasMore: events.has_more }
    },
    [id, state],
    { keepsOld: true },
  )
}

/** What happened, and the timeline of attempts with their SMTP transcripts, reports, opens and clicks, beside `children`:
 *  of one recipient directly, of several in rows that open in place. */
export function MessageTimeline({
  message,
  story: { data, error, reload },
  children,
}: {
  message: Json
  story: Loaded<Story | null>
  children: ComponentChildren
}) {
  // Both columns at once: on a phone, the details would move when the recipients arrive.
  if (!data && error === undefined)
    return <div class="card skeleton-page" role="progressbar" aria-label="Loading recipients" />
  const { recipients } = message
  const told = (recipient: Json) => ({ message, recipient, story: data ?? null, onChanged: reload })
  return (
    <div class="two-columns">
      <div class="stack">
        <ErrorNotice error={error} onRetry={reload} />
        {recipients.length === 1 ? (
          <Told {...told(recipients[0])} />
        ) : (
          <section class={`card recipients ${recipients.length > MANY ? 'dense' : ''}`} aria-labelledby="recipients">
            <h2 id="recipients">{recipients.length} recipients</h2>
            {problemsFirst(recipients).map((recipient) => (
              <Recipient key={recipient.email} {...told(recipient)} />
            ))}
          </section>
        )}
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

interface Part {
  message: Json
  recipient: Json
  story: Story | null
  /** After a suppression is removed or restored. */
  onChanged: () => void
}

/** One of several recipients: address, status and outcome in a line, which opens the rest. */
function Recipient(part: Part) {
  const { message, recipient, story } = part
  const { email, type, status } = recipient
  const [isShown, setShown] = useState(false)
  return (
    <details class="recipient" onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        <span class="ellipsis" title={email}>
          <bdi class="strong">{email}</bdi>
          {type !== 'to' && <span class="muted"> {type}</span>}
        </span>
        <span class="muted ellipsis outcome">{outcomeOf(recipient, message, whyOf(story, email)?.bounce_class)}</span>
        <Chip word={status} />
      </summary>
      {isShown && (
        <div class="stack">
          <Told {...part} />
        </div>
      )}
    </details>
  )
}

/** Address → its part of the explanation. */
export const whyOf = (story: Story | null | undefined, email: string): Json =>
  story?.explained.recipients.find((each: Json) => each.email === email)

/** What happened to a recipient, what can be done about it, and the timeline. */
function Told({ message, recipient, story, onChanged }: Part) {
  const { email, status, opens, clicks } = recipient
  const why = whyOf(story, email)
  const moments = story === null ? [] : momentsOf(message, email, story)
  const engagement = [
    opens > 0 && `Opened ${times(opens)}`,
    clicks > 0 && `${opens > 0 ? 'clicked' : 'Clicked'} ${times(clicks)}`,
  ]
    .filter(Boolean)
    .join(', ')
  const sentences: string[] = why?.explanation ?? []
  return (
    <>
      {why && (
        <section class={`notice ${toneOf(status)} stack tight`} aria-label={`What happened to ${email}`}>
          {sentences.map((sentence) => (
            <p key={sentence} class="break" dir="auto">
              {sentence.replace(ISO_TIME, (iso) => `${when(iso)} (${ago(iso)})`)}
            </p>
          ))}
          <div class="row suppression">
            {MAY_BE_SUPPRESSED.includes(status) && (
              <SuppressionOf email={email} message={message} onChanged={onChanged} />
            )}
            <button
              type="button"
              class="tiny"
              onClick={() => copyText(supportText(message, recipient, sentences), 'report')}
            >
              Copy for support
            </button>
          </div>
        </section>
      )}
      {engagement !== '' && <p class="muted">{engagement}. These counts are estimates.</p>}
      {moments.length > 0 && <Timeline name={`Timeline of ${email}`} moments={moments} />}
      {moments.length === 0 && <p class="muted">Accepted {when(message.created_at)}.</p>}
    </>
  )
}

/** What a colleague or a provider needs to look into the matter, as text. */
function supportText(message: Json, recipient: Json, sentences: string[]): string {
  const { email, status, smtp_response, mx_host } = recipient
  return [
    `${email}: ${status}`,
    ...sentences,
    smtp_response && `Reply: ${smtp_response}`,
    mx_host && `Server: ${mx_host}`,
    `Sent: ${message.created_at}`,
    `ID: ${message.id}`,
    `Message-ID: ${message.message_id_header}`,
  ]
    .filter(Boolean)
    .join('\n')
}

const MAY_BE_SUPPRESSED = ['bounced', 'suppressed', 'complained', 'failed']

const ISO_TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g
const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

const ACCEPTED: EventType = 'message.accepted'
/** Events that the moments of attempts show already. */
const OF_ATTEMPTS: readonly string[] = [
  'message.delivered',
  'message.deferred',
  'message.bounced',
  'message.expired',
] satisfies EventType[]

/** The timeline of one recipient, oldest first. Omits events that repeat its acceptance or an attempt. */
function momentsOf(message: Json, email: string, { attempts, events }: Story): Moment[] {
  const isThis = (address: string) => address.toLowerCase() === email.toLowerCase()
  const own = attempts.data.filter(({ recipient }: Json) => isThis(recipient))
  const reported = attempts.reports.filter((report: Json) => isThis(report.email))
  const isShown = (type: string) => type === ACCEPTED || (own.length > 0 && OF_ATTEMPTS.includes(type))
  const others = events.filter(({ type, data }) => isThis(data.to) && !isShown(type))
  return [
    { tone: 'calm' as const, key: 'accepted', iso: message.created_at, what: 'Accepted' },
    ...own.map((attempt: Json, at: number) => attemptMoment(attempt, own[at - 1]?.smtp_response ?? null)),
    ...reported.map(reportMoment),
    ...others.map(eventMoment),
  ]
    .toSorted((a, b) => Date.parse(a.iso) - Date.parse(b.iso))
    .map((moment) => ({ ...moment, at: precise(moment.iso) }))
}

type Untimed = Omit<Moment, 'at'> & { iso: string }

/** `before`: reply to the attempt before. It is not shown again and again. */
function attemptMoment(attempt: Json, before: string | null): Untimed {
  const { number, started_at, outcome, mx_host, mx_ip, source_ip, smtp_response, cause, transcript } = attempt
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
        {smtp_response === null ? null : smtp_response === before ? (
          <span class="muted">The same reply</span>
        ) : (
          <code class="break">{smtp_response}</code>
        )}
        <details>
          <summary>SMTP transcript</summary>
          <div class="stack tight">
            <Facts
              of={[
                ['MX host', mx_host && `${mx_host} (${mx_ip ?? 'no address'})`],
                ['Source IP', source_ip],
                ['TLS', mx_host && tls],
                ['TLS policy', attempt.tls_policy === 'none' ? null : attempt.tls_policy],
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
    more: data.inbound_message_id ? (
      <a class="break" href={href(`/inbound/${data.inbound_message_id}`)}>
        <bdi>{data.from || 'Received mail'}</bdi>
      </a>
    ) : (
      <span class="muted small break">{[detail, data.ip_address, data.user_agent].filter(Boolean).join(' · ')}</span>
    ),
  }
}
