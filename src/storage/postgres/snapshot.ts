import { isBlockedBy } from '../../model/blocked-link.ts'
import type { Domain } from '../../model/domain.ts'
import { StoreUnavailable } from '../errors.ts'
import type { Snapshot } from '../store.ts'
import type { Mirrors } from './mirrors.ts'

/** Mirrors → the Snapshot. `isCurrent` returns false once other nodes may count this one as dead, since keys may have
 *  been revoked meanwhile. */
export function postgresSnapshot(
  { organization, apiKey, domain, blockedLink, webhook, inboundRoute, qualityAlert }: Mirrors,
  isCurrent: () => boolean,
): Snapshot {
  const bySecret = apiKey.index(({ secretHash }) => secretHash)
  const byName = domain.index(({ name }) => name)
  const byReturnPathHost = domain.index(({ returnPathHost }) => returnPathHost)
  const routesOf = inboundRoute.index(({ route }) => route.organizationId)
  const alertsOf = qualityAlert.index(({ domainId }) => domainId)
  return {
    apiKeyBySecret: (secretHash) => {
      if (!isCurrent()) throw new StoreUnavailable('this node has no contact with the database')
      return bySecret(Buffer.from(secretHash).toString('hex'))[0]?.key ?? null
    },
    organization: organization.get,
    domainByName: (name) => verifiedFirst(byName(name)),
    domainByReturnPathHost: (host) => verifiedFirst(byReturnPathHost(host)),
    enabledRoutes: (organizationId) =>
      routesOf(organizationId)
        .map(({ route }) => route)
        .filter(({ enabled }) => enabled),
    firingAlerts: (domainId) => [...alertsOf(domainId)],
    ownerOfWebhook: (id) => webhook.get(id)?.organizationId ?? null,
    ownerOfRoute: (id) => inboundRoute.get(id)?.route.organizationId ?? null,
    isLinkBlocked: (url) => [...blockedLink.all()].some((link) => isBlockedBy(url, link)),
  }
}

/** Of several claims, oldest first, the verified one, else the oldest. */
function verifiedFirst(claims: readonly Domain[]): Domain | null {
  return claims.find(({ status }) => status === 'verified') ?? claims[0] ?? null
}
