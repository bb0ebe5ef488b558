import type { Event } from '../../model/event.ts'
import { each, forEach } from '../mail/each.ts'
import { named, type Texts, type Values } from '../named.ts'
import { SLACK_MS, toPage } from '../page.ts'
import type { Work } from '../sql.ts'
import type { EventFilter, Followed, Page, PageRequest, Place } from '../store.ts'
import { BEGIN, END, isBefore, type Position, placeOf, positionOf } from './places.ts'
import type { Pace } from './slices.ts'

const COLUMNS = `e.id, e.type, e.organization_id as "organizationId", e.domain_id as "domainId",
  e.message_id as "messageId", e.mode, e.created_at as "createdAt", e.body`

type Order = 'asc' | 'desc'
type EventRow = Event & Position
/** What a filter asks about. */
type Light = Pick<Event, 'id' | 'type' | 'mode' | 'domainId' | 'createdAt'> & Position

/** SQLite has one writer, so that the numbers are the order. */
const POSITION: Texts = { text: 'e.position, e.number', sqlite: '0 as position, e.number' }
const BETWEEN: Texts = {
  text: `(e.position, e.number) > (:lowPosition, :lowNumber) and (e.position, e.number) < (:highPosition, :highNumber)`,
  sqlite: 'e.number > :lowNumber and e.number < :highNumber and :lowPosition <= :highPosition',
}
const inOrder = (order: Order): Texts => ({
  text: `order by e.position ${order}, e.number ${order}`,
  sqlite: `order by e.number ${order}`,
})
/** One text with the parts of each database. */
function texts(of: (part: (of: Texts) => string) => string): Texts {
  return { text: of(({ text }) => text), sqlite: of(({ text, sqlite }) => sqlite ?? text) }
}
/** SQLite's index, where it would choose another one. */
const by = (index: string): Texts => ({ text: '', sqlite: `indexed by ${index}` })

const PLACE = named<Position>(texts((part) => `select ${part(POSITION)} from events e where e.id = :id`))
// For a cursor whose record retention has removed: continues with everything older than the time in its ID.
const PLACE_NEAR = named<Position>(
  texts((part) => `select ${part(POSITION)} from events e where e.id < :id order by e.id desc limit 1`),
)
const GET = named<Event>(`select ${COLUMNS} from events e where e.id = :id`)
/** The last place up to which everything is decided, and whoever reads now sees it. */
const PASSED = named<Position>({
  // As the default of the column: transactions may have begun lower than those of a server that it was copied from.
  text: `select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + (select position_offset from instance) as position,
    0 as number`,
  sqlite: 'select 0 as position, coalesce(max(number), 0) as number from events',
})
const inTime = (condition: string, order: Order) =>
  named<Position>(
    texts(
      (part) => `select ${part(POSITION)} from events e where e.organization_id = :organizationId
        and e.created_at ${condition} :at order by e.created_at ${order} limit 1`,
    ),
  )
const LAST_BEFORE = inTime('<', 'desc')
const FIRST_SINCE = inTime('>=', 'asc')

// `||` and `+ 0` hide columns from other indexes: PostgreSQL would read all events of a range of time, and sort them.
const OF_MESSAGE = inBoth<EventRow>((order) =>
  texts(
    (part) => `select ${COLUMNS}, ${part(POSITION)} from events e ${part(by('events_of_message'))}
      where e.message_id = :messageId and e.organization_id || '' = :organizationId and ${part(BETWEEN)}
        and (:type::text is null or e.type = :type) and (:mode::text is null or e.mode = :mode)
        and (:domainId::text is null or e.domain_id = :domainId)
        and (:reach::text is null or e.domain_id is null or e.domain_id = :reach)
        and e.created_at + 0 >= :createdAfter and e.created_at + 0 < :createdBefore
      ${part(inOrder(order))} limit :limit`,
  ),
)
const OF_ORGANIZATION = inBoth<EventRow>((order) =>
  texts(
    (part) => `select ${COLUMNS}, ${part(POSITION)} from events e ${part(by('events_of_organization'))}
      where e.organization_id = :organizationId and ${part(BETWEEN)}
        and e.created_at + 0 >= :createdAfter and e.created_at + 0 < :createdBefore
      ${part(inOrder(order))} limit :limit`,
  ),
)
const SLICE = inBoth<Light>((order) =>
  texts(
    (part) => `select e.id, e.type, e.mode, e.domain_id as "domainId", e.created_at as "createdAt", ${part(POSITION)}
      from events e ${part(by('events_of_organization'))}
      where e.organization_id = :organizationId and ${part(BETWEEN)} ${part(inOrder(order))} limit :limit`,
  ),
)
const KINDS = named<{ kind: number }>(`select kind from event_kinds where organization_id = :organizationId
  and (:type::text is null or type = :type) and (:mode::text is null or mode = :mode)
  and (:domainId::text is null or domain_id = :domainId) and (:reach::text is null or domain_id in ('', :reach))
  limit :limit`)
