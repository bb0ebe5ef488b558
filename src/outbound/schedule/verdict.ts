import type { Outcome } from '../../model/delivery.ts'
import type { DeliveryStatus } from '../../model/message.ts'

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
}

/** Outcome, whether a soft bounce was reported before, and the next time by the schedule (null = given up) → Verdict.
 *  Never throws. */
export function verdictOf(outcome: Outcome, isSoftBounceReported: boolean, nextAttemptAt: number | null): Verdict {
  switch (outcome.kind) {
    case 'delivered':
      return { status: 'delivered', nextAttemptAt: null, reported: outcome, bounceNow: false, suppresses: false }
    case 'bounced': {
      const suppresses = outcome.bounceType === 'hard'
      return { status: 'bounced', nextAttemptAt: null, reported: outcome, bounceNow: false, suppresses }
    }
    case 'deferred':
    case 'unknown': {
      if (nextAttemptAt === null) {
        const { code, message, cause } = outcome
        const reported: Outcome = { kind: 'bounced', bounceType: 'soft', code, message: `gave up: ${message}`, cause }
        return { status: 'bounced', nextAttemptAt: null, reported, bounceNow: false, suppresses: false }
      }
      const bounceNow = outcome.kind === 'deferred' && outcome.aboutRecipient && !isSoftBounceReported
      return { status: 'deferred', nextAttemptAt, reported: outcome, bounceNow, suppresses: false }
    }
  }
}
