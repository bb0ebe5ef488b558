import type { Attempt, BounceType, Delivery, RecipientType } from '../../model/delivery.ts'
import type { Event } from '../../model/event.ts'
import type { Remember } from '../../model/idempotency.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { DeliveryStatus, Message, MessageStatus, Mode } from '../../model/message.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { Page, PageRequest, TimeRange } from '../page.ts'

/** An accepted message with everything that is written with it. */
export interface AcceptedMessage {
  message: Message
  /** Pool of sending addresses that the operator assigned; absent: none. */
  pool?: string
  /** The sending domain, if a relay rule names it. */
  relayedDomain?: string
  /** Packed by mail/content.ts. */
  content: Uint8Array
  deliveries: NewDelivery[]
  /** Attempts of completed deliveries: simulated outcomes of test mail. */
  attempts: { deliveryId: string; attempt: Attempt }[]
  events: Event[]
  suppressions: Suppression[]
  /** Time from the end of the last delivery until its content is removed; absent: retention removes it. */
  redactAfterMs?: number
}

export interface NewDelivery {
  id: string
  position: number
  email: string
  type: RecipientType
  /** Destination whose connections it uses: the recipient's domain, or SANDBOX for test mail. */
  destination: string
  status: DeliveryStatus
  /** Null if no attempt follows. */
  nextAttemptAt: number | null
  attempts: number
  lastAttemptAt: number | null
  deliveredAt: number | null
  smtpResponse: string | null
  bounceType: BounceType | null
  bounceCode: string | null
  opens: number
  clicks: number
}

export interface MessageFilter extends TimeRange {
  organizationId: string
  status: MessageStatus | null
  /** Addresses, compared without case. */
  to: string | null
  from: string | null
  /** Part of the subject, compared without case. */
  subject: string | null
  tag: string | null
  metadata: { key: string; value: string }[]
  templateId: string | null
  domainId: string | null
  mode: Mode | null
  /** Name of a stream. */
  stream?: string | null
  /** Words that must all occur in subject or addresses; the last may be a prefix. */
  text: string | null
  /** One message. */
  id?: string | null
  /** With angle brackets, byte for byte. */
  messageIdHeader?: string | null
}

/** `request`: somebody asked for it. `erasure`: it named an erased recipient. `stream`: the rule of its stream. */
export type RemovalReason = 'request' | 'erasure' | 'stream'

export interface ContentRemoval {
  /** Milliseconds UTC. */
  removedAt: number
  reason: RemovalReason
}

/** How long the removal of a stream's content waits before it looks again at a message with an open delivery. */
export const REDACTION_PAUSE_MS = 10 * 60_000

export interface Messages {
  /** Writes all messages, the volume and the idempotency record in one transaction, with an event of the acceptance of each
   *  recipient that an active webhook receives. `volume_exceeded` if the monthly
   *  volume would exceed `volume.limit` (-1 = unlimited), a limit if the messages would exceed another one of the
   *  plan; then nothing is written. */
  accept(
    accepted: AcceptedMessage[],
    volume: { organizationId: string; month: string; count: number; limit: number },
    remember?: Remember,
  ): Promise<{ kind: 'accepted' } | { kind: 'volume_exceeded'; used: number } | LimitReached>
  /** Recipients accepted for live sending in that month, for example `2026-11`. */
  volume(organizationId: string, month: string): Promise<number>
  /** Volume of every month with mail, newest first. */
  volumes(organizationId: string): Promise<{ month: string; accepted: number }[]>
  get(id: string): Promise<Message | null>
  list(filter: MessageFilter, page: PageRequest): Promise<Page<Message>>
  /** Null if it was removed. */
  content(id: string): Promise<Uint8Array | null>
  /** Removes the content of a message whose deliveries have all ended, and gives back its stored bytes; everything else
   *  stays. `invalid_state` while a delivery is open, `gone` if there is no content. */
  removeContent(id: string, reason: RemovalReason, now: number): Promise<'removed' | 'gone' | 'invalid_state'>
  /** When and why the content of a message was removed; null if it is there, or retention removed it. */
  contentRemoval(id: string): Promise<ContentRemoval | null>
  /** Removes the contents whose stream asks for it by `now` (AcceptedMessage.redactAfterMs). Looks at up to `limit`
   *  messages, fewer if they are large, and returns how many; 0 at the end. Messages with an open delivery wait for its
   *  end. */
  redactDue(now: number, limit: number): Promise<number>
  /** Those of the IDs whose message has content, also of other organizations. */
  existing(ids: readonly string[]): Promise<Set<string>>
  /** In the order of the recipients. */
  deliveries(id: string): Promise<Delivery[]>
  /** Of all recipients, oldest first. */
  attempts(id: string): Promise<{ email: string; attempt: Attempt }[]>
  /** Cancels open deliveries, with an event for each that an active webhook receives. `invalid_state` if one delivery is
   *  in progress or was sent, or none is open. */
  cancel(id: string, now: number): Promise<'cancelled' | 'invalid_state'>
  /** Allowed only while every delivery is `scheduled`. */
  reschedule(id: string, at: number, now: number): Promise<'rescheduled' | 'invalid_state'>
}
