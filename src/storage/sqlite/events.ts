import type { Event } from '../../model/event.ts'
import type { EventFilter, Events } from '../store.ts'
import type { Connection } from './driver.ts'
import type { AppendInside } from './fan-out.ts'
import { type Condition, toPage, when } from './page.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, type, organization_id as organizationId, domain_id as domainId, message_id as messageId, mode,
  created_at as createdAt, body`
const GET = `select ${COLUMNS} from events where id = ?`
const NUMBER = 'select number from events where id = ?'
// A cursor whose record retention has dropped: everything older than its id's time goes on.
const NUMBER_NEAR = 'select number + 1 from events where id < ? order by id desc limit 1'

export function sqliteEvents(db: Connection, writer: Writer, append: AppendInside): Events {
  const get = db.prepare(GET)
  const number = db.prepare(NUMBER).pluck()
  const numberNear = db.prepare(NUMBER_NEAR).pluck()

  const query = (conditions: Condition[], order: 'asc' | 'desc', limit: number): Event[] => {
    const sql = `select ${COLUMNS} from events where ${conditions.map((each) => each.sql).join(' and ')}
      order by number ${order} limit ?`
    return db.prepare(sql).all(...conditions.flatMap((each) => each.values), limit) as Event[]
  }

  return {
    append: (events, onlyWebhook) =>
      writer.write(() => {
        for (const event of events) append(event, { onlyWebhook })
      }),
    get: async (id) => (get.get(id) as Event | undefined) ?? null,
    list: async (filter, page) => {
      const before = page.after === null ? null : (number.get(page.after) ?? numberNear.get(page.after) ?? 0)
      const rows = query([...conditions(filter), ...when(before, 'number < ?')], 'desc', page.limit + 1)
      return toPage(rows, page, (row) => row)
    },
    feed: async (filter, after, limit) => {
      const from = after === null ? 0 : number.get(after)
      if (from === undefined) return null
      const rows = query([...conditions(filter), ...when(from, 'number > ?')], 'asc', limit + 1)
      return toPage(rows, { limit, after }, (row) => row)
    },
  }
}

function conditions(filter: EventFilter): Condition[] {
  return [
    { sql: 'organization_id = ?', values: [filter.organizationId] },
    ...when(filter.type, 'type = ?'),
    ...when(filter.messageId, 'message_id = ?'),
    ...when(filter.domainId, 'domain_id = ?'),
    ...when(filter.mode, 'mode = ?'),
    ...when(filter.createdAfter, 'created_at >= ?'),
    ...when(filter.createdBefore, 'created_at < ?'),
  ]
}
