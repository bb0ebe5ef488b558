import { z } from 'zod'
import { signEnveloped } from '../../../events/webhooks/sign.ts'
import { iso } from '../../../model/event.ts'
import { FIXED_LIMITS } from '../../../model/limits.ts'
import type { PostAttempt } from '../../../model/post-attempt.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import type { Webhook, WebhookDelivery } from '../../../model/webhook.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { Notify } from '../../../os/notifier.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageRequest, pageResponse } from '../page.ts'
import { eventType, isoTime, pageFields, timeFields, timeRange } from '../schema.ts'

const listQuery = z.strictObject({
  ...pageFields,
  ...timeFields,
  status: z.enum(['pending', 'delivered', 'failed']).optional(),
  type: eventType.optional(),
})
const replayBody = z.strictObject({
  from: isoTime,
  to: isoTime.optional().describe('Exclusive; the default is now.'),
  type: eventType.optional().describe('Only events of this type.'),
})
const noBody = z.strictObject({})
/** Events per write of a replay. Other writes can run in between. */
const REPLAY_BATCH = 500

export interface WebhookDeliveryDeps {
  store: Pick<Store, 'webhooks' | 'webhookDeliveries' | 'events' | 'domains'>
  notify: Notify
}

/** The operations that list, retrieve and retry the deliveries of a webhook, and replay past events. `loadWebhook`
 *  loads the webhook in the path. */
export function webhookDeliveryOperations(
  { store, notify }: WebhookDeliveryDeps,
  loadWebhook: (call: Call) => Promise<Webhook>,
): Operation[] {
  const load = async (call: Call) => {
    const webhook = await loadWebhook(call)
    const delivery = await store.webhookDeliveries.get(pathParameter(call, 'delivery_id'))
    if (delivery === null || delivery.webhookId !== webhook.id) throw noSuchDelivery()
    return delivery
  }

  /** The request of the latest attempt: its time and number are stored, body and signature follow from them. Null before
   *  the first attempt, for other formats than ours, and after the event's retention. */
  const requestOf = async ({ attempts, eventId }: WebhookDelivery, { id, format }: Webhook) => {
    const last = attempts.at(-1)
    if (last === undefined || format !== 'enveloped') return null
    const [event, secrets] = await Promise.all([store.events.get(eventId), store.webhooks.secrets(id)])
    if (event === null || secrets === null) return null
    const { body } = event
    return { headers: signEnveloped({ secrets, eventId, body, attempt: last.number, now: last.at }), body }
  }

  return [
    operation({
      id: 'webhook_deliveries_list',
      method: 'GET',
      path: '/v1/webhooks/:webhook_id/deliveries',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'List the deliveries of a webhook',
      description: 'Each delivery includes its attempts.',
      responses: async () => (await import('../responses/webhooks.ts')).deliveryListResponses,
      query: listQuery,
      load: loadWebhook,
      async handle({ resource, query }) {
        const filter = {
          webhookId: resource.id,
          status: query.status ?? null,
          type: query.type ?? null,
          ...timeRange(query),
        }
        const page = await store.webhookDeliveries.list(filter, pageRequest(query))
        return pageResponse(page, webhookDeliveryRecord)
      },
    }),
    operation({
      id: 'webhook_deliveries_get',
      method: 'GET',
      path: '/v1/webhooks/:webhook_id/deliveries/:delivery_id',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Retrieve a webhook delivery and its attempts',
      description: 'Also shows the request of the latest attempt, as the present signing secret signs it.',
      responses: async () => (await import('../responses/webhooks.ts')).deliveryResponses,
      load,
      async handle(call) {
        const { resource } = call
        const webhook = await loadWebhook(call)
        return {
          status: 200,
          body: {
            ...webhookDeliveryRecord(resource),
            request: await requestOf(resource, webhook),
          },
        }
      },
    }),
    operation({
      id: 'webhook_deliveries_retry',
      method: 'POST',
      path: '/v1/webhooks/:webhook_id/deliveries/:delivery_id/retry',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Retry a webhook delivery',
      description: 'Sends it again now, whatever its status. Attempt numbers continue.',
      responses: async () => (await import('../responses/webhooks.ts')).deliveryRetryResponses,
      refusals: ['invalid_state'],
      body: noBody,
      bodyOptional: true,
      load,
      async handle({ resource, now }) {
        const result = await store.webhookDeliveries.retry(resource.id, now)
        if (result === 'under_way')
          throw new Refusal('invalid_state', 'An attempt of this delivery is in progress. Wait until it ends.')
        if (result === 'limit') {
          const { webhookAttempts } = FIXED_LIMITS
          throw new Refusal('invalid_state', `This delivery already had ${webhookAttempts} attempts, the maximum.`)
        }
        notify('webhook deliveries')
        return {
          status: 202,
          body: webhookDeliveryRecord((await store.webhookDeliveries.get(resource.id)) ?? resource),
        }
      },
    }),
    operation({
      id: 'webhooks_replay',
      method: 'POST',
      path: '/v1/webhooks/:webhook_id/replay',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Replay past events',
      description: 'Sends the events of a time range again, with the same event IDs.',
      responses: async () => (await import('../responses/webhooks.ts')).replayResponses,
      example: { from: '2026-11-20T00:00:00Z', type: 'message.bounced' },
      body: replayBody,
      load: loadWebhook,
      async handle({ resource, body, now }) {
        const before = body.to ?? now
        if (body.from >= before) throw invalid([{ field: 'to', message: 'to must be later than from' }])
        const range = { from: body.from, before, type: body.type ?? null }
        let queued = 0
        for (let after: string | null = null, more = true; more; ) {
          const batch = await store.webhookDeliveries.replay(
            resource.id,
            { ...range, afterEvent: after },
            REPLAY_BATCH,
            now,
          )
          queued += batch.queued
          after = batch.more
          more = after !== null
        }
        notify('webhook deliveries')
        return { status: 202, body: { queued } }
      },
    }),
  ]
}

function noSuchDelivery(): Refusal {
  return new Refusal('not_found', 'This webhook has no such delivery. Check the ID.')
}

/** Attempt of a delivery to an endpoint, of a webhook or an inbound route → its JSON record. */
export function postAttemptRecord(attempt: PostAttempt) {
  return {
    number: attempt.number,
    at: iso(attempt.at),
    duration_ms: attempt.durationMs,
    status_code: attempt.statusCode,
    error: attempt.error,
    response_excerpt: attempt.responseExcerpt,
  }
}

/** Webhook delivery → its JSON record with all attempts. */
export function webhookDeliveryRecord(delivery: WebhookDelivery) {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    type: delivery.type,
    to: delivery.to,
    status: delivery.status,
    attempts: delivery.attempts.map(postAttemptRecord),
    next_attempt_at: delivery.nextAttemptAt === null ? null : iso(delivery.nextAttemptAt),
    created_at: iso(delivery.createdAt),
  }
}
