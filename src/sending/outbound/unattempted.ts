import { type Attempt, NO_SERVER, type Outcome } from '../../model/delivery.ts'
import { isOwned, isReadyToSend } from '../../model/domain.ts'
import { isForwarded } from '../../model/message.ts'
import { INSTALLATION } from '../../model/organization.ts'
import type { ClaimedDelivery } from '../../storage/store.ts'
import type { Tried } from './record.ts'
import type { EXPIRED_RULE } from './schedule/verdict.ts'

/** Outcome and times (ms UTC) of an attempt that reached no server → its record. */
export function notAttempted(
  outcome: Exclude<Outcome, { kind: 'delivered' }>,
  { number, startedAt, endedAt }: { number: number; startedAt: number; endedAt: number },
): Attempt {
  return {
    number,
    startedAt,
    durationMs: endedAt - startedAt,
    outcome: outcome.kind,
    ...NO_SERVER,
    reply: null,
    enhancedCode: null,
    cause: outcome.cause,
    transcript: '',
  }
}

/** Result of a claim that no thread received. `now`: ms UTC. */
export function unattempted(
  { delivery }: ClaimedDelivery,
  outcome: Exclude<Outcome, { kind: 'delivered' }>,
  now: number,
): Tried {
  const attempt = notAttempted(outcome, { number: delivery.attempts, startedAt: now, endedAt: now })
  return { outcome, attempt, reactions: [] }
}

/** Result for a message past its `expires_in`, or past its maximum age while its destination was full: no attempt
 *  starts after that. */
export function expired(claim: ClaimedDelivery, rule: typeof EXPIRED_RULE | 'max_age', now: number): Tried {
  const cause = { class: 'expired', rule }
  const message = 'expired before it could be delivered'
  return unattempted(claim, { kind: 'bounced', bounceType: 'soft', code: '4.4.7', message, cause }, now)
}

/** Result for mail that maySend does not allow. */
export function notVerified(claim: ClaimedDelivery, now: number): Tried {
  const cause = { class: 'not_verified', rule: 'domain_not_verified' }
  const message = `${claim.domainName || 'the domain of the sender'} is no longer verified`
  return unattempted(claim, { kind: 'bounced', bounceType: 'soft', code: '5.7.1', message, cause }, now)
}

/** True if live mail may be sent: its domain must be verified, or owned for forwarded mail. This was checked at
 *  acceptance, but a scheduled message may wait for a month. A domain with open messages of its organization cannot be
 *  removed, but mail of the installation does not hold it. */
export function maySend({ message, ownership }: ClaimedDelivery): boolean {
  if (message.mode === 'test') return true
  if (ownership === null) return message.organizationId !== INSTALLATION
  return isForwarded(message) ? isOwned(ownership, true) : isReadyToSend(ownership)
}
