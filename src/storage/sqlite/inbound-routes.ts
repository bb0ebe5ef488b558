import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { InboundRoute } from '../../model/inbound-route.ts'
import type { Encryption } from '../encryption.ts'
import { decryptHeaders } from '../endpoint-headers.ts'
import { rangeOf, toPage } from '../page.ts'
import { headersOfAction, packConfig, placeOfRoute, type RouteRow, toRoute } from '../route-rows.ts'
import type { InboundRoutes } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'
import type { RememberInside } from './idempotency.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, name, match_type as matchType, match_value as matchValue, action,
  config, header_names as headerNames, authentication, enabled, priority, created_at as createdAt`
const CREATE = `insert into inbound_routes (id, organization_id, name, match_type, match_value, action, config,
    authentication, enabled, priority, secret, created_at, header_names, headers)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const GET = `select ${COLUMNS} from inbound_routes where id = ?`
const LIST = `select ${COLUMNS} from inbound_routes
  where organization_id = ? and id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const ENABLED_OF = `select ${COLUMNS} from inbound_routes where organization_id = ? and enabled = 1 order by id`
const SECRET = 'select secret from inbound_routes where id = ?'
const HEADERS = 'select headers from inbound_routes where id = ?'
const SET_HEADERS = 'update inbound_routes set header_names = ?, headers = ? where id = ?'
const UPDATE = `update inbound_routes set name = ?, match_type = ?, match_value = ?, action = ?, config = ?,
    authentication = ?, enabled = ?, priority = ?
  where id = ?`
const DISABLE = 'update inbound_routes set enabled = 0 where id = ?'
const FAIL_OPEN = `update inbound_deliveries set status = 'failed', worker = null, next_attempt_at = null
  where number in (
    select number from inbound_deliveries where route_id = ? and next_attempt_at is not null limit ?)
  returning message_number as messageNumber`
const SET_DELIVERY_STATUS = `update inbound_messages set delivery_status = 'failed' where number = ?`
const COUNT = 'select count(*) from inbound_routes where organization_id = ?'
const REMOVE = 'delete from inbound_routes where id = ?'

/** Open deliveries of a removed route that end in one transaction: some ten milliseconds. */
const FAIL_MAX = 500

/** Routes for every RCPT and every attempt, cached until something changes. */
export interface InboundRouteCache {
  get(id: string): (InboundRoute & { secret: string }) | null
  enabledOf(organizationId: string): InboundRoute[]
  /** Decrypts the headers for a request, since ten of them can be larger than everything else. */
  headersOf(route: InboundRoute): EndpointHeaders
  drop(): void
}

export function inboundRouteCache(db: Connection, foreign: ForeignChanges, encryption: Encryption): InboundRouteCache {
  const get = db.prepare<unknown[], Row>(GET)
  const secret = db.prepare<unknown[], Uint8Array>(SECRET).pluck()
  const enabledOf = db.prepare<unknown[], Row>(ENABLED_OF)
  const headers = db.prepare<unknown[], Uint8Array | null>(HEADERS).pluck()
  const byId = new Map<string, (InboundRoute & { secret: string }) | null>()
  const byOrganization = new Map<string, InboundRoute[]>()
  const drop = () => {
    byId.clear()
    byOrganization.clear()
  }
  foreign.onChange(drop)
  return {
    get: (id) => {
      let route = byId.get(id)
      if (route === undefined) {
        const row = get.get(id)
        route =
          row === undefined
            ? null
            : { ...read(row), secret: encryption.decrypt(one(secret, id), placeOfRoute(id)).toString() }
        byId.set(id, route)
      }
      return route
    },
    enabledOf: (organizationId) => {
      foreign.glance()
      let routes = byOrganization.get(organizationId)
      if (routes === undefined) {
        routes = enabledOf.all(organizationId).map(read)
        byOrganization.set(organizationId, routes)
      }
      return routes
    },
    headersOf: ({ id, action }) => {
      if (action.type !== 'webhook' || action.config.headerNames.length === 0) return []
      return decryptHeaders(headers.get(id), { url: action.config.url, place: placeOfRoute(id), encryption })
    },
    drop,
  }
}

export function sqliteInboundRoutes(
  db: Connection,
  writer: Writer,
  cache: InboundRouteCache,
  remember: RememberInside,
  encryption: Encryption,
  usage: Usage,
): InboundRoutes {
  const create = db.prepare(CREATE)
  const get = db.prepare<unknown[], Row>(GET)
  const list = db.prepare<unknown[], Row>(LIST)
  const update = db.prepare(UPDATE)
  const setHeaders = db.prepare(SET_HEADERS)
  const disable = db.prepare(DISABLE)
  const count = db.prepare<unknown[], number>(COUNT).pluck()
  const failOpen = db.prepare<unknown[], { messageNumber: number }>(FAIL_OPEN)
  const setDeliveryStatus = db.prepare(SET_DELIVERY_STATUS)
  const remove = db.prepare(REMOVE)

  /** Clears the cache inside the change, so that the next change of the same group sees this one. */
  const change = <T>(write: () => T): Promise<T> =>
    writer.write(() => {
      const value = write()
      cache.drop()
      return value
    })
  const find = (id: string): InboundRoute | null => {
    const row = get.get(id)
    return row === undefined ? null : read(row)
  }
  /** Ends some open deliveries; true while there may be more. */
  const failSome = (id: string): boolean => {
    const failed = failOpen.all(id, FAIL_MAX)
    for (const { messageNumber } of failed) setDeliveryStatus.run(messageNumber)
    return failed.length === FAIL_MAX
  }

  return {
    create: (route, secret, record) =>
      change(() => {
        const { organizationId } = route
        const limit = usage.reached(organizationId, 'inbound_routes', 1, () => one(count, organizationId))
        if (limit !== null) return limit
        const columns = headersOfAction(route.action, null, { id: route.id, encryption })
        create.run(
          route.id,
          route.organizationId,
          route.name,
          route.match.type,
          route.match.value,
          route.action.type,
          packConfig(route.action),
          route.authentication,
          Number(route.enabled),
          route.priority,
          encryption.encrypt(secret, placeOfRoute(route.id)),
          route.createdAt,
          columns?.headerNames ?? null,
          columns?.headers ?? null,
        )
        remember(record)
        return 'created'
      }),
    count: async (organizationId) => one(count, organizationId),
    get: async (id) => find(id),
    list: async (organizationId, page) => toPage(list.all(organizationId, ...rangeOf(page)), page, read),
    update: (id, fields) =>
      change(() => {
        const present = find(id)
        if (present === null) return null
        const { name, match, action, authentication, enabled, priority } = { ...present, ...fields }
        update.run(
          name,
          match.type,
          match.value,
          action.type,
          packConfig(action),
          authentication,
          Number(enabled),
          priority,
          id,
        )
        const columns = fields.action && headersOfAction(fields.action, present.action, { id, encryption })
        if (columns) setHeaders.run(columns.headerNames, columns.headers, id)
        return find(id)
      }),
    // A route may have a day's mail waiting: it is disabled first and deleted after the last of its deliveries. An
    // interruption leaves a disabled route that can be removed again.
    remove: async (id) => {
      await change(() => disable.run(id))
      let isLeft = true
      while (isLeft) {
        isLeft = await change(() => {
          const mayBeMore = failSome(id)
          if (!mayBeMore) remove.run(id)
          return mayBeMore
        })
      }
    },
  }
}

type Row = Omit<RouteRow, 'enabled'> & { enabled: number }

const read = (row: Row): InboundRoute => toRoute({ ...row, enabled: row.enabled === 1 })
