import type { InboundMessage } from '../../model/inbound-message.ts'
import type { LimitReached } from '../../model/limits.ts'
import { inboundEvent } from '../../model/on-demand-event.ts'
import { inboundStoredBytes } from '../../model/stored-bytes.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import { addressesOf, packNotForwarded } from '../inbound-rows.ts'
import type { InboundById } from '../records/inbound.ts'
import type { AcceptedInbound, Inbound } from '../store.ts'
import type { AddMessageInside } from './add-message.ts'
import type { ContentParts } from './content-parts.ts'
import type { Connection } from './driver.ts'
import type { QueueInboundInside } from './inbound-queue.ts'
import type { LargeContents } from './large-contents.ts'
import type { Reader } from './reader.ts'
import type { Reading } from './reading.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const ADD_RAW = 'insert into inbound_raws (parsed, raw) values (?, ?)'
const ADD = `insert into inbound_messages (id, organization_id, domain_id, route_id, action, received_at, return_path,
    sender, recipients, subject, message_id_header, size_bytes, sender_ip, helo, tls, spf, dkim, dmarc, arc,
    parse_error, forwarded_as, not_forwarded, raw_number)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const ADD_ADDRESS = `insert into inbound_addresses (organization_id, field, address, message_number)
  values (?, ?, ?, ?)`
const RAW = `select r.number, r.raw as first from inbound_messages m join inbound_raws r on r.number = m.raw_number
  where m.id = ?`
const PARSED = `select r.number, r.parsed as first from inbound_messages m join inbound_raws r on r.number = m.raw_number
  where m.id = ?`
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
    reader: Reader
    parts: ContentParts
    large: LargeContents
    queueDelivery: QueueInboundInside
    addMessage: AddMessageInside
    onDemand: OnDemandEvents
    usage: Usage
    storedBytes: StoredBytes
  },
): Omit<Inbound, keyof InboundById> {
  const addRaw = db.prepare(ADD_RAW)
  const rawOf = db.prepare<unknown[], ContentRow>(RAW)
  const parsedOf = db.prepare<unknown[], ContentRow>(PARSED)

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
    list: (filter, page) => inside.reader.ask('inbound', filter.organizationId, filter, page),
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
