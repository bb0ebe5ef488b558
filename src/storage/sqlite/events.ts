import type { Event } from '../../model/event.ts'
import type { Events, Followed } from '../store.ts'
import type { Connection } from './driver.ts'
import { EVENT_COLUMNS, isPlain } from './event-list.ts'
import type { AppendInside } from './fan-out.ts'
import type { Reader } from './reader.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

// Query of a live feed at each notification: one organization, all types.
const BEHIND = `select number as place, ${EVENT_COLUMNS} from events indexed by events_of_organization
  where organization_id = ? and number > ? and number <= ? order by number limit ?`
const NEWEST_OF = `select id, number as place from events indexed by events_of_organization
  where organization_id = ? order by number desc limit 1`
const GET = `select ${EVENT_COLUMNS} from events where id = ?`
const NUMBER = 'select number from events where id = ?'
const NEWEST = 'select max(number) from events'

type PlacedEvent = Followed['events'][number]

export function sqliteEvents(
  db: Connection,
  writer: Writer,
  { append, reader, usage }: { append: AppendInside; reader: Reader; usage: Usage },
): Events {
  const get = db.prepare<unknown[], Event>(GET)
  const number = db.prepare<unknown[], number>(NUMBER).pluck()
  const newest = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const behindIn = db.prepare<unknown[], PlacedEvent>(BEHIND)
  const newestOf = db.prepare<unknown[], { id: string; place: number }>(NEWEST_OF)

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
    list: (filter, page) => reader.ask('events', filter.organizationId, filter, page),
    feed: (filter, after, limit) => reader.ask('feed', filter.organizationId, filter, after, limit),
    follow: async (filter, behind, limit) => {
      if (!isPlain(filter)) return reader.ask('follow', filter.organizationId, filter, behind, limit)
      const upTo = newest.get() ?? 0
      const events = behindIn.all(filter.organizationId, behind, upTo, limit)
      return { events, upTo: events.length < limit ? upTo : (events.at(-1)?.place ?? upTo) }
    },
    place: async (id) => number.get(id) ?? null,
    newest: async (organizationId) => newestOf.get(organizationId) ?? null,
  }
}
