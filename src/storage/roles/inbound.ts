import type { Domain } from '../../model/domain.ts'
import type { Event } from '../../model/event.ts'
import type {
  AnsweredMessage,
  InboundAttachments,
  InboundDeliveryStatus,
  InboundMessage,
} from '../../model/inbound-message.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Page, PageRequest, TimeRange } from '../page.ts'
import type { AcceptedMessage } from './messages.ts'

/** An accepted inbound mail with everything that is written with it. */
export interface AcceptedInbound {
  /** Packed by mail/inbound-content.ts; stored once for all messages. */
  raw: Uint8Array
  parsed: Uint8Array
  /** For its events; absent = it has none. */
  attachments?: InboundAttachments
  taken: {
    message: InboundMessage
    /** ID of the resulting webhook delivery, due at once; null for other actions. */
    deliveryId: string | null
    /** The outbound message that forwards it. Its recipients count towards the monthly volume and the daily
     *  forwards. */
    forward: AcceptedMessage | null
    /** Reports the answer to a message, which has the template. Absent or null: it is none. */
    replied?: { event: Event; templateId: string | null } | null
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
  /** Part of an address, compared without case, among the newest MOST_SEARCHED messages of the organization. */
  part?: string | null
}

/** Messages of an organization that a search by a part of an address reads: no index finds the middle of a text. */
export const MOST_SEARCHED = 50_000

export interface Inbound {
  /** Writes the mail, with an event for each message that an active webhook receives. Returns a limit if one of the
   *  organizations may not store or forward this much more; then nothing is written. */
  accept(accepted: AcceptedInbound): Promise<'accepted' | LimitReached>
  get(id: string): Promise<InboundMessage | null>
  list(filter: InboundFilter, page: PageRequest): Promise<Page<InboundMessage>>
  /** Null if retention has removed it. */
  raw(id: string): Promise<Uint8Array | null>
  parsed(id: string): Promise<Uint8Array | null>
  /** The message of a delivery; null if it is not the organization's, is test mail, or was erased or removed. */
  answered(deliveryId: string, organizationId: string): Promise<AnsweredMessage | null>
  /** The first of the Message-IDs (with angle brackets) that was sent from the domain, and its recipient with the address
   *  `from`, else its first one. Null if it sent none of them, or only in test mode. At most MOST_ANSWERED. Who sends from
   *  another domain of the organization may have used the same Message-ID. */
  findAnswered(
    domain: Pick<Domain, 'id' | 'organizationId'>,
    messageIds: readonly string[],
    from: string,
  ): Promise<AnsweredMessage | null>
  /** Those of the IDs that an inbound message has, also of other organizations. */
  existing(ids: readonly string[]): Promise<Set<string>>
}
