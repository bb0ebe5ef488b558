import type { ApiKey } from '../../model/api-key.ts'
import type { Domain } from '../../model/domain.ts'
import type { InboundRoute } from '../../model/inbound-route.ts'
import type { Organization } from '../../model/organization.ts'
import type { QualityAlert } from '../../model/quality.ts'

/** Settings that nearly every request and delivery needs: the only role with synchronous methods. The store reads
 *  them on demand, caches them, and clears the cache when this or another process changes them. A caller never sees
 *  a state older than its last completed change. */
export interface Snapshot {
  /** Null if no key has this secret. Throws StoreUnavailable if another node may have revoked it unseen. */
  apiKeyBySecret(secretHash: Uint8Array): ApiKey | null
  organization(id: string): Organization | null
  /** As domains.findByName: a verified domain before others. */
  domainByName(name: string): Domain | null
  /** The domain whose return path host that is, a verified one before others. */
  domainByReturnPathHost(host: string): Domain | null
  /** Enabled routes of an organization, in no order. */
  enabledRoutes(organizationId: string): InboundRoute[]
  /** Quality alerts of a domain that have not ended. */
  firingAlerts(domainId: string): QualityAlert[]
  /** Whether the operator has blocked clicks on the link. */
  isLinkBlocked(url: string): boolean
  /** Organization of a webhook; null if it was deleted. */
  ownerOfWebhook(webhookId: string): string | null
  /** Organization of an inbound route; null if it was deleted. */
  ownerOfRoute(routeId: string): string | null
}
