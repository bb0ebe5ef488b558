import { isFinal, type MessageStatus } from '../../model/message.ts'
import { INSTALLATION } from '../../model/organization.ts'
import { inboundStoredBytes } from '../../model/stored-bytes.ts'
import type { Retention } from '../store.ts'
import { type ContentParts, PART_BYTES } from './content-parts.ts'
import type { Connection } from './driver.ts'
import type { EventKinds } from './event-kinds.ts'
import { nextTurn } from './page.ts'
import type { Search } from './search.ts'
import type { Space } from './space.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { Writer } from './writer.ts'

// In order of acceptance, so that the oldest come first; open messages are skipped once per pass.
const MESSAGES = `select number, status, tags, created_at as createdAt, size_bytes as sizeBytes,
    stored_bytes as storedBytes,
    max(created_at, coalesce(scheduled_at, 0)) as at
  from messages where organization_id = ? and number > ? order by number limit ?`
const KEEP_UNSUBSCRIBABLE = `insert into unsubscribables (delivery_id, organization_id, domain_id, message_id, sender,
    email, sent_at, stream)
  select d.id, m.organization_id, m.domain_id, m.id, m.sender, d.email, d.last_attempt_at, m.stream
  from messages m join deliveries d on d.message_number = m.number
  where m.number = ? and m.unsubscribe = 1 and m.mode = 'live' and d.unsubscribed_at is null and d.last_attempt_at >= ?
  on conflict do nothing`
const UNTAG = 'delete from message_tags where organization_id = ? and tag = ? and message_number = ?'
const REMOVE_MESSAGE = 'delete from messages where number = ?'

const EVENTS = `select number from events where organization_id = ? and created_at < ? order by created_at limit ?`
const REMOVE_EVENT = 'delete from events where number = ?'
const REMOVE_DELIVERIES = `delete from webhook_deliveries where number in (
    select number from webhook_deliveries where event_number = ? limit ?)`

const INBOUND = `select number, received_at as receivedAt, delivery_status as status, size_bytes as sizeBytes,
    raw_number as rawNumber
  from inbound_messages where organization_id = ? and number > ? order by number limit ?`
const REMOVE_INBOUND = 'delete from inbound_messages where number = ?'
const REMOVE_RAW = `delete from inbound_raws
  where number = ? and not exists (select 1 from inbound_messages where raw_number = inbound_raws.number)`

/** Tables of reports about domains, with the column that says how old a row is. */
const REPORTS = [
  ['dmarc_sources', 'day'],
  ['tls_results', 'day'],
  ['policy_reports', 'received_at'],
] as const
const reportsBefore = (table: string, column: string) =>
  `select rowid as number from ${table} where organization_id = ? and ${column} < ? order by ${column} limit ?`

const PRUNE_UNSUBSCRIBABLES = `delete from unsubscribables where delivery_id in (
    select delivery_id from unsubscribables where sent_at < ? limit ?)`

/** Records read at once. Records of an organization that sends little are on separate pages, which may have to come
 *  from the disk. Tests change it. */
export const SLICE = 16
/** Most records that one transaction checks, so that it also ends if the caller's clock stands still. */
const LOOKS = 100
/** Records are committed almost in the order of their times. So after this many records in a row that are too young to
 *  be removed, the step ends and does not look for older ones behind them. */
const YOUNG_MAX = 100
/** Most content that one transaction removes. Its pages are overwritten by the commit, whose duration the caller's time
 *  limit does not cover. */
export const SLICE_BYTES = 2 * PART_BYTES
/** Webhook deliveries of one event removed at once: a millisecond. */
const DELIVERIES_MAX = 50

/** Removes what the plans no longer keep, in small steps.
 *
 *  Twice         harmless: removed records are not found again.
 *  Interrupted   a message is removed with all its records in one transaction; the next pass starts over.
 *  Kept          open messages (until they are final), statistics, volumes, suppressions, alerts.
 *  Events        expire by their own age: an opening after a year outlives its message. */
