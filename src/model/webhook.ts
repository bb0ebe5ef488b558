import type { Event, EventType } from './event.ts'
import type { Mode } from './message.ts'
import type { PostAttempt } from './post-attempt.ts'

/** Format of the posted body: Postrider's envelope, or another service's format of the same event. */
export const WEBHOOK_FORMATS = ['enveloped', 'resend'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** A subscription of an organization to event types. */
export interface Webhook {
  id: string
  organizationId: string
  url: string
  events: EventType[]
  format: WebhookFormat
  status: 'active' | 'paused'
  description: string | null
  disabledReason: string | null
  createdAt: number
  updatedAt: number
  lastSuccessAt: number | null
  lastFailureAt: number | null
  /** Consecutive failed deliveries, and since when. */
  consecutiveFailures: number
  failingSince: number | null
  /** `test`: created by a test key; receives events of test mail only. */
  mode: Mode
  /** Receives only events of that domain; null = of every domain of the organization. */
  domainId: string | null
  /** Names of the additional headers of its requests. */
  headerNames: string[]
}

/** True if an event matches a webhook, apart from its type. Test webhooks receive events of test mail only. Webhooks
 *  of a domain receive its events and those of no single domain. */
export function concerns(
  webhook: Pick<Webhook, 'mode' | 'domainId'>,
  event: Pick<Event, 'mode' | 'domainId'>,
): boolean {
  if (webhook.mode === 'test' && event.mode !== 'test') return false
  return webhook.domainId === null || event.domainId === null || webhook.domainId === event.domainId
}

/** Valid signing secrets: the current one, and the previous one until its grace period ends. */
export interface WebhookSecrets {
  secret: string
  previous: { secret: string; expiresAt: number } | null
}

/** Delivery of one event to one webhook. */
export interface WebhookDelivery {
  id: string
  webhookId: string
  eventId: string
  type: EventType
  /** The recipient, of an event that is about one. */
  to: string | null
  status: WebhookDeliveryStatus
  attempts: PostAttempt[]
  nextAttemptAt: number | null
  createdAt: number
}

export type WebhookDeliveryStatus = 'pending' | 'delivered' | 'failed'

/** A webhook, and what signs its posts. */
export type SigningWebhook = Webhook & { secrets: WebhookSecrets }
