import { isBlockedBy } from '../../model/blocked-link.ts'
import type { Snapshot } from '../store.ts'
import type { InboundRouteCache, WebhookCache } from './endpoints.ts'
import type { ForeignChanges } from './foreign.ts'
import type { BlockedLinkCache, DomainCache, KeyCache, OrganizationCache, QualityAlertCache } from './settings.ts'

/** Caches of a store → Snapshot. Changes of this process and of others (foreign.ts) clear each cache. */
export function sqliteSnapshot(caches: {
  keys: KeyCache
  organizations: OrganizationCache
  domains: DomainCache
  routes: InboundRouteCache
  webhooks: WebhookCache
  blockedLinks: BlockedLinkCache
  alerts: QualityAlertCache
  foreign: ForeignChanges
}): Snapshot {
  const { keys, organizations, domains, routes, webhooks, blockedLinks, alerts, foreign } = caches
  return {
    apiKeyBySecret: keys.bySecret,
    organization: (id) => {
      foreign.glance()
      return organizations.get(id)
    },
    domainByName: domains.byName,
    domainByReturnPathHost: domains.byReturnPathHost,
    enabledRoutes: routes.enabledOf,
    firingAlerts: alerts.firingOf,
    isLinkBlocked: (url) => blockedLinks.all().some((link) => isBlockedBy(url, link)),
    ownerOfWebhook: (webhookId) => webhooks.get(webhookId)?.organizationId ?? null,
    ownerOfRoute: (routeId) => routes.get(routeId)?.route.organizationId ?? null,
  }
}
