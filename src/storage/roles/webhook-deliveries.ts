import type { EventType } from '../../model/event.ts'
import type { PostAttempt } from '../../model/post-attempt.ts'
import type {
  Webhook,
  WebhookDelivery,
  WebhookDeliveryStatus,
  WebhookFormat,
  WebhookSecrets,
} from '../../model/webhook.ts'
import type { ClaimQueue } from './claims.ts'
import type { Page, PageRequest, TimeRange } from './paging.ts'

/** A webhook delivery whose next attempt is counted and may start. */
export interface ClaimedWebhookDelivery {
  id: string
  webhookId: string
  organizationId: string
  eventId: string
  messageId: string | null
  type: EventType
  url: string
  format: WebhookFormat
  secrets: WebhookSecrets
  /** The event's envelope. */
  body: string
  /** Number of this attempt, from 1. */
  attempt: number
  worker: string
}

export interface WebhookDeliveryFilter extends TimeRange {
  webhookId: string
  status: WebhookDeliveryStatus | null
  type: EventType | null
}

/** The keys of this queue are webhooks. Deliveries of paused webhooks wait. */
export interface WebhookDeliveries extends ClaimQueue<ClaimedWebhookDelivery> {
  /** Whose the webhook is; null when it is gone. */
  organizationOf(webhookId: string): string | null
  /** Writes some of the deliveries of events that had more than one transaction takes; true while there are more. */
  fanOutSome(): Promise<boolean>
  /** What came of a claim; keeps the webhook's own counters (`last_success_at`, failures in a row), and pauses it
   *  with `pauseReason` if given. `lease_lost` when the row is no longer that attempt. */
  record(record: {
    deliveryId: string
    worker: string
    attempt: PostAttempt
    status: WebhookDeliveryStatus
    nextAttemptAt: number | null
    pauseReason: string | null
    now: number
  }): Promise<{ kind: 'recorded'; webhook: Webhook } | { kind: 'lease_lost' }>
  get(id: string): Promise<WebhookDelivery | null>
  list(filter: WebhookDeliveryFilter, page: PageRequest): Promise<Page<WebhookDelivery>>
  /** Of all webhooks, of the message's newest events first; at most `limit`. */
  ofMessage(organizationId: string, messageId: string, limit: number): Promise<Page<WebhookDelivery>>
  /** One more attempt now, whatever the state; the count goes on. `limit` after FIXED_LIMITS.webhookAttempts. */
  retry(id: string, now: number): Promise<'queued' | 'under_way' | 'limit'>
  /** Queues past events of the range once more for the webhook: new deliveries of the same events, five attempts
   *  each; an event still pending there, or queued FIXED_LIMITS.replaysOfEvent times, is left alone. At most `limit` events a call, oldest first; answers how
   *  many were queued, and the last event's id when more remain. */
  replay(
    webhookId: string,
    range: { from: number; before: number; type: EventType | null; afterEvent: string | null },
    limit: number,
    now: number,
  ): Promise<{ queued: number; more: string | null }>
}