export function sqliteRetention(
  db: Connection,
  writer: Writer,
  {
    parts,
    space,
    search,
    kinds,
    storedBytes,
  }: {
    parts: ContentParts
    space: Space
    search: Search
    kinds: EventKinds
    storedBytes: StoredBytes
  },
): Retention {
  const pruneUnsubscribables = db.prepare(PRUNE_UNSUBSCRIBABLES)

  /** Position of the current pass over an organization; kinds follow the order of the walks. */
  const places = new Map<string, Place>()

  const walks = createWalks(db, { parts, search, kinds, storedBytes })

  /** Removes some records from `place` on → where to continue; null if the organization is done. */
  const step = (request: Request, place: Place): Place | null => {
    if (parts.removeSome(request.timeIsUp)) return place
    const read = walks[place.walk]
    if (read === undefined) return null
    let { walk, after, young } = place
    let bytes = 0
    for (let looks = 0; ; ) {
      const slice = read(request, after)
      for (const { number, isYoung, remove } of slice) {
        after = number
        young = isYoung ? young + 1 : 0
        bytes += remove?.() ?? 0
        looks++
        if (request.timeIsUp() || bytes >= SLICE_BYTES || looks === LOOKS) return { walk, after, young }
      }
      if (slice.length < SLICE || young >= YOUNG_MAX) return { walk: walk + 1, ...START }
    }
  }

  return {
    remove: async (request) => {
      const place = places.get(request.organizationId) ?? { walk: 0, ...START }
      const next = await writer.write(() => {
        request.timeIsUp()
        return step(request, place)
      })
      await nextTurn()
      space.copyLog()
      if (next !== null) places.set(request.organizationId, next)
      else places.delete(request.organizationId)
      // Once a pass, whose last organization this is: a part of the index has messages of all of them.
      while (next === null && request.organizationId === INSTALLATION && (await search.clean()));
      return next !== null
    },
    pruneUnsubscribables: (before, limit) => writer.write(() => pruneUnsubscribables.run(before, limit).changes),
  }
}

/** Other places from which removed records are deleted. */
interface Kept {
  parts: ContentParts
  kinds: EventKinds
  storedBytes: StoredBytes
  search: Search
}

/** The walks of one pass, in order. */
function createWalks(db: Connection, kept: Kept): Walk[] {
  const reports = REPORTS.map(([table, column]) => createReportWalk(db, table, column))
  return [
    createMessageWalk(db, kept),
    createEventWalk(db),
    createKindWalk(kept),
    createInboundWalk(db, kept),
    ...reports,
  ]
}

function createMessageWalk(db: Connection, kept: Kept): Walk {
  const messages = db.prepare<unknown[], MessageRow>(MESSAGES)
  const keepUnsubscribable = db.prepare(KEEP_UNSUBSCRIBABLE)
  const removeMessage = messageRemoval(db, kept)
  return ({ organizationId, before, unsubscribableSince }, after) =>
    messages.all(organizationId, after, SLICE).map((row) => {
      const { number, createdAt, at, status, sizeBytes } = row
      const remove = () => {
        keepUnsubscribable.run(number, unsubscribableSince)
        removeMessage({ ...row, organizationId })
        return sizeBytes
      }
      return { number, isYoung: createdAt >= before, remove: at < before && isOver(status) ? remove : null }
    })
}

/** → What removes a message with everything that belongs to it, except its events, inside a change. */
export function messageRemoval(db: Connection, { parts, storedBytes, search }: Omit<Kept, 'kinds'>) {
  const untag = db.prepare(UNTAG)
  const removeMessage = db.prepare(REMOVE_MESSAGE)
  return (message: { number: number; organizationId: string; tags: string; storedBytes: number }): void => {
    const { number, organizationId, tags } = message
    const ownTags: string[] = JSON.parse(tags)
    for (const tag of ownTags) untag.run(organizationId, tag, number)
    search.note(number)
    parts.letGo('content', number)
    removeMessage.run(number)
    storedBytes.change('messages', number, organizationId, -message.storedBytes)
  }
}

