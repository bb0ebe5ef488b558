import { iso } from '../../model/event.ts'
import { EVENT_FACTS, EVENT_TYPES, type EventFacts } from '../../model/event-types.ts'
import { isOneOf } from '../../os/records.ts'
import { type Colors, sanitize } from '../print.ts'
import type { Arrival } from './arrival.ts'
import type { Posted } from './forward.ts'

/** Formats the output of `postrider listen`. */

/** Formats an event as one line: time, type, recipient or domain, id and details. Expects an event that
 *  `arrivalOf` has accepted. */
export function formatArrival({ id, type, body }: Arrival, colors: Colors): string {
  const { timestamp, data }: { timestamp: string; data: Record<string, unknown> } = JSON.parse(body)
  const subject = sanitize(String(data.to ?? data.domain ?? data.email ?? data.url ?? ''))
  const details = sanitize(detailsOf(type, data))
  const mark = data.mode === 'test' ? ' (sandbox)' : ''
  const head = `${colors.dim(timestamp.slice(11, 19))} ${inColorOf(type, colors)} ${subject}${mark}`
  return `${head}  ${colors.dim(id)}${details && `  ${details}`}`
}

/** Formats one attempt to post an event as one line. `at` is ms UTC. */
export function formatPosted(
  { event, attempt, status, error, durationMs, retryInMs }: Posted,
  at: number,
  colors: Colors,
) {
  const isAccepted = status !== null && status < 300 && status >= 200
  const answer = `${status ?? sanitize(error ?? 'no response')}`
  const times = attempt === 1 ? '' : `, attempt ${attempt}`
  const next = retryInMs === null ? (isAccepted ? '' : ', given up') : `, retry in ${(retryInMs / 1000).toFixed(1)} s`
  const mark = isAccepted ? colors.good(answer) : colors.bad(answer)
  return `${colors.dim(iso(at).slice(11, 19))}   ${colors.dim(event.id)} → ${mark} (${durationMs} ms${times}${next})`
}

/** The attempt as the record that `--json` prints. */
export function recordOfPosted({ event, attempt, status, error, durationMs, retryInMs }: Posted) {
  return {
    forwarded: event.id,
    attempt,
    status_code: status,
    error,
    duration_ms: durationMs,
    retry_in_ms: retryInMs,
  }
}

/** Event type in the colour of its tone (model/event-types.ts). A newer server may send types that this program
 *  lacks. */
function inColorOf(type: string, colors: Colors): string {
  const color = isOneOf(EVENT_TYPES, type) ? COLOR_OF[EVENT_FACTS[type].tone] : 'accent'
  return colors[color](type.padEnd(20))
}

const COLOR_OF = { good: 'good', calm: 'accent', warn: 'wary', bad: 'bad', quiet: 'dim' } as const satisfies Record<
  EventFacts['tone'],
  keyof Colors
>

function detailsOf(type: string, data: Record<string, unknown>): string {
  switch (type) {
    case 'message.delivered':
      return String(data.smtp_response)
    case 'message.bounced':
      return `${data.bounce_type} ${data.bounce_code} ${data.bounce_message}${data.will_retry ? ', will retry' : ''}`
    case 'message.deferred':
      return `attempt ${data.attempt}, next ${data.next_attempt_at ?? 'at another MX host'}: ${data.smtp_response}`
    case 'message.clicked':
      return `${data.url}${byMachine(data)}`
    case 'message.opened':
      return `${data.user_agent ?? ''}${byMachine(data)}`
    case 'message.unsubscribed':
      return String(data.method)
    case 'message.replied':
      return `from ${data.from}`
    case 'message.complained':
      return String(data.feedback_type ?? '')
    case 'message.accepted':
      return data.scheduled_at === null ? '' : `scheduled for ${data.scheduled_at}`
    case 'inbound.received':
      return `from ${data.from}: ${data.subject}`
    case 'domain.verified':
      return `by ${data.proved_by}`
    case 'message.suppressed':
    case 'domain.failed':
    case 'suppression.added':
    case 'suppression.removed':
      return String(data.reason)
    case 'webhook.paused':
      return String(data.reason ?? 'by a user')
    case 'quality.alert':
      return `${data.metric} ${data.value} of ${data.sent}, threshold ${data.threshold}: ${data.state}`
    default:
      return ''
  }
}

const byMachine = ({ machine }: Record<string, unknown>) => (machine ? ' (automated)' : '')
