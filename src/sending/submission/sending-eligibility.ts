import { monthOf } from '../../model/limits.ts'
import { type Plan, UNLIMITED } from '../../model/organization.ts'
import type { QualityAlert } from '../../model/quality.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Store } from '../../storage/store.ts'
import { requireSendingAllowed, requireVerified } from './requirements.ts'
import { quotaExceeded } from './volume.ts'

/** Organization and domain → the refusal that any live mail would get now, whatever its content: the domain is not
 *  verified or stopped by an alert, or the monthly quota is used up. Null if mail would be accepted, and for a domain
 *  that no longer exists. Throws only what the store throws. */
export type SendingEligibility = (
  of: { organizationId: string; domainId: string },
  now: number,
) => Promise<Refusal | null>

/** Creates SendingEligibility from the store and the settings of submission, with submission's own checks. */
export function createSendingEligibility(deps: {
  store: Pick<Store, 'domains' | 'messages'>
  settings: { requireVerifiedDomain: boolean }
  planOf: (organizationId: string) => Plan | Promise<Plan>
  stoppedBy: (domainId: string) => QualityAlert | null
}): SendingEligibility {
  const { store, settings, planOf, stoppedBy } = deps
  return async ({ organizationId, domainId }, now) => {
    const domain = await store.domains.get(domainId)
    if (domain === null) return null
    try {
      requireVerified('live', domain, settings)
      requireSendingAllowed('live', domain, stoppedBy)
    } catch (refusal) {
      if (refusal instanceof Refusal) return refusal
      throw refusal
    }
    const plan = await planOf(organizationId)
    if (plan.messagesPerMonth === UNLIMITED) return null
    const used = await store.messages.volume(organizationId, monthOf(now))
    return used < plan.messagesPerMonth ? null : quotaExceeded(plan, used, now)
  }
}
