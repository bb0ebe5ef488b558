import type {
  GivenAction,
  InboundRoute,
  RouteAction,
  RouteAuthentication,
  RouteMatch,
} from '../../model/inbound-route.ts'
import type { Encryption } from '../encryption.ts'
import { changedHeaders, type HeaderColumns, NO_HEADERS, toHeaderNames } from '../endpoint-headers.ts'
import { type Inside, limitReached } from '../inside.ts'
import { rangeOf, toPage } from '../page.ts'
import type { GivenRoute } from '../roles/inbound-routes.ts'
import { changed, type Database, row, rows, run, sql, type Value, type Work } from '../sql.ts'
import type { InboundRoutes } from '../store.ts'

/** A row of inbound_routes. */
export interface RouteRow {
  id: string
  organizationId: string
  name: string
  matchType: RouteMatch['type']
  matchValue: string | null
  action: RouteAction['type']
  config: string
  headerNames: string | null
  authentication: RouteAuthentication
  enabled: boolean
  priority: number
  createdAt: number
}

/** A route, and the secret that signs its posts. */
export interface SigningRoute {
  id: string
  route: InboundRoute
  secret: string
}

/** The same as a row, encrypted. */
export type SigningRouteRow = RouteRow & { secret: Uint8Array }

export const ROUTE_COLUMNS = `id, organization_id as "organizationId", name, match_type as "matchType",
  match_value as "matchValue", action, config, header_names as "headerNames", authentication,
  enabled::boolean as "enabled", priority, created_at as "createdAt"`
const CREATE = sql(`insert into inbound_routes (id, organization_id, name, match_type, match_value, action, config,
    authentication, enabled, priority, secret, created_at, header_names, headers)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`)
const COUNT = sql<{ count: number }>('select count(*) as count from inbound_routes where organization_id = $1')
const GET = sql<RouteRow>(`select ${ROUTE_COLUMNS} from inbound_routes where id = $1`)
const LIST = sql<RouteRow>(`select ${ROUTE_COLUMNS} from inbound_routes
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`)
const UPDATE = sql(`update inbound_routes set name = $2, match_type = $3, match_value = $4, action = $5, config = $6,
    authentication = $7, enabled = $8, priority = $9
  where id = $1`)
const SET_HEADERS = sql('update inbound_routes set header_names = $2, headers = $3 where id = $1')
// No new delivery waits for it from then on: PostgreSQL drops it from memory. SQLite ends what is accepted until the
// route is deleted together with it.
const DISABLE = sql(
  'update inbound_routes set enabled = false, removing = true where id = $1',
  'update inbound_routes set enabled = false where id = $1',
)
// Step by step: PostgreSQL in the order of its index, past what earlier steps have ended but not yet vacuumed.
const NEXT_OPEN = sql<{ id: string }>(
  `select id from inbound_deliveries where route_id = $1 and status = 'pending' and id > $2 order by id limit $3`,
  'select id from inbound_deliveries where route_id = $1 and next_attempt_at is not null limit $3',
)
// In SQLite the queue is columns of the delivery, and messages have numbers.
const FAIL = sql(
  `with queued as (delete from inbound_queue where id = any($1::text[]))
    update inbound_deliveries set status = 'failed' where id = any($1::text[])`,
  `update inbound_deliveries set status = 'failed', worker = null, next_attempt_at = null where id = any($1::text[])`,
)
const FAIL_MESSAGES = sql(
  `update inbound_messages set delivery_status = 'failed' where id = any(array(
    select message_id from inbound_deliveries where id = any($1::text[])))`,
  `update inbound_messages set delivery_status = 'failed' where number in (
    select message_number from inbound_deliveries where id = any($1::text[]))`,
)
const REMOVE = sql('delete from inbound_routes where id = $1')

/** Open deliveries of a removed route that end in one transaction: some ten milliseconds. */
const FAIL_MAX = 500

