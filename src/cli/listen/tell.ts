import { iso } from '../../model/event.ts'
import { harmless, type Paint } from '../print.ts'
import type { Arrival } from './arrival.ts'
import type { Posted } from './forward.ts'

/** The words of `postrider listen`. Pure. */

/** An event → one line: time, type, whom it is about, id, and what is to be said of it. */
export function tellArrival({ id, type, body }: Arrival, paint: Paint): string {
  const { timestamp, data } = JSON.parse(body) as { timestamp: string; data: Record<string, unknown> }
  const whom = harmless(String(data.to ?? data.domain ?? ''))
  const what = harmless(whatOf(type, data))
  const mark = data.mode === 'test' ? ' (sandbox)' : ''
  const head = `${paint.dim(timestamp.slice(11, 19))} ${colour(type, paint)(type.padEnd(20))} ${whom}${mark}`
  return `${head}  ${paint.dim(id)}${what && `  ${what}`}`
}

/** An attempt to post one → one line. */
export function tellPosted({ event, attempt, status, error, durationMs, againMs }: Posted, at: number, paint: Paint) {
  const isTaken = status !== null && status < 300 && status >= 200
  const answer = `${status ?? harmless(error ?? 'no answer')}`
  const times = attempt === 1 ? '' : `, attempt ${attempt}`
  const next = againMs === null ? (isTaken ? '' : ', given up') : `, again in ${(againMs / 1000).toFixed(1)} s`
  const mark = isTaken ? paint.good(answer) : paint.bad(answer)
  return `${paint.dim(iso(at).slice(11, 19))}   ${paint.dim(event.id)} → ${mark} (${durationMs} ms${times}${next})`
}

/** The same for machines. */
export function recordOfPosted({ event, attempt, status, error, durationMs, againMs }: Posted) {
  return {
    forwarded: event.id,
    attempt,
    status_code: status,
    error,
    duration_ms: durationMs,
    retry_in_ms: againMs,
  }
}

function colour(type: string, paint: Paint): (text: string) => string {
  if (type === 'message.delivered') return paint.good
  return GOOD_NEWS.has(type) ? paint.accent : paint.bad
}

const GOOD_NEWS = new Set(['message.opened', 'message.clicked'])

function whatOf(type: string, data: Record<string, unknown>): string {
  switch (type) {
    case 'message.delivered':
      return String(data.smtp_response)
    case 'message.bounced':
      return `${data.bounce_type} ${data.bounce_code} ${data.bounce_message}${data.will_retry ? ', tried again' : ''}`
    case 'message.deferred':
      return `attempt ${data.attempt}, again ${data.next_attempt_at ?? 'by another server'}: ${data.smtp_response}`
    case 'message.clicked':
      return `${data.url}${byMachine(data)}`
    case 'message.opened':
      return `${data.user_agent ?? ''}${byMachine(data)}`
    case 'message.unsubscribed':
      return String(data.method)
    case 'message.complained':
      return String(data.feedback_type ?? '')
    case 'quality.alert':
      return `${data.metric} ${data.value} of ${data.sent}, threshold ${data.threshold}: ${data.state}`
    default:
      return ''
  }
}

const byMachine = ({ machine }: Record<string, unknown>) => (machine ? ' (a machine)' : '')
