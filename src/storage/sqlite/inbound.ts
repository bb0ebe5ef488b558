import type { InboundMessage } from '../../model/inbound-message.ts'
import type { LimitReached } from '../../model/limits.ts'
import { inboundEvent } from '../../model/on-demand-event.ts'
import { inboundStoredBytes } from '../../model/stored-bytes.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import {
  addressesOf,
  type InboundAddress,
  type InboundRow,
  packNotForwarded,
  requestedAddresses,
  toInboundMessage,
} from '../inbound-rows.ts'
import { toPage } from '../page.ts'
import { MOST_SEARCHED } from '../roles/inbound.ts'
import type { AcceptedInbound, Inbound, InboundFilter } from '../store.ts'
import type { AddMessageInside } from './add-message.ts'
import type { ContentParts } from './content-parts.ts'
import type { Connection } from './driver.ts'
import type { QueueInboundInside } from './inbound-queue.ts'
import type { LargeContents } from './large-contents.ts'
import { type Condition, when } from './page.ts'
import type { Reading } from './reading.ts'
import { joined, sliced, type Walk, walkSlices } from './slices.ts'
import type { StoredBytes } from './stored-bytes.ts'
import { numbersOf } from './times.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

export const INBOUND_COLUMNS = `m.id, m.organization_id as organizationId, m.domain_id as domainId,
  nullif(m.route_id, '') as routeId, m.action, m.received_at as receivedAt, m.return_path as returnPath, m.sender as "from",
  m.recipients, m.subject, m.message_id_header as messageIdHeader, m.size_bytes as sizeBytes, m.sender_ip as senderIp,
  m.helo, m.tls, m.spf, m.dkim, m.dmarc, m.arc, m.parse_error as parseError, m.forwarded_as as forwardedAs,
  m.not_forwarded as notForwarded`
