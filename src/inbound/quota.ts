import { FIXED_LIMITS, type LimitReached } from '../model/limits.ts'
import type { Clock } from '../os/clock.ts'
import type { SmtpReply } from '../smtp-server/reply.ts'
import type { Store } from '../storage/store.ts'
import type { Forwarding } from '../submission/forwarding.ts'
import { isForward } from './forward.ts'
import type { RecipientTarget } from './recipient.ts'
import { forwardsUsedUp, ownTransaction, sendingStopped, storageFull } from './replies.ts'

/** Who knows what the organization of a route may still store and send on. */
export interface QuotaDeps {
  store: { usage: Pick<Store['usage'], 'isStorageFull' | 'forwardsReached'> }
  forwarding: Pick<Forwarding, 'targetsOf' | 'isStopped'>
  clock: Pick<Clock, 'now'>
}

/** Refuses a recipient for now whose organization may not store more, or not send on to so many more, so that others of the
 *  same mail are not refused with it: 452 4.3.1 and 452 4.7.1, 451 4.7.1 while an alert stops its sending. 452 4.5.3 for
 *  one with whom the mail would be sent on to too many: the client brings it in a transaction of its own. */
export function requireQuota(destination: RecipientTarget, already: readonly RecipientTarget[], deps: QuotaDeps): void {
  if (destination.kind === 'feedback') return
  const { domain } = destination
  if (deps.store.usage.isStorageFull(domain.organizationId)) throw storageFull()
  if (destination.kind === 'reserved' || !isForward(destination.route)) return
  const { route } = destination
  const others = new Map(already.flatMap((each) => (each.kind === 'route' ? [[each.route.id, each] as const] : [])))
  others.delete(route.id)
  const { to } = deps.forwarding.targetsOf(route, domain)
  let total = to.length
  for (const other of others.values()) {
    if (isForward(other.route)) total += deps.forwarding.targetsOf(other.route, other.domain).to.length
  }
  if (total > FIXED_LIMITS.forwardsOfMail) throw ownTransaction()
  if (to.length === 0) return
  if (deps.forwarding.isStopped(domain.id)) throw sendingStopped()
  if (deps.store.usage.forwardsReached(route.organizationId, to.length, deps.clock.now()) !== null)
    throw forwardsUsedUp()
}

/** A limit that was met only when the mail was to be stored → the reply. */
export function replyToLimit({ name }: LimitReached): SmtpReply {
  return name === 'stored_bytes' ? storageFull() : forwardsUsedUp()
}