const OF_NUMBERS = named<EventRow>(
  texts((part) => `select ${COLUMNS}, ${part(POSITION)} from events e where e.number = any(:numbers::bigint[])`),
)

function inBoth<Row>(toTexts: (order: Order) => Texts) {
  return { asc: named<Row>(toTexts('asc')), desc: named<Row>(toTexts('desc')) }
}

interface OfKind {
  kind: number
  organizationId: string
  low: Position
  high: Position
  createdAfter: number
  createdBefore: number
  limit: number
}

/** Places of the first events of each kind. */
const ofKind = (order: Order) => {
  const found = `where e.kind = r.kind and e.organization_id || '' = r.organization_id
    and e.created_at + 0 >= r.created_after and e.created_at + 0 < r.created_before`
  return each<OfKind, Position>(
    {
      kind: ['bigint', ({ kind }) => kind],
      organization_id: ['text', ({ organizationId }) => organizationId],
      low_position: ['bigint', ({ low }) => low.position],
      low_number: ['bigint', ({ low }) => low.number],
      high_position: ['bigint', ({ high }) => high.position],
      high_number: ['bigint', ({ high }) => high.number],
      created_after: ['bigint', ({ createdAfter }) => createdAfter],
      created_before: ['bigint', ({ createdBefore }) => createdBefore],
      most: ['int', ({ limit }) => limit],
    },
    `select f.position, f.number from rows r cross join lateral (select e.position, e.number from events e ${found}
      and (e.position, e.number) > (r.low_position, r.low_number)
      and (e.position, e.number) < (r.high_position, r.high_number)
      ${inOrder(order).text} limit r.most) f`,
    `select 0 as position, e.number from events e indexed by events_of_kind ${found}
      and e.number > r.low_number and e.number < r.high_number ${inOrder(order).sqlite} limit r.most`, // no lateral join
  )
}
const OF_KIND = { asc: ofKind('asc'), desc: ofKind('desc') }

/** Kinds whose events are looked for one by one. Of more, most events match. */
const MOST_KINDS = 256
/** Events that one statement examines. */
const SLICE_SIZE = 1_024

/** Event ID → the event, or null. */
export function* getEvent(id: string): Work<Event | null> {
  return (yield* GET({ id }))[0] ?? null
}

/** Events.place. */
export function* placeOfEvent(id: string): Work<Place | null> {
  const [found] = yield* PLACE({ id })
  return found === undefined ? null : placeOf(found)
}

/** Events.newest: of those up to which everything is decided, so that who continues from it misses no other. */
export function* newestEvent(organizationId: string): Work<{ id: string; place: Place } | null> {
  const high = next((yield* PASSED({}))[0])
  const [found] = yield* SLICE.desc({ organizationId, ...bounds({ low: BEGIN, high }), limit: 1 })
  return found === undefined ? null : { id: found.id, place: placeOf(found) }
}

/** Events.list. */
export function* listEvents(filter: EventFilter, page: PageRequest, pace: Pace): Work<Page<Event>> {
  const { after, limit } = page
  const high = after === null ? END : ((yield* PLACE({ id: after }))[0] ?? next((yield* PLACE_NEAR({ id: after }))[0]))
  return toPageOf(yield* query(filter, { low: BEGIN, high }, { order: 'desc', limit: limit + 1, pace }), page)
}

/** Events.feed. */
export function* feedEvents(
  filter: EventFilter,
  after: string | null,
  { limit, pace }: { limit: number; pace: Pace },
): Work<Page<Event> | null> {
  const [low] = after === null ? [BEGIN] : yield* PLACE({ id: after })
  if (low === undefined) return null
  const high = next((yield* PASSED({}))[0])
  return toPageOf(yield* query(filter, { low, high }, { order: 'asc', limit: limit + 1, pace }), { limit, after })
}

/** Events.follow. */
export function* followEvents(
  filter: EventFilter,
  behind: Place,
  { limit, pace }: { limit: number; pace: Pace },
): Work<Followed> {
  const low = positionOf(behind)
  const [passed = BEGIN] = yield* PASSED({})
  const { events, end } = yield* query(filter, { low, high: next(passed) }, { order: 'asc', limit, pace })
  const last = events.length < limit ? (end ?? passed) : (events.at(-1) ?? passed)
  return { events: events.map(placed), upTo: placeOf(isBefore(last, low) ? low : last) }
}

/** The end of a range that includes it. */
const next = ({ position, number }: Position = BEGIN): Position => ({ position, number: number + 1 })

function placed({ position, number, ...event }: EventRow): Followed['events'][number] {
  return { ...event, place: placeOf({ position, number }) }
}

function toPageOf({ events, end }: Found, page: PageRequest): Page<Event> {
  const toEvent = ({ position: _, number: __, ...event }: EventRow): Event => event
  if (end !== null && events.length <= page.limit) return { records: events.map(toEvent), hasMore: true, next: end.id }
  return toPage(events, page, toEvent)
}

interface Range {
  low: Position
  high: Position
}
interface Asked {
  order: Order
  limit: number
  pace: Pace
}
/** `end`: the last event that was examined, if there may be more behind it. */
interface Found {
  events: EventRow[]
  end: Light | null
}

