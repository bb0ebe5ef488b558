import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { EventType } from '../../model/event.ts'
import type { PostAttempt } from '../../model/post-attempt.ts'
import type { WebhookDelivery, WebhookDeliveryStatus, WebhookFormat, WebhookSecrets } from '../../model/webhook.ts'
import type { Page, PageRequest, TimeRange } from '../page.ts'
import type { ClaimQueue } from './claims.ts'

/** A claimed webhook delivery: its next attempt is counted and may start. */
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
  headers: EndpointHeaders
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
  /** Writes deliveries of events that had too many webhooks for one transaction; true while there are more. */
  fanOutSome(): Promise<boolean>
  /** Writes the result of a claim, updates the webhook's counters (consecutive failures; `last_success_at`, which may be up
   *  to a second behind), and pauses it with `pauseReason` if given, with an event if another active webhook receives it. A
   *  webhook that was changed since the attempt began is not paused.
   *  `lease_lost` if the row is no longer at that attempt. */
  record(record: {
    deliveryId: string
    worker: string
    attempt: PostAttempt
    status: WebhookDeliveryStatus
    nextAttemptAt: number | null
    pauseReason: string | null
    now: number
  }): Promise<'recorded' | 'lease_lost'>
  get(id: string): Promise<WebhookDelivery | null>
  list(filter: WebhookDeliveryFilter, page: PageRequest): Promise<Page<WebhookDelivery>>
  /** Deliveries of all webhooks, for the message's newest events first; at most `limit`. */
  ofMessage(organizationId: string, messageId: string, limit: number): Promise<Page<WebhookDelivery>>
  /** Queues one more attempt now, whatever the status; the attempt numbers continue. `limit` after
   *  FIXED_LIMITS.webhookAttempts. */
  retry(id: string, now: number): Promise<'queued' | 'under_way' | 'limit'>
  /** Queues past events of the range again for the webhook: new deliveries of the same events, five attempts each.
   *  Skips an event that is still pending there, or was queued FIXED_LIMITS.replaysOfEvent times. At most `limit`
   *  events per call, oldest first. Returns how many were queued, and the last event's ID if more remain. */
  replay(
    webhookId: string,
    range: { from: number; before: number; type: EventType | null; afterEvent: string | null },
    limit: number,
    now: number,
  ): Promise<{ queued: number; more: string | null }>
}
