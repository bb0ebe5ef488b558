import type { Mailbox } from '../../mail/address.ts'
import { isOwned } from '../../model/domain.ts'
import type { Store } from '../../storage/store.ts'

/** True if this server receives mail for the address: then the organization of its domain can read it, by lists, routes,
 *  webhooks and exports. A secret link never goes there. `hostname`: whose postmaster mail we store too. */
export function isReceivedHere(
  { domain }: Pick<Mailbox, 'domain'>,
  snapshot: Pick<Store['snapshot'], 'domainByName' | 'domainByReturnPathHost'>,
  { hostname, requireVerifiedDomain }: { hostname: string; requireVerifiedDomain: boolean },
): boolean {
  const owner = snapshot.domainByName(domain)
  if (owner !== null && isOwned(owner, requireVerifiedDomain)) return true
  return domain === hostname || snapshot.domainByReturnPathHost(domain) !== null
}
