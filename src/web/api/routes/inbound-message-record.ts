import { iso } from '../../../model/event.ts'
import type { InboundDelivery, InboundDeliveryStatus, InboundMessage } from '../../../model/inbound-message.ts'
import type { MessageStatus } from '../../../model/message.ts'
import type { Store } from '../../../storage/store.ts'
import { postAttemptRecord } from './webhook-deliveries.ts'

/** Status of an inbound message. `stored`: it has no delivery. */
export type InboundStatus = InboundDeliveryStatus | 'stored'

/** Message → its status. For a webhook route it is the status of the latest delivery; for a forward it follows from the
 *  outbound message, where a partial delivery or a deleted message counts as `failed`. Rejects with the error of the
 *  store. */
export async function inboundStatus(
  message: InboundMessage,
  store: Pick<Store, 'inboundDeliveries' | 'messages'>,
): Promise<InboundStatus> {
  switch (message.action) {
    case 'store':
      return 'stored'
    case 'webhook':
      return (await store.inboundDeliveries.ofMessage(message.id))[0]?.status ?? 'failed'
    case 'forward': {
      if (message.forwardedAs === null && message.notForwarded.length > 0) return 'stored'
      const outbound = message.forwardedAs === null ? null : await store.messages.get(message.forwardedAs)
      return outbound === null ? 'failed' : FORWARD_STATUS[outbound.status]
    }
  }
}

const FORWARD_STATUS: Record<MessageStatus, InboundStatus> = {
  scheduled: 'pending',
  queued: 'pending',
  deferred: 'pending',
  delivered: 'delivered',
  bounced: 'failed',
  suppressed: 'failed',
  cancelled: 'failed',
  partial: 'failed',
}

/** Message and its status → JSON record for lists. `from` is the address in the header, `return_path` the envelope
 *  sender; both are empty if absent. */
export function inboundRecord(message: InboundMessage, status: InboundStatus) {
  const { verdicts } = message
  return {
    id: message.id,
    route_id: message.routeId,
    domain_id: message.domainId,
    action: message.action,
    status,
    from: message.from,
    to: message.to,
    subject: message.subject,
    message_id: message.messageIdHeader,
    return_path: message.returnPath,
    sender_ip: message.senderIp,
    helo: message.helo,
    tls: message.tls,
    size_bytes: message.sizeBytes,
    spf_result: verdicts.spf,
    dkim_result: verdicts.dkim,
    dmarc_result: verdicts.dmarc,
    arc_result: verdicts.arc,
    parse_error: message.parseError,
    forwarded_as: message.forwardedAs,
    not_forwarded: message.notForwarded,
    created_at: iso(message.receivedAt),
  }
}

/** Delivery to the route's endpoint → its JSON record with all attempts. */
export function deliveryRecord(delivery: InboundDelivery) {
  return {
    id: delivery.id,
    inbound_message_id: delivery.inboundMessageId,
    route_id: delivery.routeId,
    status: delivery.status,
    attempts: delivery.attempts.map(postAttemptRecord),
    next_attempt_at: delivery.nextAttemptAt === null ? null : iso(delivery.nextAttemptAt),
    created_at: iso(delivery.createdAt),
  }
}
