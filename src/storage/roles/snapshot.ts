import type { ApiKey } from '../../model/api-key.ts'
import type { Domain } from '../../model/domain.ts'
import type { InboundRoute } from '../../model/inbound-route.ts'
import type { Organization } from '../../model/organization.ts'
import type { QualityAlert } from '../../model/quality.ts'

/** Settings that nearly every request and delivery needs, as they are now: the only role whose methods are synchronous. The
 *  store fills it on demand, keeps what it read in memory, and forgets it when this or another process changes it. A caller
 *  never sees a state older than the last change that the store has answered to it. */
export interface Snapshot {
  /** Null for a secret of no key. */
  apiKeyBySecret(secretHash: Uint8Array): ApiKey | null
  organization(id: string): Organization | null
  /** As Domains.findByName: a verified domain before others. */
  domainByName(name: string): Domain | null
  /** The domain whose return path host that is, a verified one before others. */
  domainByReturnPathHost(host: string): Domain | null
  /** Enabled routes of an organization, in no order. */
  enabledRoutes(organizationId: string): InboundRoute[]
  /** Quality alerts of a domain that have not ended. */
  firingAlerts(domainId: string): QualityAlert[]
  /** Whether the operator has blocked clicks on the link. */
  isLinkBlocked(url: string): boolean
  /** Organization of a webhook; null when it is gone. */
  ownerOfWebhook(webhookId: string): string | null
  /** Organization of an inbound route; null when it is gone. */
  ownerOfRoute(routeId: string): string | null
}
