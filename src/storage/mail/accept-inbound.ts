import type { InboundDeliveryStatus, InboundMessage } from '../../model/inbound-message.ts'
import { dayOf, type LimitReached, monthOf } from '../../model/limits.ts'
import { inboundEvent } from '../../model/on-demand-event.ts'
import { inboundStoredBytes } from '../../model/stored-bytes.ts'
import type { Work } from '../sql.ts'
import type { AcceptedInbound, AcceptedMessage } from '../store.ts'
import { addAll } from './accept.ts'
import { lockAnswered } from './answered.ts'
import { firstPart, isLong, ownAll } from './contents.ts'
import { insertInto, writeAll, writeEach, writing } from './each.ts'
import { appendAll, isNamed, type NewEvent } from './events.ts'
import { openCount, readInboundLimits } from './inbound-limits.ts'
import { ADD_INBOUND_DELIVERIES, type NewInboundDelivery, newInboundDelivery } from './inbound-posts.ts'
import { addressesOf, type InboundAddress, packNotForwarded } from './inbound-rows.ts'
import type { MailInside } from './inside.ts'

interface RawRow {
  number: number
  raw: Uint8Array
  parsed: Uint8Array
}

interface MessageRow {
  number: number
  message: InboundMessage
  rawNumber: number
  deliveryStatus: InboundDeliveryStatus | null
}

const ADD_RAWS = insertInto<RawRow>('inbound_raws', {
  number: ['bigint', ({ number }) => number],
  parsed: ['bytea', ({ parsed }) => firstPart(parsed)],
  raw: ['bytea', ({ raw }) => firstPart(raw)],
})
const ADD_MESSAGES = insertInto<MessageRow>('inbound_messages', {
  number: ['bigint', ({ number }) => number],
  id: ['text', ({ message }) => message.id],
  organization_id: ['text', ({ message }) => message.organizationId],
  domain_id: ['text', ({ message }) => message.domainId],
  route_id: ['text', ({ message }) => message.routeId ?? ''],
  action: ['text', ({ message }) => message.action],
  received_at: ['bigint', ({ message }) => message.receivedAt],
  return_path: ['text', ({ message }) => message.returnPath],
  sender: ['text', ({ message }) => message.from],
  recipients: ['text', ({ message }) => JSON.stringify(message.to)],
  subject: ['text', ({ message }) => message.subject],
  message_id_header: ['text', ({ message }) => message.messageIdHeader],
  size_bytes: ['bigint', ({ message }) => message.sizeBytes],
  sender_ip: ['text', ({ message }) => message.senderIp],
  helo: ['text', ({ message }) => message.helo],
  tls: ['text', ({ message }) => message.tls],
  spf: ['text', ({ message }) => message.verdicts.spf],
  dkim: ['text', ({ message }) => message.verdicts.dkim],
  dmarc: ['text', ({ message }) => message.verdicts.dmarc],
  arc: ['text', ({ message }) => message.verdicts.arc],
  parse_error: ['text', ({ message }) => message.parseError],
  forwarded_as: ['text', ({ message }) => message.forwardedAs],
  not_forwarded: ['text', ({ message }) => packNotForwarded(message)],
  in_reply_to: ['text', ({ message }) => message.inReplyTo],
  auto_submitted: ['boolean', ({ message }) => message.autoSubmitted],
  raw_number: ['bigint', ({ rawNumber }) => rawNumber],
  delivery_status: ['text', ({ deliveryStatus }) => deliveryStatus],
})
interface AddressRow extends InboundAddress {
  organizationId: string
  messageNumber: number
}

const ADD_ADDRESSES = insertInto<AddressRow>('inbound_addresses', {
  organization_id: ['text', ({ organizationId }) => organizationId],
  field: ['text', ({ field }) => field],
  address: ['text', ({ address }) => address],
  message_number: ['bigint', ({ messageNumber }) => messageNumber],
})

/** Writes mails with everything that belongs to them → the answer to each, in order: `accepted`, or the limit of an
 *  organization that refuses it. */
export function* acceptInbound(
  inside: MailInside,
  mails: readonly AcceptedInbound[],
): Work<('accepted' | LimitReached)[]> {
  const limitOf = yield* readInboundLimits(inside, mails)
  const answers = mails.map((mail) => limitOf(mail) ?? 'accepted')
  yield* addInbound(
    inside,
    mails.filter((_, at) => answers[at] === 'accepted'),
  )
  return answers
}

function* addInbound(inside: MailInside, mails: readonly AcceptedInbound[]): Work<void> {
  const raws: RawRow[] = []
  const messages: MessageRow[] = []
  const addresses: AddressRow[] = []
  const deliveries: NewInboundDelivery[] = []
  const forwards: AcceptedMessage[] = []
  const events: NewEvent[] = []
  const replies = mails.flatMap(({ taken }) => taken.filter(({ replied }) => replied != null))
  const answered = yield* lockAnswered(replies.flatMap(({ message }) => message.inReplyTo ?? []))
  for (const { raw, parsed, attachments, taken } of mails) {
    const rawNumber = inside.next('inbound_raws')
    raws.push({ number: rawNumber, raw, parsed })
    for (const { message, deliveryId, forward, replied } of taken) {
      const { organizationId, routeId, receivedAt } = message
      const number = inside.next('inbound_messages')
      inside.stored('inbound', number, organizationId, inboundStoredBytes(message.sizeBytes))
      const delivery =
        deliveryId === null || routeId === null
          ? null
          : newInboundDelivery(inside, { id: deliveryId, messageNumber: number, routeId, at: receivedAt })
      if (delivery !== null) deliveries.push(delivery)
      messages.push({ number, message, rawNumber, deliveryStatus: delivery?.status ?? null })
      for (const { field, address } of addressesOf(message))
        addresses.push({ organizationId, field, address, messageNumber: number })
      if (isNamed(inside, organizationId, 'inbound.received'))
        events.push({ offered: inboundEvent(message, attachments) })
      const mxHost = answered.get(message.inReplyTo ?? '')
      if (replied != null && mxHost !== undefined)
        events.push({ event: replied.event, how: { templateId: replied.templateId, mxHost } })
      if (forward === null) continue
      forwards.push(forward)
      const count = openCount(forward)
      if (count === 0) continue
      inside.use(organizationId, 'forwards', count, dayOf(receivedAt))
      inside.use(organizationId, 'volume', count, monthOf(receivedAt))
    }
  }
  yield* writeEach(ADD_RAWS, raws)
  for (const kind of ['parsed', 'raw'] as const) {
    const long = raws.filter((row) => isLong({ content: row[kind] }))
    const owners = long.map((row) => ({ number: row.number, content: row[kind] }))
    if (owners.length > 0) yield* ownAll(inside, kind, owners)
  }
  yield* writeAll(
    writing(ADD_MESSAGES, messages),
    writing(ADD_ADDRESSES, addresses),
    writing(ADD_INBOUND_DELIVERIES, deliveries),
  )
  if (events.length > 0) yield* appendAll(inside, events)
  if (forwards.length > 0) yield* addAll(inside, forwards)
}
