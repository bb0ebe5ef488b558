import type { InboundDeliveryStatus, InboundMessage } from '../../model/inbound-message.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { AcceptedMessage } from './messages.ts'
import type { Page, PageRequest, TimeRange } from './paging.ts'

/** One mail from the world with everything that becomes true when it is taken. */
export interface AcceptedInbound {
  /** As mail/inbound-content.ts packs them; stored once for all messages. */
  raw: Uint8Array
  parsed: Uint8Array
  taken: {
    message: InboundMessage
    /** Id of the webhook delivery that is owed, due at once; null for other actions. */
    deliveryId: string | null
    /** The outbound message it becomes. Its recipients count against the month's volume and the forwards of the day. */
    forward: AcceptedMessage | null
  }[]
}

export interface InboundFilter extends TimeRange {
  organizationId: string
  routeId: string | null
  domainId: string | null
  /** Addresses, compared without case. */
  from: string | null
  to: string | null
  status: InboundDeliveryStatus | null
}

export interface Inbound {
  /** A limit when one of the organizations may not store more, or not forward to so many more: nothing is written then. */
  accept(accepted: AcceptedInbound): Promise<'accepted' | LimitReached>
  get(id: string): Promise<InboundMessage | null>
  list(filter: InboundFilter, page: PageRequest): Promise<Page<InboundMessage>>
  /** Null once retention has dropped it. */
  raw(id: string): Promise<Uint8Array | null>
  parsed(id: string): Promise<Uint8Array | null>
}