function createEventWalk(db: Connection): Walk {
  const events = db.prepare<unknown[], number>(EVENTS).pluck()
  const removeEvent = eventRemoval(db)
  return ({ organizationId, before }) =>
    events.all(organizationId, before, SLICE).map((number) => {
      const remove = () => {
        removeEvent(number)
        return 0
      }
      return { number, isYoung: false, remove }
    })
}

/** → What removes an event with its webhook deliveries, inside a change: hundreds of webhooks, each with its attempts. An
 *  event that still has some stays: false. */
export function eventRemoval(db: Connection): (number: number) => boolean {
  const removeEvent = db.prepare(REMOVE_EVENT)
  const removeDeliveries = db.prepare(REMOVE_DELIVERIES)
  return (number) => {
    if (removeDeliveries.run(number, DELIVERIES_MAX).changes === DELIVERIES_MAX) return false
    removeEvent.run(number)
    return true
  }
}

function createKindWalk({ kinds }: Kept): Walk {
  return ({ organizationId }) =>
    kinds.emptied(organizationId, SLICE).map((range) => {
      const remove = () => {
        kinds.remove(organizationId, range)
        return 0
      }
      return { number: range, isYoung: false, remove }
    })
}

function createReportWalk(db: Connection, table: string, column: string): Walk {
  const reports = db.prepare<unknown[], number>(reportsBefore(table, column)).pluck()
  const remove = db.prepare(`delete from ${table} where rowid = ?`)
  return ({ organizationId, before }) =>
    reports.all(organizationId, before, SLICE).map((number) => ({
      number,
      isYoung: false,
      remove: () => {
        remove.run(number)
        return 0
      },
    }))
}

function createInboundWalk(db: Connection, kept: Kept): Walk {
  const inbound = db.prepare<unknown[], InboundRow>(INBOUND)
  const removeInbound = inboundRemoval(db, kept)
  return ({ organizationId, before }, after) =>
    inbound.all(organizationId, after, SLICE).map((row) => {
      const { number, receivedAt, status } = row
      const isYoung = receivedAt >= before
      const remove = () => removeInbound({ ...row, organizationId })
      return { number, isYoung, remove: isYoung || status === 'pending' ? null : remove }
    })
}

/** → What removes an inbound message with everything that belongs to it, inside a change → bytes of its content. */
export function inboundRemoval(db: Connection, { parts, storedBytes }: Pick<Kept, 'parts' | 'storedBytes'>) {
  const removeInbound = db.prepare(REMOVE_INBOUND)
  const removeRaw = db.prepare(REMOVE_RAW)
  return (message: { number: number; organizationId: string; rawNumber: number | null; sizeBytes: number }): number => {
    const { number, organizationId, rawNumber, sizeBytes } = message
    removeInbound.run(number)
    storedBytes.change('inbound', number, organizationId, -inboundStoredBytes(sizeBytes))
    if (rawNumber === null || removeRaw.run(rawNumber).changes === 0) return 0
    parts.letGo('parsed', rawNumber)
    parts.letGo('raw', rawNumber)
    return 2 * sizeBytes
  }
}

type Request = Parameters<Retention['remove']>[0]

/** Returns the next slice of records after `after`; removing one returns the maximum size of its content. */
type Walk = (request: Request, after: number) => Found[]

interface Found {
  number: number
  isYoung: boolean
  remove: (() => number) | null
}

interface Place {
  walk: number
  after: number
  /** Number of young ones in a row. */
  young: number
}

const START = { after: 0, young: 0 }

const isOver = (status: MessageStatus) => status === 'partial' || isFinal(status)

interface MessageRow {
  number: number
  status: MessageStatus
  tags: string
  sizeBytes: number
  storedBytes: number
  createdAt: number
  /** When it was due. */
  at: number
}

interface InboundRow {
  number: number
  receivedAt: number
  status: string | null
  sizeBytes: number
  rawNumber: number | null
}
