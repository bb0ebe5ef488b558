import type { Attempt, BounceType, Delivery, RecipientType } from '../../model/delivery.ts'
import type { Event } from '../../model/event.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { DeliveryStatus, Message, MessageStatus, Mode } from '../../model/message.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { Remember } from './idempotency.ts'
import type { Page, PageRequest, TimeRange } from './paging.ts'

/** A message as it is accepted, with everything that becomes true in that instant. */
export interface AcceptedMessage {
  message: Message
  /** As mail/content.ts packs it. */
  content: Uint8Array
  deliveries: NewDelivery[]
  /** For what is already over: simulated outcomes of sandbox mail. */
  attempts: { deliveryId: string; attempt: Attempt }[]
  events: Event[]
  suppressions: Suppression[]
}

export interface NewDelivery {
  id: string
  position: number
  email: string
  type: RecipientType
  /** What it shares connections with: the recipient's domain, or for test mail SANDBOX. */
  destination: string
  status: DeliveryStatus
  /** Null when nothing is to be tried. */
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
  /** Part of the subject, without case. */
  subject: string | null
  tag: string | null
  metadata: { key: string; value: string }[]
  templateId: string | null
  domainId: string | null
  mode: Mode | null
  /** Words that must all occur in subject or addresses; the last may be a beginning. */
  text: string | null
}

export interface Messages {
  /** All messages, the counted volume and the remembered answer, or none of it. `volume_exceeded` when the
   *  organization's month would pass `volume.limit` (-1 = unlimited), a limit when the messages would pass another one of
   *  the plan; nothing is written then. */
  accept(
    accepted: AcceptedMessage[],
    volume: { organizationId: string; month: string; count: number; limit: number },
    remember?: Remember,
  ): Promise<{ kind: 'accepted' } | { kind: 'volume_exceeded'; used: number } | LimitReached>
  /** Recipients accepted for live sending in that month (`2026-11`). */
  volume(organizationId: string, month: string): Promise<number>
  /** Of all months that have any, newest first. */
  volumes(organizationId: string): Promise<{ month: string; accepted: number }[]>
  get(id: string): Promise<Message | null>
  list(filter: MessageFilter, page: PageRequest): Promise<Page<Message>>
  /** Null once retention has dropped it. */
  content(id: string): Promise<Uint8Array | null>
  /** In the order of the recipients. */
  deliveries(id: string): Promise<Delivery[]>
  /** Of all recipients, oldest first. */
  attempts(id: string): Promise<{ email: string; attempt: Attempt }[]>
  /** Cancels what is not final. `invalid_state` when one delivery is under way or has left, or nothing is open. */
  cancel(id: string, now: number): Promise<'cancelled' | 'invalid_state'>
  /** Only while every delivery is `scheduled`. */
  reschedule(id: string, at: number, now: number): Promise<'rescheduled' | 'invalid_state'>
}
