import type { Remember } from '../../model/idempotency.ts'
import type {
  GivenAction,
  InboundRoute,
  RouteAction,
  RouteAuthentication,
  RouteMatch,
  SigningRoute,
} from '../../model/inbound-route.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Encryption } from '../encryption.ts'
import { changedHeaders, type HeaderColumns, NO_HEADERS, toHeaderNames } from '../endpoint-headers.ts'
import { limitReached, planOf, remember } from '../inside.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { changed, changing, type Database, row, rows, run, sql, type Value, type Work } from '../sql.ts'

/** A route as a request gives it. */
type GivenRoute = Omit<InboundRoute, 'action'> & { action: GivenAction }

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

/** A SigningRoute as a row, encrypted. */
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
const DISABLE = sql('update inbound_routes set enabled = false, removing = true where id = $1')
// In the order of their index, past what earlier steps have ended and PostgreSQL has not vacuumed yet.
const NEXT_OPEN = sql<{ number: number; at: number }>(`select number::float8 as number, next_attempt_at::float8 as at
  from inbound_deliveries where route_id = $1 and next_attempt_at >= $2::bigint order by next_attempt_at limit $3::int`)
// On hold after a restore, in the order of their numbers.
const NEXT_HELD = sql<{ number: number; routeId: string }>(`select h.number::float8 as number, d.route_id as "routeId"
  from held_inbound_deliveries h join inbound_deliveries d on d.number = h.number
  where h.number > $1::bigint order by h.number limit $2::int`)
const FORGET_HELD = sql('delete from held_inbound_deliveries where number = any($1::bigint[])')
// Only while they are open: the result of one may have been written since it was found.
const FAIL = sql<{ messageNumber: number }>(`update inbound_deliveries
  set status = 'failed', worker = null, next_attempt_at = null where number = any($1::bigint[]) and status = 'pending'
  returning message_number::float8 as "messageNumber"`)
const FAIL_MESSAGES = sql(`update inbound_messages set delivery_status = 'failed' where number = any($1::bigint[])`)
const REMOVE = sql('delete from inbound_routes where id = $1')

/** Open deliveries of a removed route that end in one transaction: some ten milliseconds. */
const FAIL_MAX = 500

export function inboundRouteRecords(database: Database, encryption: Encryption) {
  const change = changing(database, 'inboundRoute')

  return {
    create: (route: GivenRoute, secret: string, record?: Remember): Promise<'created' | LimitReached> =>
      change(route.id, function* () {
        const { id, organizationId, action, createdAt } = route
        const limit = yield* limitReached(yield* planOf(organizationId), 'inbound_routes', () => count(organizationId))
        if (limit !== null) return limit
        const { headerNames, headers } = headersOf(action, null, { id, encryption }) ?? NO_HEADERS
        const encrypted = encryption.encrypt(secret, placeOfRoute(id))
        yield* run(CREATE, id, organizationId, ...fieldsOf(route), encrypted, createdAt, headerNames, headers)
        yield* remember(record)
        return 'created'
      }),
    count: (organizationId: string): Promise<number> => database.read(() => count(organizationId)),
    get: (id: string): Promise<InboundRoute | null> => database.read(() => find(id)),
    list: async (organizationId: string, page: RecordsRequest): Promise<Page<InboundRoute>> =>
      toPage(await database.rows(LIST, organizationId, ...rangeOf(page)), page, toRoute),
    /** An action with a URL of another origin, or with none, removes the headers that are not given again. */
    update: (
      id: string,
      fields: Partial<Pick<GivenRoute, 'name' | 'match' | 'action' | 'authentication' | 'enabled' | 'priority'>>,
    ): Promise<InboundRoute | null> =>
      change(id, function* () {
        const present = yield* find(id)
        if (present === null) return null
        yield* run(UPDATE, id, ...fieldsOf({ ...present, ...fields }))
        const columns = fields.action && headersOf(fields.action, present.action, { id, encryption })
        if (columns) yield* run(SET_HEADERS, id, columns.headerNames, columns.headers)
        return yield* find(id)
      }),
    /** Removes a route. Its open deliveries fail; messages stay. Since there may be many, it uses several
     *  transactions: the route is disabled in the first and deleted in the last, and can be removed again after a
     *  crash in between. */
    remove: async (id: string): Promise<void> => {
      await change(id, () => run(DISABLE, id))
      await database.groupsSettled()
      for (const failing of [failHeld, failOpen]) {
        for (let last: number | null = 0; last !== null; ) {
          const after: number = last
          last = await database.write(() => failing(id, after), 'settings')
        }
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

/** Ends the next open deliveries of a route, due from a time on → when the last of them was due; null once the route is
 *  deleted with the last ones. */
function* failOpen(routeId: string, since: number): Work<number | null> {
  const open = yield* rows(NEXT_OPEN, routeId, since, FAIL_MAX)
  yield* failAll(open.map(({ number }) => number))
  if (open.length === FAIL_MAX) return open.at(-1)?.at ?? null
  yield* run(REMOVE, routeId)
  yield* changed('inboundRoute', routeId)
  return null
}

/** Looks at the next deliveries on hold behind a number, and ends those of a route → the number of the last one; null if
 *  there are no more. */
function* failHeld(routeId: string, after: number): Work<number | null> {
  const held = yield* rows(NEXT_HELD, after, FAIL_MAX)
  const own = held.filter((each) => each.routeId === routeId).map(({ number }) => number)
  if (own.length > 0) {
    yield* failAll(own)
    yield* run(FORGET_HELD, own)
  }
  return held.length < FAIL_MAX ? null : (held.at(-1)?.number ?? null)
}

function* failAll(numbers: readonly number[]): Work<void> {
  const failed = yield* rows(FAIL, numbers)
  yield* run(
    FAIL_MESSAGES,
    failed.map(({ messageNumber }) => messageNumber),
  )
}

/** Encryption place of its secret and its headers. */
const placeOfRoute = (id: string) => `inbound_routes ${id}`

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
    type === 'webhook'
      ? {
          url: config.url,
          includeAttachments: config.includeAttachments,
          ...(config.replies === false && { replies: false }),
        }
      : config,
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
