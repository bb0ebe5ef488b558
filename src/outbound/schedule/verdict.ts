import type { Outcome } from '../../model/delivery.ts'
import type { DeliveryStatus } from '../../model/message.ts'
import type { nextAttempt } from './retry-schedule.ts'

/** Rule of a delivery that was not attempted any more, because its message was past its `expires_in`. */
export const EXPIRED_RULE = 'expires_in'

/** Effect of an attempt's outcome on the delivery: its status, its next attempt, and what is reported. */
export interface Verdict {
  status: DeliveryStatus
  /** Null once final. */
  nextAttemptAt: number | null
  /** The outcome that events report: a deferral that is given up becomes a soft bounce. */
  reported: Outcome
  /** The first soft bounce of a delivery that continues. */
  bounceNow: boolean
  /** The address does not exist or accepts no mail, so it is suppressed. */
  suppresses: boolean
  /** The time limit of the message ended the delivery. */
  isExpired: boolean
}

/** Outcome, whether a soft bounce was reported before, and the result of nextAttempt → Verdict.
 *  `expired`: given up at the time limit of the message. Never throws. */
export function verdictOf(
  outcome: Outcome,
  isSoftBounceReported: boolean,
  next: ReturnType<typeof nextAttempt>,
): Verdict {
  const base = { nextAttemptAt: null, reported: outcome, bounceNow: false, suppresses: false, isExpired: false }
  switch (outcome.kind) {
    case 'delivered':
      return { ...base, status: 'delivered' }
    case 'bounced': {
      const suppresses = outcome.bounceType === 'hard'
      return { ...base, status: 'bounced', suppresses, isExpired: outcome.cause.rule === EXPIRED_RULE }
    }
    case 'deferred':
    case 'unknown': {
      if (next === null || next === 'expired') {
        const { code, message, cause } = outcome
        const reported: Outcome = { kind: 'bounced', bounceType: 'soft', code, message: `gave up: ${message}`, cause }
        return { ...base, status: 'bounced', reported, isExpired: next === 'expired' }
      }
      const bounceNow = outcome.kind === 'deferred' && outcome.aboutRecipient && !isSoftBounceReported
      return { ...base, status: 'deferred', nextAttemptAt: next, bounceNow }
    }
  }
}
