import type { Outcome } from '../../../model/delivery.ts'
import { type AddressClass, chosenType, USUAL_HARD } from '../../../model/hard-bounces.ts'
import type { DeliveryStatus } from '../../../model/message.ts'
import type { nextAttempt } from './retry-schedule.ts'

/** Rule of a delivery that was not attempted any more, because its message was past its `expires_in`. */
export const EXPIRED_RULE = 'expires_in'

/** Effect of an attempt's outcome on the delivery: its status, its next attempt, and what is reported. */
export interface Verdict {
  status: DeliveryStatus
  /** Null once final. */
  nextAttemptAt: number | null
  /** The outcome that events report: a deferral that is given up becomes a bounce, and bounces get the chosen type. */
  reported: Outcome
  /** The first soft bounce of a delivery that continues. */
  bounceNow: boolean
  /** A hard bounce: the address is suppressed. */
  suppresses: boolean
  /** The time limit of the message ended the delivery. */
  isExpired: boolean
}

/** Judges an outcome, with whether a soft bounce was reported before, the result of nextAttempt, and the operator's hard
 *  classes. If `next` is `expired`, the time limit of the message ended the delivery. This says nothing about the
 *  address, so the bounce is soft. If the schedule ended it, the bounce is hard where the operator's classes include that
 *  of the last reply, such as a full or disabled mailbox. Never throws. */
export function verdictOf(
  outcome: Outcome,
  isSoftBounceReported: boolean,
  next: ReturnType<typeof nextAttempt>,
  hard: readonly AddressClass[] = USUAL_HARD,
): Verdict {
  const base = { nextAttemptAt: null, reported: outcome, bounceNow: false, suppresses: false, isExpired: false }
  switch (outcome.kind) {
    case 'delivered':
      return { ...base, status: 'delivered' }
    case 'bounced': {
      const bounceType = chosenType(outcome, hard)
      const isExpired = outcome.cause.rule === EXPIRED_RULE
      return {
        ...base,
        status: 'bounced',
        reported: { ...outcome, bounceType },
        suppresses: bounceType === 'hard',
        isExpired,
      }
    }
    case 'deferred':
    case 'unknown': {
      if (next === null || next === 'expired') {
        const { code, message, cause } = outcome
        const isExpired = next === 'expired'
        const isOfMailbox = outcome.kind === 'deferred' && outcome.aboutRecipient && !isExpired
        const bounceType = isOfMailbox ? chosenType({ bounceType: 'soft', cause }, hard) : 'soft'
        const reported: Outcome = { kind: 'bounced', bounceType, code, message: `gave up: ${message}`, cause }
        return { ...base, status: 'bounced', reported, suppresses: bounceType === 'hard', isExpired }
      }
      const bounceNow = outcome.kind === 'deferred' && outcome.aboutRecipient && !isSoftBounceReported
      return { ...base, status: 'deferred', nextAttemptAt: next, bounceNow }
    }
  }
}
