import type { ReplyAddresses, ReplyTarget } from '../../mail/reply-address.ts'
import { type Plan, planFor, UNLIMITED } from '../../model/organization.ts'
import type { Clock } from '../../os/clock.ts'
import { timeOfId } from '../../os/ids.ts'
import type { Store } from '../../storage/store.ts'

/** Local part and organization of its domain → what the reply address stands for. */
export type ReplyOf = (local: string, organizationId: string) => ReplyTarget | null

const DAY_MS = 86_400_000
/** A message is sent at most so long after its delivery got its ID (checks.ts, MAX_SCHEDULE_AHEAD_MS). */
const SCHEDULED_DAYS = 30

/** Addresses are valid as long as the plan of the organization keeps the message, and at least `days`. */
export function createReplyOf(deps: {
  addresses: Pick<ReplyAddresses, 'decode'>
  snapshot: Pick<Store['snapshot'], 'organization'>
  plans: (name: string) => Plan
  days: number
  clock: Pick<Clock, 'now'>
}): ReplyOf {
  return (local, organizationId) => {
    const target = deps.addresses.decode(local, organizationId)
    if (target === null) return null
    const { retentionDays } = planFor(organizationId, deps.snapshot.organization(organizationId), deps.plans)
    if (retentionDays === UNLIMITED) return target
    const days = Math.max(deps.days, retentionDays) + SCHEDULED_DAYS
    return deps.clock.now() < timeOfId(target.deliveryId) + days * DAY_MS ? target : null
  }
}
