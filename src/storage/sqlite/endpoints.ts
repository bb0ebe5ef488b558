import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { InboundRoute } from '../../model/inbound-route.ts'
import type { Webhook } from '../../model/webhook.ts'
import type { Encryption } from '../encryption.ts'
import { decryptHeaders } from '../endpoint-headers.ts'
import {
  placeOfRoute,
  ROUTE_COLUMNS,
  type RouteRow,
  type SigningRoute,
  type SigningRouteRow,
  toRoute,
  toSigningRoute,
} from '../records/inbound-routes.ts'
import {
  placeOfWebhook,
  SIGNING_WEBHOOK,
  type SigningWebhook,
  toSigningWebhook,
  toWebhook,
  WEBHOOK_COLUMNS,
  type WebhookRow,
} from '../records/webhooks.ts'
import { sql } from '../sql.ts'
import { prepareIn } from './database.ts'
import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'

/** Webhooks for fan-out and posting, in memory until something changes. */
export interface WebhookCache {
  get(id: string): SigningWebhook | null
  activeOf(organizationId: string): Webhook[]
  /** Decrypts the headers for a request, since ten of them can be larger than everything else. */
  headersOf(webhook: Webhook): EndpointHeaders
  drop(): void
}

const ACTIVE_OF = sql<WebhookRow>(`select ${WEBHOOK_COLUMNS} from webhooks
  where organization_id = $1 and status = 'active' order by id`)
const WEBHOOK_HEADERS = sql<HeadersRow>('select headers from webhooks where id = $1')

export function webhookCache(db: Connection, foreign: ForeignChanges, encryption: Encryption): WebhookCache {
  const find = prepareIn(db, SIGNING_WEBHOOK)
  const activeOf = prepareIn(db, ACTIVE_OF)
  const headers = prepareIn(db, WEBHOOK_HEADERS)
  const byId = inMemory((id) => {
    const [row] = find.rows([id])
    return row === undefined ? null : toSigningWebhook(row, encryption)
  })
  const byOrganization = inMemory((organizationId) => activeOf.rows([organizationId]).map(toWebhook))
  const drop = () => {
    byId.drop()
    byOrganization.drop()
  }
  foreign.onChange(drop)
  return {
    get: byId.get,
    activeOf: byOrganization.get,
    headersOf: ({ id, url, headerNames }) => {
      if (headerNames.length === 0) return []
      const [row] = headers.rows([id])
      return decryptHeaders(row?.headers, { url, place: placeOfWebhook(id), encryption })
    },
    drop,
  }
}

/** Routes for every RCPT and every attempt, in memory until something changes. */
export interface InboundRouteCache {
  get(id: string): SigningRoute | null
  enabledOf(organizationId: string): InboundRoute[]
  /** Decrypts the headers for a request, since ten of them can be larger than everything else. */
  headersOf(route: InboundRoute): EndpointHeaders
  drop(): void
}

const SIGNING_ROUTE = sql<SigningRouteRow>(`select ${ROUTE_COLUMNS}, secret from inbound_routes where id = $1`)
const ENABLED_OF = sql<RouteRow>(`select ${ROUTE_COLUMNS} from inbound_routes
  where organization_id = $1 and enabled order by id`)
const ROUTE_HEADERS = sql<HeadersRow>('select headers from inbound_routes where id = $1')

export function inboundRouteCache(db: Connection, foreign: ForeignChanges, encryption: Encryption): InboundRouteCache {
  const find = prepareIn(db, SIGNING_ROUTE)
  const enabledOf = prepareIn(db, ENABLED_OF)
  const headers = prepareIn(db, ROUTE_HEADERS)
  const byId = inMemory((id) => {
    const [row] = find.rows([id])
    return row === undefined ? null : toSigningRoute(row, encryption)
  })
  const byOrganization = inMemory((organizationId) => enabledOf.rows([organizationId]).map(toRoute))
  const drop = () => {
    byId.drop()
    byOrganization.drop()
  }
  foreign.onChange(drop)
  return {
    get: byId.get,
    enabledOf: (organizationId) => {
      foreign.glance()
      return byOrganization.get(organizationId)
    },
    headersOf: ({ id, action }) => {
      if (action.type !== 'webhook' || action.config.headerNames.length === 0) return []
      const [row] = headers.rows([id])
      return decryptHeaders(row?.headers, { url: action.config.url, place: placeOfRoute(id), encryption })
    },
    drop,
  }
}

interface HeadersRow {
  headers: Uint8Array | null
}

/** What `read` returns for a key, read once until `drop`. */
function inMemory<T>(read: (key: string) => T): { get(key: string): T; drop(): void } {
  const known = new Map<string, T>()
  return {
    get: (key) => {
      const present = known.get(key)
      if (present !== undefined) return present
      const value = read(key)
      known.set(key, value)
      return value
    },
    drop: () => known.clear(),
  }
}
