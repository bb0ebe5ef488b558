import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Webhook, WebhookSecrets } from '../../model/webhook.ts'
import type { Remember } from './idempotency.ts'
import type { Page, RecordsRequest } from './paging.ts'

export interface Webhooks {
  create(webhook: NewWebhook, secret: string, remember?: Remember): Promise<'created' | LimitReached>
  count(organizationId: string): Promise<number>
  get(id: string): Promise<Webhook | null>
  list(organizationId: string, page: RecordsRequest): Promise<Page<Webhook>>
  /** Pausing an active webhook writes an event if another active one receives it. A URL of another origin removes the
   *  headers that are not given again. */
  update(
    id: string,
    change: Partial<Pick<NewWebhook, 'url' | 'events' | 'status' | 'description' | 'disabledReason' | 'headers'>>,
    now: number,
  ): Promise<Webhook | null>
  /** Webhooks that the server has paused, of at most `limit` organizations, with the reason of one of each. */
  pausedByServer(limit: number): Promise<PausedByServer[]>
  secrets(id: string): Promise<WebhookSecrets | null>
  rotateSecret(id: string, secret: string, previousExpiresAt: number, now: number, remember?: Remember): Promise<void>
  /** Removes it with its deliveries. Since there may be many, it uses several transactions: the webhook is paused in
   *  the first and deleted in the last, and can be removed again after a crash in between. */
  remove(id: string): Promise<void>
}

/** A webhook with the headers for its URL, none by default. */
export type NewWebhook = Omit<Webhook, 'headerNames'> & { headers?: EndpointHeaders }

/** Webhooks of an organization that the server has paused. */
export interface PausedByServer {
  organizationId: string
  webhooks: number
  reason: string
}
