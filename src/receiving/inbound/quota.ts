import { FIXED_LIMITS, type LimitReached } from '../../model/limits.ts'
import type { Clock } from '../../os/clock.ts'
import type { Forwarding } from '../../sending/submission/forwarding.ts'
import type { Store } from '../../storage/store.ts'
import type { SmtpReply } from '../smtp-server/reply.ts'
import { isForward, sealOf } from './forward.ts'
import { partIdOf, type RecipientTarget } from './recipient.ts'
import { forwardsUsedUp, noSeal, ownTransaction, sendingStopped, storageFull } from './replies.ts'

/** Sources of an organization's remaining storage and forwarding quota. */
export interface QuotaDeps {
  store: { usage: Pick<Store['usage'], 'isStorageFull' | 'forwardsReached'> }
  forwarding: Pick<Forwarding, 'targetsOf' | 'isStopped'>
  clock: Pick<Clock, 'now'>
}

/** Defers a recipient whose organization is over a quota, so that other recipients of the mail, perhaps of another
 *  organization, are not affected: 452 4.3.1 for storage, 452 4.7.1 for forwards, 451 4.7.1 while an alert stops its
 *  sending, and for a domain that cannot seal. 452 4.5.3 when this mail would exceed the forwards: the client sends it in
 *  another transaction. */
export async function requireQuota(
  destination: RecipientTarget,
  already: readonly RecipientTarget[],
  deps: QuotaDeps,
): Promise<void> {
  if (destination.kind !== 'route' && destination.kind !== 'reserved') return
  const { domain } = destination
  if (await deps.store.usage.isStorageFull(domain.organizationId)) throw storageFull()
  if (destination.kind === 'reserved' || !isForward(destination.route)) return
  const { route } = destination
  const parts = already.filter((each) => each.kind === 'route')
  const others = new Map(parts.map((each) => [partIdOf(each.route, each.domain), each]))
  others.delete(partIdOf(route, domain))
  const { to } = await deps.forwarding.targetsOf(route, domain)
  let total = to.length
  let own = to.length
  for (const other of others.values()) {
    if (!isForward(other.route)) continue
    const count = (await deps.forwarding.targetsOf(other.route, other.domain)).to.length
    total += count
    if (other.route.organizationId === route.organizationId) own += count
  }
  if (total > FIXED_LIMITS.forwardsOfMail) throw ownTransaction()
  if (to.length === 0) return
  if (deps.forwarding.isStopped(domain.id)) throw sendingStopped()
  if (sealOf(domain) === null) throw noSeal(domain.name)
  const limit = await deps.store.usage.forwardsReached(route.organizationId, own, deps.clock.now())
  if (limit !== null) throw forwardsUsedUp()
}

/** A limit reached only when the mail is stored → the reply. */
export function replyToLimit({ name }: LimitReached): SmtpReply {
  return name === 'stored_bytes' ? storageFull() : forwardsUsedUp()
}
