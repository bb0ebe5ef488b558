import type { Event, EventType } from './event.ts'
import type { Mode } from './message.ts'
import type { PostAttempt } from './post-attempt.ts'

/** What is posted: our envelope, or another service's shape of the same event. */
export const WEBHOOK_FORMATS = ['enveloped', 'resend'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** A subscription of an organization to some kinds of event. */
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
  /** Deliveries marked failed in a row, and since when. */
  consecutiveFailures: number
  failingSince: number | null
  /** `test`: made by a test key, and gets events of test mail only. */
  mode: Mode
  /** Gets only events of that domain; null = of every domain of the organization. */
  domainId: string | null
}

/** Whether an event is for a webhook, apart from its kind: test webhooks get events of test mail only, and those of a
 *  domain its events and those that concern no single domain. */
export function concerns(
  webhook: Pick<Webhook, 'mode' | 'domainId'>,
  event: Pick<Event, 'mode' | 'domainId'>,
): boolean {
  if (webhook.mode === 'test' && event.mode !== 'test') return false
  return webhook.domainId === null || event.domainId === null || webhook.domainId === event.domainId
}

/** The signing secrets in force: the present one, and the one before it until its grace ends. */
export interface WebhookSecrets {
  secret: string
  previous: { secret: string; expiresAt: number } | null
}

/** One event for one webhook. */
export interface WebhookDelivery {
  id: string
  webhookId: string
  eventId: string
  type: EventType
  status: WebhookDeliveryStatus
  attempts: PostAttempt[]
  nextAttemptAt: number | null
  createdAt: number
}

export type WebhookDeliveryStatus = 'pending' | 'delivered' | 'failed'
