import type { Event } from '../../model/event.ts'
import { SLACK_MS, toPage } from '../page.ts'
import type { EventFilter, Followed, Page, PageRequest } from '../store.ts'
import type { Connection } from './driver.ts'
import { asksForKind, kindSpans } from './event-kinds.ts'
import { type Condition, type Numbers, when } from './page.ts'

export const EVENT_COLUMNS = `id, type, organization_id as organizationId, domain_id as domainId, message_id as messageId,
  mode, created_at as createdAt, body`
const NUMBER = 'select number from events where id = ?'
// For a cursor whose record retention has removed: continues with everything older than the time in its ID.
const NUMBER_NEAR = 'select number + 1 from events where id < ? order by id desc limit 1'
const NEWEST = 'select max(number) from events'
const LAST_BEFORE = `select number from events where organization_id = ? and created_at < ?
  order by created_at desc limit 1`
const FIRST_SINCE = `select number from events where organization_id = ? and created_at >= ?
  order by created_at limit 1`

// Events that most mails cause. All others have an index, which costs next to nothing.
const COMMON = ['message.delivered', 'message.opened', 'message.clicked']
const SELDOM = `type not in ('${COMMON.join("', '")}')`
const ARE_MANY = `select 1 from events indexed by events_seldom
  where organization_id = ? and type = ? and ${SELDOM} and number >= ? and number < ? limit 1 offset ?`
/** Up to this many events of a type are read, whatever the other filters. */
const FEW = 256

type PlacedEvent = Followed['events'][number]

/** Lists of events, in both orders. A statement reads a page's worth of an index whose entries match or, for a rare
 *  kind among many, one range of event-kinds.ts. */
export function eventLists(db: Connection) {
  const number = db.prepare<unknown[], number>(NUMBER).pluck()
  const numberNear = db.prepare<unknown[], number>(NUMBER_NEAR).pluck()
  const newest = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const end = () => (newest.get() ?? 0) + 1
  const query = createQuery(db)
  return {
    list: (filter: EventFilter, page: PageRequest): Page<Event> => {
      const high = page.after === null ? undefined : (number.get(page.after) ?? numberNear.get(page.after) ?? 0)
      const bounds = { low: 0, high: high ?? end() }
      return toPage(query(filter, bounds, { order: 'desc', limit: page.limit + 1 }), page, (row) => row)
    },
    feed: (filter: EventFilter, after: string | null, limit: number): Page<Event> | null => {
      const seen = after === null ? 0 : number.get(after)
      if (seen === undefined) return null
      const rows = query(filter, { low: seen + 1, high: end() }, { order: 'asc', limit: limit + 1 })
      return toPage(rows, { limit, after }, (row) => row)
    },
    follow: (filter: EventFilter, behind: number, limit: number): Followed => {
      const upTo = end() - 1
      const columns = `number as place, ${EVENT_COLUMNS}`
      const range = { low: behind + 1, high: upTo + 1 }
      const events = query<PlacedEvent>(filter, range, { order: 'asc', limit, columns })
      return { events, upTo: events.length < limit ? upTo : (events.at(-1)?.place ?? upTo) }
    },
  }
}

interface Asked {
  order: 'asc' | 'desc'
  limit: number
  columns?: string
}

function createQuery(db: Connection) {
  const timed = createTimed(db)
  const indexOf = createIndexOf(db)
  const spans = kindSpans(db)
  return <Row extends Event = Event>(
    filter: EventFilter,
    within: Numbers,
    { order, limit, columns = EVENT_COLUMNS }: Asked,
  ): Row[] => {
    const bounds = timed(filter, within)
    if (bounds.low >= bounds.high) return []
    const index = indexOf(filter, bounds)
    const conditions = [...conditionsOf(filter), { sql: 'number >= ? and number < ?', values: [] }]
    if (index === 'events_seldom') conditions.push({ sql: SELDOM, values: [] })
    const statement = db.prepare<unknown[], Row>(`select ${columns} from events
      indexed by ${index ?? 'events_of_organization'}
      where ${conditions.map((each) => each.sql).join(' and ')} order by number ${order} limit ?`)
    const values = conditions.flatMap((each) => each.values)
    const rowsOf = ({ low, high }: Numbers, most: number) => statement.all(...values, low, high, most)
    if (index !== null || !asksForKind(filter)) return rowsOf(bounds, limit)

    const rows: Row[] = []
    for (const ranges of spans(filter, bounds, order)) {
      for (const range of ranges) {
        rows.push(...rowsOf(range, limit - rows.length))
        if (rows.length === limit) return rows
      }
    }
    return rows
  }
}

/** → the index that contains exactly the matches of a filter, or few more; null if there is none. */
function createIndexOf(db: Connection) {
  const areMany = db.prepare(ARE_MANY)
  return ({ organizationId, type, messageId, mode, domainId, reach = null }: EventFilter, { low, high }: Numbers) => {
    if (messageId !== null) return 'events_of_message'
    if (type === null || COMMON.includes(type)) return null
    const isAll = mode === null && domainId === null && reach === null
    return isAll || areMany.get(organizationId, type, low, high, FEW) === undefined ? 'events_seldom' : null
  }
}

/** → the numbers that events of the filter's time range can have. */
function createTimed(db: Connection) {
  const lastBefore = db.prepare<unknown[], number | null>(LAST_BEFORE).pluck()
  const firstSince = db.prepare<unknown[], number | null>(FIRST_SINCE).pluck()
  return ({ organizationId, createdAfter, createdBefore }: EventFilter, { low, high }: Numbers): Numbers => {
    const last = createdAfter === null ? null : lastBefore.get(organizationId, createdAfter - SLACK_MS)
    const first = createdBefore === null ? null : firstSince.get(organizationId, createdBefore + SLACK_MS)
    return { low: Math.max(low, (last ?? -1) + 1), high: Math.min(high, first ?? high) }
  }
}

/** True if the filter selects all events of one organization. */
export function isPlain(filter: EventFilter): boolean {
  return conditionsOf(filter).length === 1
}

function conditionsOf(filter: EventFilter): Condition[] {
  return [
    { sql: 'organization_id = ?', values: [filter.organizationId] },
    ...when(filter.type, 'type = ?'),
    ...when(filter.messageId, 'message_id = ?'),
    ...when(filter.domainId, 'domain_id = ?'),
    ...when(filter.reach, '(domain_id is null or domain_id = ?)'),
    ...when(filter.mode, 'mode = ?'),
    ...when(filter.createdAfter, 'created_at >= ?'),
    ...when(filter.createdBefore, 'created_at < ?'),
  ]
}
