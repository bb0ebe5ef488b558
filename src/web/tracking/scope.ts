import { isIP } from 'node:net'
import { serverScope } from '../../mail/recipient-parts.ts'
import { createTrackingLinks, type TrackingLink } from '../../mail/tracking-link.ts'
import type { Domain } from '../../model/domain.ts'
import { selfAndParents } from '../../model/domain-names.ts'
import type { Store } from '../../storage/store.ts'

export interface LinkReaderDeps {
  store: {
    deliveries: Pick<Store['deliveries'], 'get' | 'unsubscribable'>
    domains: Pick<Store['domains'], 'get'>
    snapshot: Pick<Store['snapshot'], 'domainByName'>
  }
  /** The secret of createTrackingLinks. */
  secret: Uint8Array
  /** This server's URL. */
  publicUrl: () => string
  /** Its names (domains/server-names.ts). */
  serverNames: readonly string[]
}

/** Path and host of a request → its link; null for paths that were not made for that host.
 *
 *  A link is valid only on the host it was made for. A click on a domain's own host also requires a verified domain of
 *  the link's organization at or above the host: a domain that was lost, or has another owner, never redirects. Links
 *  made before they contained hosts are valid on the server's own names, and on hosts of the domain that sent the mail,
 *  while the mail is kept. */
export function createLinkReader(deps: LinkReaderDeps): (path: string, host: string) => Promise<TrackingLink | null> {
  const { store, secret, publicUrl, serverNames } = deps
  const unbound = createTrackingLinks(secret, null)
  const readAt = (path: string, host: string, organizationId: string) =>
    createTrackingLinks(secret, { host, organizationId }).read(path)

  return async (path, host) => {
    const own = serverScope(publicUrl()).host
    const atServer = readAt(path, host, '') ?? (isInternal(host) ? readAt(path, own, '') : null)
    if (atServer !== null) return atServer
    const owner = ownerOf(host, store.snapshot.domainByName)
    const atDomain = owner === null ? null : readAt(path, host, owner.organizationId)
    if (atDomain !== null) return atDomain

    const link = unbound.read(path)
    if (link === null || isInternal(host) || host === own || serverNames.includes(host)) return link
    const domain = await domainOf(link.deliveryId, store)
    const isOfDomain = domain !== null && selfAndParents(host).includes(domain.name)
    return isOfDomain && (link.kind !== 'click' || owner?.id === domain.id) ? link : null
  }
}

/** The verified domain of the host: the nearest one at or above it. */
function ownerOf(host: string, domainByName: (name: string) => Domain | null): Domain | null {
  for (const name of selfAndParents(host)) {
    const domain = domainByName(name)
    if (domain?.status === 'verified') return domain
  }
  return null
}

/** Domain that sent the mail; null once it or the mail no longer exists. */
async function domainOf(deliveryId: string, { deliveries, domains }: LinkReaderDeps['store']): Promise<Domain | null> {
  const kept = (await deliveries.get(deliveryId))?.message ?? (await deliveries.unsubscribable(deliveryId))
  return kept === null ? null : domains.get(kept.domainId)
}

/** Names that a proxy uses for an upstream: an address, or a name of one label. Only links with the server's own
 *  address contain them. */
function isInternal(host: string): boolean {
  return !host.includes('.') || isIP(host.replace(/^\[|\]$/g, '')) !== 0
}
