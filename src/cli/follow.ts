import type { Attempt, Delivery } from '../model/delivery.ts'
import { iso } from '../model/event.ts'
import { isFinal, messageStatus } from '../model/message.ts'
import type { Clock } from '../os/clock.ts'
import type { Store } from '../storage/store.ts'
import { harmless, type Paint } from './print.ts'

/** One step in the life of a mail. */
export interface Step {
  at: number
  /** What became of it. */
  status: string
  recipient: string
  /** Number of the attempt that did it; null when none did: suppressed, cancelled, too late. */
  attempt: number | null
  mxHost: string | null
  tls: string | null
  reply: string | null
  nextAttemptAt: number | null
}

/** Follows a message in the store, step by step as they are recorded, until every recipient is final → what it came to. */
export async function follow(
  id: string,
  { store, clock, onStep }: { store: Pick<Store, 'messages'>; clock: Clock; onStep: (step: Step) => void },
): Promise<string> {
  const told = new Set<string>()
  for (;;) {
    // The attempts are read behind the deliveries: they may be newer, and a step is never told before its attempt.
    const deliveries = await store.messages.deliveries(id)
    const attempts = await store.messages.attempts(id)
    for (const step of stepsOf(deliveries, attempts, clock.now())) {
      const name = `${step.recipient} ${step.attempt ?? step.status}`
      if (told.has(name)) continue
      told.add(name)
      onStep(step)
    }
    if (deliveries.every(({ status }) => isFinal(status))) return messageStatus(deliveries.map(({ status }) => status))
    await clock.sleep(LOOK_MS)
  }
}

/** How often the store is looked at: a person cannot tell it from at once, and the store does not feel it. */
const LOOK_MS = 100

/** All steps up to now, oldest first: each attempt is one, and each end that no attempt brought about. */
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

/** A step → one line: time, what became of it, for whom, and where and how it was said. */
export function tellStep(step: Step, paint: Paint): string {
  const { at, status, recipient, mxHost, tls, reply, nextAttemptAt } = step
  const mark = status === 'delivered' ? paint.good : status === 'bounced' ? paint.bad : paint.accent
  const where = mxHost === null ? null : `${mxHost}  ${tls ?? 'in clear'}`
  const next = nextAttemptAt === null ? null : `again at ${timeOf(nextAttemptAt)}`
  const rest = [recipient, where, reply, next].filter((part) => part !== null).map(harmless)
  return `${paint.dim(timeOf(at))} ${mark(status.padEnd(10))} ${rest.join('  ')}`
}

/** The same for machines. */
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
