import type { Attempt, Recipient } from '../client/types.ts'
import { iso } from '../model/event.ts'
import { isFinal, messageStatus } from '../model/message.ts'
import type { Clock } from '../os/clock.ts'
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
  /** Why there was no reply: no connection, a timeout. Null with a reply. */
  error: string | null
  nextAttemptAt: number | null
}

/** What the API says of a message now. */
export interface Look {
  recipients: readonly Recipient[]
  /** In any order. */
  attempts: readonly Attempt[]
}

/** Looks at a message every `pollMs` and calls `onStep` once for each step, until every recipient has a final status.
 *  `look` reads the recipients before the attempts, so that those have the attempt of every final status. Returns the
 *  status of the message. */
export async function follow({
  look,
  clock,
  pollMs,
  onStep,
}: {
  look: () => Promise<Look>
  clock: Clock
  pollMs: number
  onStep: (step: Step) => void
}): Promise<string> {
  const reported = new Set<string>()
  for (;;) {
    const { recipients, attempts } = await look()
    for (const step of stepsOf({ recipients, attempts }, clock.now())) {
      const name = `${step.recipient} ${step.attempt ?? step.status}`
      if (reported.has(name)) continue
      reported.add(name)
      onStep(step)
    }
    if (recipients.every(({ status }) => isFinal(status))) return messageStatus(recipients.map(({ status }) => status))
    await clock.sleep(pollMs)
  }
}

/** All steps so far, oldest first: each attempt, and each final status that no attempt caused. Those
 *  have the time `now`. */
export function stepsOf({ recipients, attempts }: Look, now: number): Step[] {
  const inOrder = attempts.toSorted((a, b) => a.number - b.number)
  const steps = inOrder.map((attempt) =>
    ofAttempt(
      attempt,
      recipients.find(({ email }) => email === attempt.recipient),
    ),
  )
  for (const recipient of recipients) {
    const last = inOrder.findLast((attempt) => attempt.recipient === recipient.email)
    if (isFinal(recipient.status) && last?.outcome !== recipient.status) steps.push(ofEnd(recipient, now))
  }
  return steps.sort((a, b) => a.at - b.at)
}

function ofAttempt(attempt: Attempt, recipient: Recipient | undefined): Step {
  const isLast = attempt.number === recipient?.attempts
  return {
    at: Date.parse(attempt.started_at) + attempt.duration_ms,
    status: attempt.outcome,
    recipient: attempt.recipient,
    attempt: attempt.number,
    mxHost: attempt.mx_host,
    tls: attempt.tls_version,
    reply: attempt.smtp_response,
    error: attempt.smtp_response === null ? lastNote(attempt.transcript) : null,
    nextAttemptAt: isLast ? timeOrNull(recipient?.next_attempt_at ?? null) : null,
  }
}

/** The last line of a transcript says why the connection ended, if no reply did. */
function lastNote(transcript: string): string | null {
  return /(?:^|\n)\d+ -- ([^\n]+)$/.exec(transcript)?.[1] ?? null
}

function ofEnd({ status, email, smtp_response: reply }: Recipient, now: number): Step {
  const none = { attempt: null, mxHost: null, tls: null, error: null, nextAttemptAt: null }
  return { at: now, status, recipient: email, reply, ...none }
}

const timeOrNull = (time: string | null) => (time === null ? null : Date.parse(time))

/** Formats a step as one line: time, status, recipient, host, reply and next attempt. */
export function formatStep(step: Step, colors: Colors): string {
  const { at, status, recipient, mxHost, tls, reply, error, nextAttemptAt } = step
  const mark = status === 'delivered' ? colors.good : status === 'bounced' ? colors.bad : colors.accent
  // Without a reply, there may have been no connection that could have had TLS.
  const secured = tls ?? (reply === null ? null : 'no TLS')
  const where = mxHost === null ? null : [mxHost, secured].filter((part) => part !== null).join('  ')
  const next = nextAttemptAt === null ? null : `next attempt at ${timeOf(nextAttemptAt)}`
  const rest = [recipient, where, reply ?? error, next].filter((part) => part !== null).map(sanitize)
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