export function inboundRouteRecords(
  database: Database,
  { remember, usage }: Inside,
  encryption: Encryption,
): InboundRoutes {
  const change = <T>(id: string, work: () => Work<T>): Promise<T> =>
    database.write(function* () {
      const value = yield* work()
      yield* changed('inboundRoute', id)
      return value
    }, 'settings')

  return {
    create: (route, secret, record) =>
      change(route.id, function* () {
        const { id, organizationId, action, createdAt } = route
        const limit = yield* limitReached(usage.planOf(organizationId), 'inbound_routes', () => count(organizationId))
        if (limit !== null) return limit
        const { headerNames, headers } = headersOf(action, null, { id, encryption }) ?? NO_HEADERS
        const encrypted = encryption.encrypt(secret, placeOfRoute(id))
        yield* run(CREATE, id, organizationId, ...fieldsOf(route), encrypted, createdAt, headerNames, headers)
        yield* remember(record)
        return 'created'
      }),
    count: (organizationId) => database.read(() => count(organizationId)),
    get: (id) => database.read(() => find(id)),
    list: async (organizationId, page) =>
      toPage(await database.rows(LIST, organizationId, ...rangeOf(page)), page, toRoute),
    update: (id, fields) =>
      change(id, function* () {
        const present = yield* find(id)
        if (present === null) return null
        yield* run(UPDATE, id, ...fieldsOf({ ...present, ...fields }))
        const columns = fields.action && headersOf(fields.action, present.action, { id, encryption })
        if (columns) yield* run(SET_HEADERS, id, columns.headerNames, columns.headers)
        return yield* find(id)
      }),
    // A route may have a day's mail waiting: it is disabled first, and deleted with the last of its deliveries.
    remove: async (id) => {
      await change(id, () => run(DISABLE, id))
      await database.groupsSettled()
      for (let last: string | null = ''; last !== null; ) {
        const after: string = last
        last = await database.write(() => failSome(id, after), 'settings and events')
      }
    },
  }
}

function* count(organizationId: string): Work<number> {
  return (yield* row(COUNT, organizationId))?.count ?? 0
}

function* find(id: string): Work<InboundRoute | null> {
  const found = yield* row(GET, id)
  return found === null ? null : toRoute(found)
}

/** Ends the next open deliveries of a route → the last of them; null once the route is deleted with the last ones. */
function* failSome(routeId: string, after: string): Work<string | null> {
  const open = (yield* rows(NEXT_OPEN, routeId, after, FAIL_MAX)).map(({ id }) => id)
  yield* run(FAIL, open)
  yield* run(FAIL_MESSAGES, open)
  if (open.length === FAIL_MAX) return open.at(-1) ?? null
  yield* run(REMOVE, routeId)
  yield* changed('inboundRoute', routeId)
  return null
}

/** Encryption place of its secret and its headers. */
export const placeOfRoute = (id: string) => `inbound_routes ${id}`

/** Throws EncryptionKeyUnusable if the secret was encrypted with another key. */
export function toSigningRoute({ secret, ...row }: SigningRouteRow, encryption: Encryption): SigningRoute {
  const { id } = row
  return { id, route: toRoute(row), secret: encryption.decrypt(secret, placeOfRoute(id)).toString() }
}

export function toRoute({ matchType, matchValue, action, config, headerNames, ...rest }: RouteRow): InboundRoute {
  const given = JSON.parse(config)
  return {
    ...rest,
    match:
      matchType === 'catch_all' ? { type: matchType, value: matchValue } : { type: matchType, value: matchValue ?? '' },
    action:
      action === 'webhook'
        ? { type: action, config: { ...given, headerNames: toHeaderNames(headerNames) } }
        : { type: action, config: given },
  }
}

/** What a change may set, in the order of the columns. */
function fieldsOf({ name, match, action, authentication, enabled, priority }: GivenRoute): Value[] {
  return [name, match.type, match.value, action.type, packConfig(action), authentication, enabled, priority]
}

/** Column `config`: an action without its headers and their names, which have their own columns. */
function packConfig({ type, config }: GivenAction): string {
  return JSON.stringify(
    type === 'webhook' ? { url: config.url, includeAttachments: config.includeAttachments } : config,
  )
}

/** Columns of the headers once the route has the `given` action; null: they stay as they are. `present` is its action
 *  before, null for a new route. */
function headersOf(
  given: GivenAction,
  present: RouteAction | null,
  { id, encryption }: { id: string; encryption: Encryption },
): HeaderColumns | null {
  if (given.type !== 'webhook') return NO_HEADERS
  const { url, headers } = given.config
  const before = present?.type === 'webhook' ? present.config.url : null
  return changedHeaders(headers, before, { url, place: placeOfRoute(id), encryption })
}
