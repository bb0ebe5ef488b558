import type { Event } from '../../model/event.ts'
import { SLACK_MS, toPage } from '../page.ts'
import type { EventFilter, Events, Followed } from '../store.ts'
import type { Connection } from './driver.ts'
import { asksForKind, type EventKinds } from './event-kinds.ts'
import type { AppendInside } from './fan-out.ts'
import { type Condition, type Numbers, nextTurn, when } from './page.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, type, organization_id as organizationId, domain_id as domainId, message_id as messageId, mode,
  created_at as createdAt, body`
// Query of a live feed at each notification: one organization, all types.
const BEHIND = `select number as place, ${COLUMNS} from events indexed by events_of_organization
  where organization_id = ? and number > ? and number <= ? order by number limit ?`
const NEWEST_OF = `select id, number as place from events indexed by events_of_organization
  where organization_id = ? order by number desc limit 1`
const GET = `select ${COLUMNS} from events where id = ?`
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

/** Ranges read before other work gets a turn: some milliseconds. */
const RANGES_A_TURN = 4

type PlacedEvent = Followed['events'][number]

export function sqliteEvents(
  db: Connection,
  writer: Writer,
  append: AppendInside,
  kinds: EventKinds,
  usage: Usage,
): Events {
  const get = db.prepare<unknown[], Event>(GET)
  const number = db.prepare<unknown[], number>(NUMBER).pluck()
  const numberNear = db.prepare<unknown[], number>(NUMBER_NEAR).pluck()
  const newest = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const lastBefore = db.prepare<unknown[], number | null>(LAST_BEFORE).pluck()
  const firstSince = db.prepare<unknown[], number | null>(FIRST_SINCE).pluck()

  const areMany = db.prepare(ARE_MANY)
  const behindIn = db.prepare<unknown[], PlacedEvent>(BEHIND)
  const newestOf = db.prepare<unknown[], { id: string; place: number }>(NEWEST_OF)

  /** True where an index contains exactly the matches, or few more. */
  const indexOf = (
    { organizationId, type, messageId, mode, domainId, reach = null }: EventFilter,
    { low, high }: Numbers,
  ) => {
    if (messageId !== null) return 'events_of_message'
    if (type === null || COMMON.includes(type)) return null
    const isAll = mode === null && domainId === null && reach === null
    return isAll || areMany.get(organizationId, type, low, high, FEW) === undefined ? 'events_seldom' : null
  }

  /** Numbers that events of the filter's time range can have. */
  const timed = ({ organizationId, createdAfter, createdBefore }: EventFilter, { low, high }: Numbers): Numbers => {
    const last = createdAfter === null ? null : lastBefore.get(organizationId, createdAfter - SLACK_MS)
    const first = createdBefore === null ? null : firstSince.get(organizationId, createdBefore + SLACK_MS)
    return { low: Math.max(low, (last ?? -1) + 1), high: Math.min(high, first ?? high) }
  }
  const query = async <Row extends Event = Event>(
    filter: EventFilter,
    within: Numbers,
    order: 'asc' | 'desc',
    limit: number,
    columns: string = COLUMNS,
  ) => {
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
    for (const ranges of kinds.spans(filter, bounds, order)) {
      for (const [at, range] of ranges.entries()) {
        rows.push(...rowsOf(range, limit - rows.length))
        if (rows.length === limit) return rows
        if (at % RANGES_A_TURN === RANGES_A_TURN - 1) await nextTurn()
      }
      await nextTurn()
    }
    return rows
  }

  return {
    append: (events, onlyWebhook) =>
      writer.write(() => {
        for (const event of events) append(event, { onlyWebhook })
      }),
    appendSample: (event, onlyWebhook, month) =>
      writer.write(() => {
        const { organizationId } = event
        const limit = usage.reached(organizationId, 'test_messages_per_month', 1, () =>
          usage.used(organizationId, 'test_messages', month),
        )
        if (limit !== null) return limit
        usage.add(organizationId, 'test_messages', 1, month)
        append(event, { onlyWebhook })
        return 'appended'
      }),
    get: async (id) => get.get(id) ?? null,
    list: async (filter, page) => {
      const high = page.after === null ? undefined : (number.get(page.after) ?? numberNear.get(page.after) ?? 0)
      const bounds = { low: 0, high: high ?? end() }
      return toPage(await query(filter, bounds, 'desc', page.limit + 1), page, (row) => row)
    },
    feed: async (filter, after, limit) => {
      const seen = after === null ? 0 : number.get(after)
      if (seen === undefined) return null
      const rows = await query(filter, { low: seen + 1, high: end() }, 'asc', limit + 1)
      return toPage(rows, { limit, after }, (row) => row)
    },
    follow: async (filter, behind, limit) => {
      const upTo = end() - 1
      const range = { low: behind + 1, high: upTo + 1 }
      const events = isPlain(filter)
        ? behindIn.all(filter.organizationId, behind, upTo, limit)
        : await query<PlacedEvent>(filter, range, 'asc', limit, `number as place, ${COLUMNS}`)
      return { events, upTo: events.length < limit ? upTo : (events.at(-1)?.place ?? upTo) }
    },
    place: async (id) => number.get(id) ?? null,
    newest: async (organizationId) => newestOf.get(organizationId) ?? null,
  }

  function end(): number {
    return (newest.get() ?? 0) + 1
  }
}

/** True if the filter selects all events of one organization. */
function isPlain(filter: EventFilter): boolean {
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