/** Events between two places, both excluded. Each filter has an index whose entries match. */
function* query(filter: EventFilter, within: Range, asked: Asked): Work<Found> {
  const { low, high } = yield* timed(filter, within)
  if (!isBefore(low, high)) return { events: [], end: null }
  const { order, limit } = asked
  const values = { ...valuesOf(filter), ...bounds({ low, high }), limit }
  if (filter.messageId !== null) return { events: yield* OF_MESSAGE[order](values), end: null }
  if (!asksForKind(filter)) return { events: yield* OF_ORGANIZATION[order](values), end: null }
  const kinds = yield* KINDS({ ...values, limit: MOST_KINDS + 1 })
  if (kinds.length > MOST_KINDS) return yield* scan(filter, { low, high }, asked)
  const { organizationId, createdAfter, createdBefore } = values
  const rows = kinds.map(({ kind }) => ({ kind, organizationId, low, high, createdAfter, createdBefore, limit }))
  const places = (yield* forEach(OF_KIND[order], rows)).sort(comparing(order)).slice(0, limit)
  return yield* foundAt(places, filter, { order, limit }, null)
}

/** The same by reading every event of the organization, until there is enough or the time is over. */
function* scan(filter: EventFilter, { low, high }: Range, { order, limit, pace }: Asked): Work<Found> {
  const { nowMs, enoughMs } = pace
  const until = nowMs() + enoughMs
  const places: Position[] = []
  let end: Light | null = null
  for (let range = { low, high }; ; ) {
    const slice = yield* SLICE[order]({ ...filter, ...bounds(range), limit: SLICE_SIZE })
    const found = slice.filter(matching(filter))
    for (const each of found) if (places.length < limit) places.push(each)
    end = slice.length < SLICE_SIZE ? null : (slice.at(-1) ?? null)
    if (end === null || places.length === limit || nowMs() >= until) break
    range = order === 'asc' ? { low: end, high } : { low, high: end }
  }
  return yield* foundAt(places, filter, { order, limit }, end)
}

/** Reads the events at some places. `end`: where the search for fewer than `limit` of them ended. */
function* foundAt(
  places: readonly Position[],
  filter: EventFilter,
  { order, limit }: Omit<Asked, 'pace'>,
  end: Light | null,
): Work<Found> {
  if (places.length === 0) return { events: [], end }
  const found = yield* OF_NUMBERS({ numbers: places.map(({ number }) => number) })
  const events = found.filter(matching(filter)).sort(comparing(order))
  if (places.length < limit) return { events, end }
  // Some may have been removed meanwhile: then there may be more behind the others.
  return { events, end: events.length < limit ? (events.at(-1) ?? null) : null }
}

/** The range without places that no event of the filter's time has. */
function* timed({ organizationId, createdAfter, createdBefore }: EventFilter, { low, high }: Range): Work<Range> {
  const [last] = createdAfter === null ? [] : yield* LAST_BEFORE({ organizationId, at: createdAfter - SLACK_MS })
  const [first] = createdBefore === null ? [] : yield* FIRST_SINCE({ organizationId, at: createdBefore + SLACK_MS })
  return {
    low: last !== undefined && isBefore(low, last) ? last : low,
    high: first !== undefined && isBefore(first, high) ? first : high,
  }
}

function valuesOf({ createdAfter, createdBefore, ...filter }: EventFilter) {
  return {
    ...(filter satisfies Values),
    createdAfter: createdAfter ?? 0,
    createdBefore: createdBefore ?? Number.MAX_SAFE_INTEGER,
  }
}

const bounds = ({ low, high }: Range) => ({
  lowPosition: low.position,
  lowNumber: low.number,
  highPosition: high.position,
  highNumber: high.number,
})

const comparing =
  (order: Order) =>
  (one: Position, other: Position): number => {
    const difference = one.position - other.position || one.number - other.number
    return order === 'asc' ? difference : -difference
  }

/** True if the filter uses a property that belongs to the kind of an event. */
function asksForKind({ type, mode, domainId, reach = null }: EventFilter): boolean {
  return type !== null || mode !== null || domainId !== null || reach !== null
}

/** True if the filter selects all events of one organization. */
export function isPlain(filter: EventFilter): boolean {
  const { messageId, createdAfter, createdBefore } = filter
  return !asksForKind(filter) && messageId === null && createdAfter === null && createdBefore === null
}

const matching =
  ({ type, mode, domainId, reach = null, createdAfter, createdBefore }: EventFilter) =>
  (event: Pick<Event, 'type' | 'mode' | 'domainId' | 'createdAt'>): boolean =>
    (type === null || event.type === type) &&
    (mode === null || event.mode === mode) &&
    (domainId === null || event.domainId === domainId) &&
    (reach === null || event.domainId === null || event.domainId === reach) &&
    (createdAfter === null || event.createdAt >= createdAfter) &&
    (createdBefore === null || event.createdAt < createdBefore)
