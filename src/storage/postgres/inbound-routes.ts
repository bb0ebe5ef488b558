import type { InboundRoute } from '../../model/inbound-route.ts'
import type { Encryption } from '../encryption.ts'
import { rangeOf, toPage } from '../page.ts'
import type { GivenRoute } from '../roles/inbound-routes.ts'
import { headersOfAction, packConfig, placeOfRoute, type RouteRow, toRoute } from '../route-rows.ts'
import type { InboundRoutes } from '../store.ts'
import { textArray } from './arrays.ts'
import type { MailLane } from './group.ts'
import { groupsSettled } from './groups-under-way.ts'
import type { RememberInside } from './idempotency.ts'
import { END_INBOUND } from './inbound-row.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Queries } from './transactions.ts'
import type { Usage } from './usage.ts'
import type { SettingsStatements, Writer } from './writer.ts'

const COLUMNS = `id, organization_id as "organizationId", name, match_type as "matchType",
  match_value as "matchValue", action, config, header_names as "headerNames", authentication, enabled, priority, created_at::float8 as "createdAt"`
const CREATE = `insert into inbound_routes (id, organization_id, name, match_type, match_value, action, config,
    authentication, enabled, priority, secret, created_at, header_names, headers)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`
const ALL = `select ${COLUMNS}, secret from inbound_routes where not removing`
const GET = `select ${COLUMNS} from inbound_routes where id = $1`
const LIST = `select ${COLUMNS} from inbound_routes
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`
const UPDATE = `update inbound_routes set name = $2, match_type = $3, match_value = $4, action = $5, config = $6,
    authentication = $7, enabled = $8, priority = $9
  where id = $1`
const SET_HEADERS = 'update inbound_routes set header_names = $2, headers = $3 where id = $1'
const COUNT = 'select count(*)::int as count from inbound_routes where organization_id = $1'
// No new delivery waits for it from then on, since it is gone from memory.
const DISABLE = 'update inbound_routes set enabled = false, removing = true where id = $1'
// Step by step in the order of the index, past what earlier steps have ended.
const NEXT_OPEN = `select id from inbound_deliveries
  where route_id = $1 and status = 'pending' and id > $2 order by id limit $3`
const UNQUEUE = 'delete from inbound_queue where id = any($1::text[])'
const REMOVE = 'delete from inbound_routes where id = $1'

/** Open deliveries of a removed route that end in one transaction. */
const FAIL_MAX = 500

/** A route, and the secret that signs its posts. */
export interface MirroredRoute {
  id: string
  route: InboundRoute
  secret: string
}

export function inboundRouteMirror(encryption: Encryption): Mirror<MirroredRoute> {
  const read = readerOf<RouteRow & { secret: Uint8Array }>(ALL)
  return createMirror(async (queries, ids) => {
    const rows = await read(queries, ids)
    return rows.map(({ secret, ...row }) => ({
      id: row.id,
      route: toRoute(row),
      secret: encryption.decrypt(secret, placeOfRoute(row.id)).toString(),
    }))
  })
}

export function postgresInboundRoutes(
  reads: Reads,
  writer: Writer,
  inside: { encryption: Encryption; remember: RememberInside; usage: Usage; lane: MailLane },
): InboundRoutes {
  const { encryption, remember, usage, lane } = inside
  const count = async (queries: Queries, organizationId: string) =>
    (await queries.query<{ count: number }>(COUNT, [organizationId]))[0]?.count ?? 0
  const find = async (queries: Queries, id: string) => {
    const [row] = await queries.query<RouteRow>(GET, [id])
    return row === undefined ? null : toRoute(row)
  }
  const change = <T>(id: string, work: (statements: SettingsStatements) => Promise<T>): Promise<T> =>
    writer.writeSettings((statements) => {
      statements.changed('inboundRoute', id)
      return work(statements)
    })

  return {
    create: (route, secret, record) =>
      change(route.id, async (statements) => {
        const { id, organizationId, createdAt } = route
        const limit = await usage.reached(organizationId, 'inbound_routes', 1, () => count(statements, organizationId))
        if (limit !== null) return limit
        const [name, ...rest] = fieldsOf(route)
        const encrypted = encryption.encrypt(secret, placeOfRoute(id))
        const columns = headersOfAction(route.action, null, { id, encryption })
        const headers = [columns?.headerNames ?? null, columns?.headers ?? null]
        await statements.run(CREATE, [id, organizationId, name, ...rest, encrypted, createdAt, ...headers])
        await remember(statements, record)
        return 'created'
      }),
    count: (organizationId) => count(reads, organizationId),
    get: (id) => find(reads, id),
    list: async (organizationId, page) =>
      toPage(await reads.query<RouteRow>(LIST, [organizationId, ...rangeOf(page)]), page, toRoute),
    update: (id, fields) =>
      change(id, async (statements) => {
        const present = await find(statements, id)
        if (present === null) return null
        await statements.run(UPDATE, [id, ...fieldsOf({ ...present, ...fields })])
        const columns = fields.action && headersOfAction(fields.action, present.action, { id, encryption })
        if (columns) await statements.run(SET_HEADERS, [id, columns.headerNames, columns.headers])
        return find(statements, id)
      }),
    // A route may have a day's mail waiting: it is disabled first and deleted after the last of its deliveries.
    remove: async (id) => {
      await change(id, ({ run }) => run(DISABLE, [id]))
      await groupsSettled(reads)
      for (let last: string | null = ''; last !== null; ) last = await failSome(lane, id, last)
      await change(id, ({ run }) => run(REMOVE, [id]))
    },
  }
}

/** Ends the next open deliveries of a route → the last of them; null if there are no more. */
function failSome(lane: MailLane, routeId: string, after: string): Promise<string | null> {
  return lane.perform(async ({ statements }) => {
    const open = await statements.query<{ id: string }>(NEXT_OPEN, [routeId, after, FAIL_MAX])
    const ids = textArray(open.map(({ id }) => id))
    if (open.length > 0) {
      await Promise.all([statements.run(UNQUEUE, [ids]), statements.run(END_INBOUND, [ids, 'failed'])])
    }
    return open.length < FAIL_MAX ? null : (open.at(-1)?.id ?? null)
  })
}

/** What a change may set, in the order of the columns. */
function fieldsOf({ name, match, action, authentication, enabled, priority }: GivenRoute): unknown[] {
  return [name, match.type, match.value, action.type, packConfig(action), authentication, enabled, priority]
}
