import { isBlockedBy } from '../../model/blocked-link.ts'
import type { Domain } from '../../model/domain.ts'
import type { Encryption } from '../encryption.ts'
import { API_KEY_OF_SECRET, toApiKey } from '../records/api-keys.ts'
import { BLOCKED_LINKS } from '../records/blocked-links.ts'
import { DOMAIN, domainOfName, domainOfReturnPath, domainsOf } from '../records/domains.ts'
import {
  ROUTE_COLUMNS,
  type RouteRow,
  type SigningRouteRow,
  toRoute,
  toSigningRoute,
} from '../records/inbound-routes.ts'
import { ORGANIZATION } from '../records/organizations.ts'
import { FIRING_ALERTS } from '../records/quality.ts'
import { SIGNING_WEBHOOK, toSigningWebhook, toWebhook, WEBHOOK_COLUMNS, type WebhookRow } from '../records/webhooks.ts'
import { row, rows, type SettingsKind, sql, type Work } from '../sql.ts'
import type { Snapshot } from '../store.ts'
import { readingOn } from './database.ts'
import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'

const ACTIVE_OF = sql<WebhookRow>(`select ${WEBHOOK_COLUMNS} from webhooks
  where organization_id = $1 and status = 'active' order by id`)
const SIGNING_ROUTE = sql<SigningRouteRow>(`select ${ROUTE_COLUMNS}, secret from inbound_routes where id = $1`)
const ENABLED_OF = sql<RouteRow>(`select ${ROUTE_COLUMNS} from inbound_routes
  where organization_id = $1 and enabled order by id`)
const ANY_ERASURE = sql<object>('select 1 from erasures where organization_id = $1 limit 1')

/** Most keys, names and hosts in memory: others choose them. */
const NAMES_MAX = 10_000

export type Settings = ReturnType<typeof createSettings>

/** The settings of the installation, each read when it is needed, and again after a change of its kind, or of another
 *  process. Who is not inside a change asks `foreign` first. */
export function createSettings(db: Connection, foreign: ForeignChanges, encryption: Encryption) {
  const readNow = readingOn(db)
  const inMemory = <T>(read: (key: string) => Work<T>, most?: number) => remembered((key) => readNow(read(key)), most)

  const organization = inMemory((id) => row(ORGANIZATION, id))
  const apiKey = inMemory(function* (secretHash) {
    const found = yield* row(API_KEY_OF_SECRET, Buffer.from(secretHash, 'latin1'))
    return found && toApiKey(found)
  }, NAMES_MAX)
  const domain = inMemory(function* (id) {
    return (yield* domainsOf(encryption, DOMAIN, id))[0] ?? null
  })
  const domainByName = inMemory((name) => domainOfName(encryption, name), NAMES_MAX)
  const domainByReturnPathHost = inMemory((host) => domainOfReturnPath(encryption, host), NAMES_MAX)
  const blockedLinks = inMemory(() => rows(BLOCKED_LINKS))
  const firingAlerts = inMemory(function* () {
    return Map.groupBy(yield* rows(FIRING_ALERTS), (alert) => alert.domainId)
  })
  const webhook = inMemory(function* (id) {
    const found = yield* row(SIGNING_WEBHOOK, id)
    return found && toSigningWebhook(found, encryption)
  })
  const activeWebhooks = inMemory(function* (organizationId) {
    return (yield* rows(ACTIVE_OF, organizationId)).map(toWebhook)
  })
  const inboundRoute = inMemory(function* (id) {
    const found = yield* row(SIGNING_ROUTE, id)
    return found && toSigningRoute(found, encryption)
  })
  const enabledRoutes = inMemory(function* (organizationId) {
    return (yield* rows(ENABLED_OF, organizationId)).map(toRoute)
  })
  const hasErased = inMemory(function* (organizationId) {
    return (yield* row(ANY_ERASURE, organizationId)) !== null
  })

  const kept: Record<SettingsKind, readonly { drop(): void }[]> = {
    organization: [organization],
    apiKey: [apiKey],
    domain: [domain, domainByName, domainByReturnPathHost],
    blockedLink: [blockedLinks],
    qualityAlert: [firingAlerts],
    webhook: [webhook, activeWebhooks],
    inboundRoute: [inboundRoute, enabledRoutes],
    erasure: [hasErased],
  }
  const dropAll = () => {
    for (const each of Object.values(kept).flat()) each.drop()
  }
  foreign.onChange(dropAll)
  return {
    organization,
    apiKeyBySecret: (secretHash: Uint8Array) => apiKey.get(Buffer.from(secretHash).toString('latin1')),
    domain,
    domainByName: domainByName.get,
    domainByReturnPathHost: domainByReturnPathHost.get,
    blockedLinks: () => blockedLinks.get(''),
    firingAlerts: (domainId: string) => firingAlerts.get('').get(domainId) ?? [],
    webhook: { get: webhook.get, activeOf: activeWebhooks.get },
    inboundRoute: { get: inboundRoute.get, enabledOf: enabledRoutes.get },
    hasErased: hasErased.get,
    /** Settings of a kind have changed. */
    drop: (kind: SettingsKind) => {
      for (const each of kept[kind]) each.drop()
    },
    dropAll,
  }
}

/** What `read` returns for a key, read once until `drop`. Beyond `most` keys it begins anew; without it, nulls are read again,
 *  so that invented keys never fill the memory. */
function remembered<T>(read: (key: string) => T, most?: number) {
  const known = new Map<string, T>()
  return {
    get: (key: string): T => {
      const present = known.get(key)
      if (present !== undefined) return present
      const value = read(key)
      if (value === null && most === undefined) return value
      if (known.size === most) known.clear()
      known.set(key, value)
      return value
    },
    drop: () => known.clear(),
  }
}

/** The settings as a request sees them, after a look for changes of other processes. */
export function sqliteSnapshot(
  settings: Settings,
  foreign: ForeignChanges,
): Snapshot & { domain(id: string): Domain | null } {
  const { webhook, inboundRoute } = settings
  const current = () => {
    foreign.glance()
    return settings
  }
  return {
    apiKeyBySecret: (secretHash) => current().apiKeyBySecret(secretHash),
    organization: (id) => current().organization.get(id),
    domain: (id) => current().domain.get(id),
    domainByName: (name) => current().domainByName(name),
    domainByReturnPathHost: (host) => current().domainByReturnPathHost(host),
    enabledRoutes: (organizationId) => current().inboundRoute.enabledOf(organizationId),
    firingAlerts: (domainId) => current().firingAlerts(domainId),
    isLinkBlocked: (url) =>
      current()
        .blockedLinks()
        .some((link) => isBlockedBy(url, link)),
    ownerOfWebhook: (webhookId) => webhook.get(webhookId)?.organizationId ?? null,
    ownerOfRoute: (routeId) => inboundRoute.get(routeId)?.route.organizationId ?? null,
  }
}
