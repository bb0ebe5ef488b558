import { isFinal, type MessageStatus } from '../../model/message.ts'
import type { Retention } from '../store.ts'
import { type ContentParts, PART_BYTES } from './content-parts.ts'
import type { Connection } from './driver.ts'
import type { EventKinds } from './event-kinds.ts'
import type { Space } from './space.ts'
import type { Writer } from './writer.ts'

// In the order of acceptance, so that what is old comes first; what is still open is stepped over once a pass.
const MESSAGES = `select number, organization_id as organizationId, status, tags, created_at as createdAt,
    size_bytes as sizeBytes, max(created_at, coalesce(scheduled_at, 0)) as at
  from messages where organization_id = ? and number > ? order by number limit ?`
const KEEP_UNSUBSCRIBABLE = `insert into unsubscribables (delivery_id, organization_id, domain_id, message_id, sender,
    email, sent_at)
  select d.id, m.organization_id, m.domain_id, m.id, m.sender, d.email, d.last_attempt_at
  from messages m join deliveries d on d.message_number = m.number
  where m.number = ? and m.unsubscribe = 1 and m.mode = 'live' and d.unsubscribed_at is null and d.last_attempt_at >= ?
  on conflict do nothing`
const UNTAG = 'delete from message_tags where organization_id = ? and tag = ? and message_number = ?'
const UNINDEX = 'delete from message_search where rowid = ?'
const REMOVE_MESSAGE = 'delete from messages where number = ?'

const EVENTS = `select number, created_at as at from events
  where organization_id = ? and created_at < ? order by created_at limit ?`
const REMOVE_EVENT = 'delete from events where number = ?'

const INBOUND = `select number, received_at as createdAt, received_at as at, delivery_status as status,
    size_bytes as sizeBytes, raw_number as rawNumber
  from inbound_messages where organization_id = ? and number > ? order by number limit ?`
const REMOVE_INBOUND = 'delete from inbound_messages where number = ?'
const REMOVE_RAW = `delete from inbound_raws
  where number = ? and not exists (select 1 from inbound_messages where raw_number = inbound_raws.number)`

const PRUNE_UNSUBSCRIBABLES = `delete from unsubscribables where delivery_id in (
    select delivery_id from unsubscribables where sent_at < ? limit ?)`

/** Records looked at in one go, and so the most that one transaction removes, should the caller's time stand still. */
const SLICE = 100
/** Of content in one transaction: only the commit, which the caller's time does not see, writes its blank pages. */
const SLICE_BYTES = 2 * PART_BYTES
/** Messages taken out of the search index before it is merged, which steps over them in one go: two milliseconds. */
const UNINDEXED_MAX = 4096

/** What the plans no longer keep, taken away in small steps.
 *
 *  Twice     harmless: what is gone is not found again.
 *  Cut off   a message goes with all that belongs to it in one transaction; the next pass begins anew.
 *  Left      what is open (it goes once it is over), statistics, volumes, suppressions, alerts.
 *  Events    go by their own age: of a message opened after a year its opening is still told of. */