const ADD_RAW = 'insert into inbound_raws (parsed, raw) values (?, ?)'
const ADD = `insert into inbound_messages (id, organization_id, domain_id, route_id, action, received_at, return_path,
    sender, recipients, subject, message_id_header, size_bytes, sender_ip, helo, tls, spf, dkim, dmarc, arc,
    parse_error, forwarded_as, not_forwarded, raw_number)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const ADD_ADDRESS = `insert into inbound_addresses (organization_id, field, address, message_number)
  values (?, ?, ?, ?)`
const GET = `select ${INBOUND_COLUMNS} from inbound_messages m where m.id = ?`
const EXISTING = 'select id from inbound_messages where id in (select value from json_each(?))'
const RAW = `select r.number, r.raw as first from inbound_messages m join inbound_raws r on r.number = m.raw_number
  where m.id = ?`
const PARSED = `select r.number, r.parsed as first from inbound_messages m join inbound_raws r on r.number = m.raw_number
  where m.id = ?`
const NUMBER = 'select number from inbound_messages where id = ?'
// For a cursor whose record retention has removed: continues with everything older than the time in its ID.
const NUMBER_NEAR = 'select number + 1 from inbound_messages where id < ? order by id desc limit 1'
const NEWEST = 'select max(number) from inbound_messages'
const OLDEST_SEARCHED = `select number from inbound_messages indexed by inbound_messages_of_organization
  where organization_id = ? order by number desc limit 1 offset ${MOST_SEARCHED - 1}`
const TIME_FROM = `select received_at from inbound_messages where organization_id = ? and number >= ?
  order by number limit 1`

/** Number of a message, and the first part of its content. */
interface ContentRow {
  number: number
  first: Uint8Array
}

export function sqliteInbound(
  db: Connection,
  writer: Writer,
  inside: {
    reading: Reading
    parts: ContentParts
    large: LargeContents
    queueDelivery: QueueInboundInside
    addMessage: AddMessageInside
    onDemand: OnDemandEvents
    usage: Usage
    storedBytes: StoredBytes
  },
): Inbound {
  const addRaw = db.prepare(ADD_RAW)
  const get = db.prepare<unknown[], InboundRow>(GET)
  const existing = db.prepare<unknown[], string>(EXISTING).pluck()
  const rawOf = db.prepare<unknown[], ContentRow>(RAW)
  const parsedOf = db.prepare<unknown[], ContentRow>(PARSED)
  const number = db.prepare<unknown[], number>(NUMBER).pluck()
  const numberNear = db.prepare<unknown[], number>(NUMBER_NEAR).pluck()
  const newest = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const oldestSearched = db.prepare<unknown[], number>(OLDEST_SEARCHED).pluck()
  const timeFrom = db.prepare<unknown[], number>(TIME_FROM).pluck()

  const addMessage = addInboundInside(db, inside.storedBytes)

  const wholeOf = async (kind: 'raw' | 'parsed', found: ContentRow | undefined) =>
    found === undefined ? null : inside.parts.wholeInTurns(kind, found.number, found.first)

  return {
    accept: ({ raw, parsed, attachments, taken }) => {
      const forwards = taken.flatMap(({ forward }) => (forward === null ? [] : [forward.content]))
      const refusal = () => limitReached(taken, inside)
      const take = () =>
        writer.write(() => {
          const limit = refusal()
          if (limit !== null) return limit
          const { parts, onDemand } = inside
          const { lastInsertRowid: rawNumber } = addRaw.run(parts.first(parsed), parts.first(raw))
          parts.addRest('parsed', rawNumber, parsed)
          parts.addRest('raw', rawNumber, raw)
          for (const { message, deliveryId, forward } of taken) {
            const messageNumber = addMessage(message, rawNumber)
            const { routeId } = message
            if (deliveryId !== null && routeId !== null) {
              inside.queueDelivery({ id: deliveryId, messageNumber, routeId }, message.receivedAt)
            }
            onDemand.offer(inboundEvent(message, attachments))
            if (forward === null) continue
            inside.usage.addForwards(message.organizationId, openCount(forward), message.receivedAt)
            inside.addMessage(forward)
          }
          return 'accepted' as const
        })
      return inside.large.ahead<Awaited<ReturnType<typeof take>>>([parsed, raw, ...forwards], take, refusal)
    },
    get: async (id) => {
      const row = get.get(id)
      return row === undefined ? null : toInboundMessage(row)
    },
    list: async (filter, page) => {
      const end = page.after === null ? undefined : (number.get(page.after) ?? numberNear.get(page.after) ?? 0)
      const oldest = filter.part == null ? 0 : (oldestSearched.get(filter.organizationId) ?? 0)
      const known = { low: oldest, high: Math.max(oldest, end ?? (newest.get() ?? 0) + 1) }
      const { low, high } = numbersOf(filter, known, (from) => timeFrom.get(filter.organizationId, from))
      const addresses = requestedAddresses(filter)
      const conditions = joined(conditionsOf(filter, addresses))
      const step = sliced<InboundRow, number>(db, walkOf(filter, addresses), INBOUND_COLUMNS, conditions, low)
      return toPage(await walkSlices(step, high, page.limit + 1), page, toInboundMessage)
    },
    existing: async (ids) => new Set(existing.all(JSON.stringify(ids))),
    raw: async (id) => wholeOf('raw', rawOf.get(id)),
    parsed: async (id) => {
      inside.reading.begin() // webhook deliveries of one turn read their mails together
      return wholeOf('parsed', parsedOf.get(id))
    },
  }
}

/** Returns a function that writes a message for its stored mail and returns its number, inside the change that
 *  accepts it. */
function addInboundInside(
  db: Connection,
  storedBytes: StoredBytes,
): (message: InboundMessage, rawNumber: number | bigint) => number | bigint {
  const add = db.prepare(ADD)
  const addAddress = db.prepare(ADD_ADDRESS)
  return (message, rawNumber) => {
    const { lastInsertRowid } = add.run(
      message.id,
      message.organizationId,
      message.domainId,
      message.routeId ?? '',
      message.action,
      message.receivedAt,
      message.returnPath,
      message.from,
      JSON.stringify(message.to),
      message.subject,
      message.messageIdHeader,
      message.sizeBytes,
      message.senderIp,
      message.helo,
      message.tls,
      message.verdicts.spf,
      message.verdicts.dkim,
      message.verdicts.dmarc,
      message.verdicts.arc,
      message.parseError,
      message.forwardedAs,
      packNotForwarded(message),
      rawNumber,
    )
    const { organizationId, sizeBytes } = message
    storedBytes.change('inbound', lastInsertRowid, organizationId, inboundStoredBytes(sizeBytes))
    for (const { field, address } of addressesOf(message)) {
      addAddress.run(organizationId, field, address, lastInsertRowid)
    }
    return lastInsertRowid
  }
}

/** The limit of an organization that the mail exceeds, for storage or forwards; null if there is none. */
function limitReached(
  taken: AcceptedInbound['taken'],
  { usage, storedBytes }: { usage: Usage; storedBytes: StoredBytes },
): LimitReached | null {
  const forwards = new Map<string, number>()
  for (const { message, forward } of taken) {
    const { organizationId, receivedAt } = message
    const plan = usage.planOf(organizationId)
    if (storedBytes.isFull(organizationId, plan)) {
      const used = storedBytes.used(organizationId)
      return { kind: 'limit', name: 'stored_bytes', limit: plan.storedBytes, used }
    }
    if (forward === null) continue
    const count = (forwards.get(organizationId) ?? 0) + openCount(forward)
    forwards.set(organizationId, count)
    const limit = usage.forwardsReached(organizationId, count, receivedAt)
    if (limit !== null) return limit
  }
  return null
}

/** Recipients of a message that will be tried. */
function openCount({ deliveries }: NonNullable<AcceptedInbound['taken'][number]['forward']>): number {
  return deliveries.filter(({ nextAttemptAt }) => nextAttemptAt !== null).length
}

function conditionsOf(filter: InboundFilter, addresses: InboundAddress[]): Condition[] {
  return [
    { sql: 'm.organization_id = ?', values: [filter.organizationId] },
    ...when(filter.routeId, 'm.route_id = ?'),
    ...when(filter.domainId, 'm.domain_id = ?'),
    ...when(filter.status, 'm.delivery_status = ?'),
    ...addresses.slice(1).map(({ field, address }) => ({
      sql: `exists (select 1 from inbound_addresses o
        where o.organization_id = ? and o.field = ? and o.address = ? and o.message_number = m.number)`,
      values: [filter.organizationId, field, address],
    })),
    ...when(
      filter.part == null ? null : suppressionKey(filter.part),
      'exists (select 1 from inbound_addresses p where p.message_number = m.number and instr(p.address, ?) > 0)',
    ),
    ...when(filter.createdAfter, 'm.received_at >= ?'),
    ...when(filter.createdBefore, 'm.received_at < ?'),
  ]
}

/** Uses the narrowest index: one address, one route, one status, one domain, or the organization. By itself SQLite
 *  would use the organization, whose index also has the order of the page. */
function walkOf(filter: InboundFilter, [narrowest]: InboundAddress[]): Walk {
  const { organizationId, routeId, status, domainId } = filter
  if (narrowest !== undefined) {
    return {
      walked: 'inbound_addresses a',
      join: 'cross join inbound_messages m on m.number = a.message_number',
      key: 'a.message_number',
      sql: 'a.organization_id = ? and a.field = ? and a.address = ?',
      values: [organizationId, narrowest.field, narrowest.address],
    }
  }
  const by = (index: string, sql: string, ...values: unknown[]): Walk => ({
    walked: `inbound_messages m indexed by inbound_messages_${index}`,
    join: '',
    key: 'm.number',
    sql,
    values,
  })
  if (routeId !== null) return by('of_route', 'm.route_id = ?', routeId)
  if (status !== null) return by('by_status', 'm.organization_id = ? and m.delivery_status = ?', organizationId, status)
  if (domainId !== null) return by('of_domain', 'm.domain_id = ?', domainId)
  return by('of_organization', 'm.organization_id = ?', organizationId)
}
