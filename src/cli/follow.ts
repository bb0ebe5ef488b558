import type { Attempt, Delivery } from '../model/delivery.ts'
import { iso } from '../model/event.ts'
import { isFinal, messageStatus } from '../model/message.ts'
import type { Clock } from '../os/clock.ts'
import type { Store } from '../storage/store.ts'
import { type Colors, sanitize } from './print.ts'

/** One step in the delivery of a message. Times are ms UTC. */
export interface Step {
  at: number
  /** Status after this step. */
  status: string
  recipient: string
  /** Number of the attempt; null if no attempt caused the step: suppressed, cancelled, expired. */
  attempt: number | null
  mxHost: string | null
  tls: string | null
  reply: string | null
  nextAttemptAt: number | null
}

/** Polls a message and calls `onStep` once for each step, until every recipient has a final status. Returns the
 *  status of the message. */
export async function follow(
  id: string,
  { store, clock, onStep }: { store: Pick<Store, 'messages'>; clock: Clock; onStep: (step: Step) => void },
): Promise<string> {
  const reported = new Set<string>()
  for (;;) {
    // Read deliveries first: `attempts` then contains the attempt of every final status.
    const deliveries = await store.messages.deliveries(id)
    const attempts = await store.messages.attempts(id)
    for (const step of stepsOf(deliveries, attempts, clock.now())) {
      const name = `${step.recipient} ${step.attempt ?? step.status}`
      if (reported.has(name)) continue
      reported.add(name)
      onStep(step)
    }
    if (deliveries.every(({ status }) => isFinal(status))) return messageStatus(deliveries.map(({ status }) => status))
    await clock.sleep(POLL_MS)
  }
}

/** Polling interval in ms: users see no delay, and the two queries by id are cheap. */
const POLL_MS = 100

/** All steps so far, oldest first: each attempt, and each final status that no attempt caused. Those
 *  have the time `now`. */
export function stepsOf(
  deliveries: readonly Delivery[],
  attempts: readonly { email: string; attempt: Attempt }[],
  now: number,
): Step[] {
  const steps = attempts.map(({ email, attempt }) => {
    const delivery = deliveries.find((each) => each.email === email)
    return ofAttempt(email, attempt, delivery)
  })
  for (const delivery of deliveries) {
    const last = attempts.findLast(({ email }) => email === delivery.email)?.attempt
    if (isFinal(delivery.status) && last?.outcome !== delivery.status) steps.push(ofEnd(delivery, now))
  }
  return steps.sort((a, b) => a.at - b.at)
}

function ofAttempt(recipient: string, attempt: Attempt, delivery: Delivery | undefined): Step {
  const isLast = attempt.number === delivery?.attempts
  return {
    at: attempt.startedAt + attempt.durationMs,
    status: attempt.outcome,
    recipient,
    attempt: attempt.number,
    mxHost: attempt.mxHost,
    tls: attempt.tlsVersion,
    reply: attempt.reply,
    nextAttemptAt: isLast ? (delivery?.nextAttemptAt ?? null) : null,
  }
}

function ofEnd({ status, email, smtpResponse }: Delivery, now: number): Step {
  const none = { attempt: null, mxHost: null, tls: null, nextAttemptAt: null }
  return { at: now, status, recipient: email, reply: smtpResponse, ...none }
}

/** Formats a step as one line: time, status, recipient, host, reply and next attempt. */
export function formatStep(step: Step, colors: Colors): string {
  const { at, status, recipient, mxHost, tls, reply, nextAttemptAt } = step
  const mark = status === 'delivered' ? colors.good : status === 'bounced' ? colors.bad : colors.accent
  const where = mxHost === null ? null : `${mxHost}  ${tls ?? 'no TLS'}`
  const next = nextAttemptAt === null ? null : `next attempt at ${timeOf(nextAttemptAt)}`
  const rest = [recipient, where, reply, next].filter((part) => part !== null).map(sanitize)
  return `${colors.dim(timeOf(at))} ${mark(status.padEnd(10))} ${rest.join('  ')}`
}

/** The step as the record that `--json` prints, with times in ISO 8601. */
export function recordOfStep(messageId: string, { at, mxHost, reply, nextAttemptAt, ...rest }: Step) {
  return {
    at: iso(at),
    message_id: messageId,
    ...rest,
    mx_host: mxHost,
    smtp_response: reply,
    next_attempt_at: nextAttemptAt === null ? null : iso(nextAttemptAt),
  }
}

const timeOf = (at: number) => iso(at).slice(11, 19)
