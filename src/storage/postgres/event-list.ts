import type { Event } from '../../model/event.ts'
import { SLACK_MS, toPage } from '../page.ts'
import type { EventFilter, Events, Followed } from '../store.ts'
import { named } from './named.ts'
import type { Reads } from './reads.ts'

const COLUMNS = `e.id, e.type, e.organization_id as "organizationId", e.domain_id as "domainId",
  e.message_id as "messageId", e.mode, e.created_at::float8 as "createdAt", e.body`
const GET = `select ${COLUMNS} from events e where e.id = $1`
const PLACE = 'select place::float8 as place from events where id = $1'
// For a cursor whose record retention has removed: continues with everything older than the time in its ID.
const PLACE_NEAR = 'select place::float8 + 1 as place from events where id < $1 order by id desc limit 1'
const NEWEST = `select e.id, e.place::float8 as place from events e where e.organization_id = $1
  order by e.place desc limit 1`

/** Places of the events that the time range leaves, from `low` to before `high`. */
const BOUNDS = `select
    greatest(:low::bigint, (select place + 1 from events
      where organization_id = :organizationId and created_at < :createdAfter::bigint - ${SLACK_MS}
      order by created_at desc, place desc limit 1)) as low,
    least(:high::bigint, (select place from events
      where organization_id = :organizationId and created_at >= :createdBefore::bigint + ${SLACK_MS}
      order by created_at, place limit 1)) as high`
const IN_TIME = `e.place >= b.low and e.place < b.high
  and (:createdAfter::bigint is null or e.created_at >= :createdAfter)
  and (:createdBefore::bigint is null or e.created_at < :createdBefore)`
const MATCHES = `(:type::text is null or e.type = :type) and (:mode::text is null or e.mode = :mode)
  and (:domainId::text is null or e.domain_id = :domainId)
  and (:reach::text is null or e.domain_id is null or e.domain_id = :reach)`

type Order = 'asc' | 'desc'

const statementOf = (found: string, order: Order) =>
  named<PlacedEvent>(`with bounds as materialized (${BOUNDS}), found as materialized (${found})
    select e.place::float8 as place, ${COLUMNS} from found f
      join events e on e.organization_id = :organizationId and e.place = f.place
    order by e.place ${order}`)

const ofOrganization = (order: Order) =>
  statementOf(
    `select e.place from bounds b cross join lateral (
      select e.place from events e where e.organization_id = :organizationId and ${IN_TIME}
      order by e.place ${order} limit :limit) e`,
    order,
  )
const ofMessage = (order: Order) =>
  statementOf(
    `select e.place from bounds b cross join lateral (
      select e.place from events e
      where e.message_id = :messageId and e.organization_id = :organizationId and ${IN_TIME} and ${MATCHES}
      order by e.place ${order} limit :limit) e`,
    order,
  )
// The newest or oldest of each kind, of which an organization has few.
const ofKinds = (order: Order) =>
  statementOf(
    `select e.place from bounds b cross join event_kinds k cross join lateral (
        select e.place from events e
        where e.kind = k.kind and e.organization_id = :organizationId and ${IN_TIME} and ${MATCHES}
        order by e.place ${order} limit :limit) e
      where k.organization_id = :organizationId and (:type::text is null or k.type = :type)
        and (:mode::text is null or k.mode = :mode) and (:domainId::text is null or k.domain_id = :domainId)
        and (:reach::text is null or k.domain_id is null or k.domain_id = :reach)
      order by e.place ${order} limit :limit`,
    order,
  )
const STATEMENTS = {
  asc: { organization: ofOrganization('asc'), message: ofMessage('asc'), kinds: ofKinds('asc') },
  desc: { organization: ofOrganization('desc'), message: ofMessage('desc'), kinds: ofKinds('desc') },
}

type PlacedEvent = Followed['events'][number]

/** Above every place. */
const END = Number.MAX_SAFE_INTEGER

/** How far events can be read as they happen. */
export interface Feed {
  /** Highest place up to which no further event will be written. */
  passed(): number
  /** Call it at each such read. */
  follow(): void
}

/** Lists of events, in the order of their places. Every filter has its index, so that no other events are read. */
export function postgresEventReading(
  reads: Reads,
  { passed, follow: reading }: Feed,
): Omit<Events, 'append' | 'appendSample'> {
  const placeOf = async (statement: string, id: string) =>
    (await reads.query<{ place: number }>(statement, [id]))[0]?.place
  const query = (filter: EventFilter, order: Order, range: { low: number; high: number; limit: number }) =>
    STATEMENTS[order][indexOf(filter)](reads, { ...filter, ...range })
  return {
    get: async (id) => (await reads.query<Event>(GET, [id]))[0] ?? null,
    list: async (filter, page) => {
      const { after } = page
      const high = after === null ? END : ((await placeOf(PLACE, after)) ?? (await placeOf(PLACE_NEAR, after)) ?? 0)
      return toPage(await query(filter, 'desc', { low: 0, high, limit: page.limit + 1 }), page, toEvent)
    },
    feed: async (filter, after, limit) => {
      reading()
      const upTo = passed()
      const seen = after === null ? 0 : await placeOf(PLACE, after)
      if (seen === undefined) return null
      const rows = await query(filter, 'asc', { low: seen + 1, high: upTo + 1, limit: limit + 1 })
      return toPage(rows, { limit, after }, toEvent)
    },
    follow: async (filter, behind, limit) => {
      reading()
      const upTo = passed()
      const events = await query(filter, 'asc', { low: behind + 1, high: upTo + 1, limit })
      const isWhole = events.length < limit
      return { events, upTo: isWhole ? Math.max(behind, upTo) : (events.at(-1)?.place ?? behind) }
    },
    place: async (id) => (await placeOf(PLACE, id)) ?? null,
    newest: async (organizationId) =>
      (await reads.query<{ id: string; place: number }>(NEWEST, [organizationId]))[0] ?? null,
  }
}

function indexOf({ messageId, type, mode, domainId, reach = null }: EventFilter): keyof typeof STATEMENTS.asc {
  if (messageId !== null) return 'message'
  return type === null && mode === null && domainId === null && reach === null ? 'organization' : 'kinds'
}

function toEvent({ place: _, ...event }: PlacedEvent): Event {
  return event
}
