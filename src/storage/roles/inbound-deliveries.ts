import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { InboundDelivery, InboundDeliveryStatus, InboundMessage } from '../../model/inbound-message.ts'
import type { PostAttempt } from '../../model/post-attempt.ts'
import type { ClaimQueue } from './claims.ts'

/** A claimed inbound delivery: its next attempt is counted and may start. */
export interface ClaimedInboundDelivery {
  id: string
  message: InboundMessage
  /** The current route, not the one at the time of the mail. */
  route: {
    id: string
    url: string
    includeAttachments: boolean
    replies: boolean
    secret: string
    headers: EndpointHeaders
  }
  attempt: number
  worker: string
}

/** The keys of this queue are routes. Deliveries of routes that are disabled, or whose action is no longer webhook,
 *  wait. */
export interface InboundDeliveries extends ClaimQueue<ClaimedInboundDelivery> {
  record(record: {
    deliveryId: string
    worker: string
    attempt: PostAttempt
    status: InboundDeliveryStatus
    nextAttemptAt: number | null
    now: number
  }): Promise<'recorded' | 'lease_lost'>
  /** Newest first. */
  ofMessage(inboundMessageId: string): Promise<InboundDelivery[]>
  /** Creates a new delivery of the message with five attempts, due at once; `under_way` while one is pending,
   *  `limit` after FIXED_LIMITS.redeliveries. */
  redeliver(inboundMessageId: string, deliveryId: string, now: number): Promise<'queued' | 'under_way' | 'limit'>
}