export function sqliteRetention(
  db: Connection,
  writer: Writer,
  { parts, space, kinds }: { parts: ContentParts; space: Space; kinds: EventKinds },
): Retention {
  const messages = db.prepare(MESSAGES)
  const keepUnsubscribable = db.prepare(KEEP_UNSUBSCRIBABLE)
  const untag = db.prepare(UNTAG)
  const unindex = db.prepare(UNINDEX)
  const removeMessage = db.prepare(REMOVE_MESSAGE)
  const events = db.prepare(EVENTS)
  const removeEvent = db.prepare(REMOVE_EVENT)
  const inbound = db.prepare(INBOUND)
  const removeInbound = db.prepare(REMOVE_INBOUND)
  const removeRaw = db.prepare(REMOVE_RAW)
  const pruneUnsubscribables = db.prepare(PRUNE_UNSUBSCRIBABLES)

  /** How far the present pass over an organization has come; the order of kinds is that of the walks. */
  const places = new Map<string, Place>()

  const messageWalk: Walk = (request, after) => {
    const rows = messages.all(request.organizationId, after, SLICE) as MessageRow[]
    return {
      isEnd: rows.length < SLICE || rows.every(({ createdAt }) => createdAt >= request.before),
      records: rows.map((row) => ({
        number: row.number,
        remove:
          row.at >= request.before || !isOver(row.status)
            ? null
            : () => {
                keepUnsubscribable.run(row.number, request.unsubscribableSince)
                for (const tag of JSON.parse(row.tags) as string[]) untag.run(row.organizationId, tag, row.number)
                unindex.run(row.number)
                unindexed++
                parts.letGo('content', row.number)
                removeMessage.run(row.number)
                return row.sizeBytes
              },
      })),
    }
  }
  const eventWalk: Walk = (request) => {
    const rows = events.all(request.organizationId, request.before, SLICE) as { number: number }[]
    const remove = (number: number) => () => {
      removeEvent.run(number)
      return 0
    }
    const records = rows.map(({ number }) => ({ number, remove: remove(number) }))
    return { isEnd: rows.length < SLICE, records }
  }
  const kindWalk: Walk = ({ organizationId }) => {
    const ranges = kinds.emptied(organizationId, SLICE)
    const remove = (range: number) => () => {
      kinds.remove(organizationId, range)
      return 0
    }
    return { isEnd: ranges.length < SLICE, records: ranges.map((range) => ({ number: range, remove: remove(range) })) }
  }
  const inboundWalk: Walk = (request, after) => {
    const rows = inbound.all(request.organizationId, after, SLICE) as InboundRow[]
    return {
      isEnd: rows.length < SLICE || rows.every(({ createdAt }) => createdAt >= request.before),
      records: rows.map(({ number, at, status, rawNumber, sizeBytes }) => ({
        number,
        remove:
          at >= request.before || status === 'pending'
            ? null
            : () => {
                removeInbound.run(number)
                if (rawNumber === null || removeRaw.run(rawNumber).changes === 0) return 0
                parts.letGo('parsed', rawNumber)
                parts.letGo('raw', rawNumber)
                return 2 * sizeBytes
              },
      })),
    }
  }
  /** Since the search index was merged. */
  let unindexed = 0
  const walks = [messageWalk, eventWalk, kindWalk, inboundWalk]

  /** One slice of what comes at `place` → where to go on; null when the organization is through. */
  const step = (request: Request, { walk, after }: Place): Place | null => {
    if (parts.removeSome(request.timeIsUp)) return { walk, after }
    if (unindexed >= UNINDEXED_MAX) {
      if (space.mergeSearch(request.timeIsUp)) return { walk, after }
      unindexed = 0
    }
    if (walk === walks.length) return null
    const { records, isEnd } = walks[walk]!(request, after)
    let bytes = 0
    for (const { number, remove } of records) {
      if (remove === null) continue
      bytes += remove()
      if (request.timeIsUp() || bytes >= SLICE_BYTES) return { walk, after: number }
    }
    if (!isEnd) return { walk, after: records.at(-1)!.number }
    return { walk: walk + 1, after: 0 }
  }

  return {
    remove: async (request) => {
      const place = places.get(request.organizationId) ?? { walk: 0, after: 0 }
      const next = await writer.write(() => {
        request.timeIsUp()
        return step(request, place)
      })
      space.copyLog()
      if (next === null) places.delete(request.organizationId)
      else places.set(request.organizationId, next)
      return next !== null
    },
    pruneUnsubscribables: (before, limit) => writer.write(() => pruneUnsubscribables.run(before, limit).changes),
    giveBack: async (timeIsUp) => {
      const isMore = await writer.write(() => {
        timeIsUp()
        return space.giveBack(timeIsUp)
      })
      space.copyLog()
      return isMore
    },
    truncateLog: async () => space.truncateLog(),
  }
}

type Request = Parameters<Retention['remove']>[0]

/** Records in their order, from the one after `after` on; removing one tells how long its content was, at most. */
type Walk = (
  request: Request,
  after: number,
) => { records: { number: number; remove: (() => number) | null }[]; isEnd: boolean }

interface Place {
  walk: number
  after: number
}

const isOver = (status: MessageStatus) => status === 'partial' || isFinal(status)

interface MessageRow {
  number: number
  organizationId: string
  status: MessageStatus
  tags: string
  sizeBytes: number
  createdAt: number
  /** When it was due. */
  at: number
}

interface InboundRow {
  number: number
  createdAt: number
  at: number
  status: string | null
  sizeBytes: number
  rawNumber: number | null
}
