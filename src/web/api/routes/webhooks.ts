import { z } from 'zod'
import { mintSigningSecret } from '../../../events/webhooks/sign.ts'
import { headerNamesOf } from '../../../model/endpoint-headers.ts'
import { createEvent, EVENT_TYPES, iso } from '../../../model/event.ts'
import { sampleData } from '../../../model/event-samples.ts'
import { monthOf, withinLimit } from '../../../model/limits.ts'
import { Refusal } from '../../../model/refusal.ts'
import { WEBHOOK_FORMATS, type Webhook } from '../../../model/webhook.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Random } from '../../../os/random.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { deleted } from '../rendered-response.ts'
import { endpointUrl, eventType, graceMinutes, label, recordsQuery } from '../schema.ts'
import { filteredPage, isWithin, modeOfRecords, requireWithin, scopeOf, withoutOnlyDomain } from '../scope.ts'
import { endpointHeaders } from './endpoint-headers.ts'
import { type WebhookDeliveryDeps, webhookDeliveryOperations } from './webhook-deliveries.ts'

const eventTypes = z
  .array(eventType)
  .min(1)
  .max(EVENT_TYPES.length)
  .refine((list) => new Set(list).size === list.length, 'must not contain an event type twice')
  .meta({ uniqueItems: true })
const description = label(500).nullish()
const format = z
  .enum(WEBHOOK_FORMATS)
  .optional()
  .describe('`resend`: Resend’s payload and headers, for receivers built for Resend. Absent: `enveloped`.')
const headers = endpointHeaders
  .optional()
  .describe(
    'Additional headers of every request, such as the key of an API gateway: at most 10, with values of up to 4 KiB. Values are never shown again; `header_names` lists the names.',
  )
const testBody = z.strictObject({ type: eventType })
const rotateBody = z.strictObject({ grace_period_minutes: graceMinutes })

export interface WebhookDeps extends WebhookDeliveryDeps {
  random: Random
  mintId: MintId
  /** Returns why the URL is rejected, or null (checkWebhookUrl in net/webhook-url.ts). */
  checkUrl: (url: string) => string | null
}

/** The operations of `/v1/webhooks`: endpoints, their events and their deliveries. */
export function webhookOperations(deps: WebhookDeps): Operation[] {
  const { store, random, mintId, notify } = deps
  const url = endpointUrl(deps.checkUrl).describe('Must use `https` and a public address.')
  const reachOf = ({ key }: Pick<Call, 'key'>) => withoutOnlyDomain(scopeOf(key), store)
  const load = async (call: Call) =>
    requireWithin(await store.webhooks.get(pathParameter(call, 'webhook_id')), await reachOf(call), 'webhook')

  return [
    operation({
      id: 'webhooks_create',
      method: 'POST',
      path: '/v1/webhooks',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Create a webhook',
      description:
        'The response contains the signing secret, which is shown only once. Every request is signed. Webhooks created with a test key receive events of test messages only; those created without `admin` receive events of the key’s domain only. Each delivery has five attempts. A webhook is paused if its endpoint returns 410, or after 100 failed deliveries in a row over at least 24 hours.',
      responses: async () => (await import('../responses/webhooks.ts')).webhookCreatedResponses,
      refusals: ['quota_exceeded'],
      example: { url: 'https://hooks.example.com/mail', events: ['message.delivered', 'message.bounced'] },
      body: z.strictObject({ url, events: eventTypes, description, format, headers }),
      idempotent: true,
      secretResponse: true,
      async handle({ key, organizationId, now, body, remember }) {
        const headers = body.headers ?? []
        const webhook: Webhook = {
          id: mintId('whk'),
          organizationId,
          url: body.url,
          events: body.events,
          format: body.format ?? 'enveloped',
          status: 'active',
          description: body.description ?? null,
          disabledReason: null,
          createdAt: now,
          updatedAt: now,
          lastSuccessAt: null,
          lastFailureAt: null,
          consecutiveFailures: 0,
          failingSince: null,
          mode: modeOfRecords(key),
          domainId: scopeOf(key).domainId,
          headerNames: headerNamesOf(headers),
        }
        const secret = mintSigningSecret(random)
        const answer = { status: 201, body: { ...toWire(webhook), secret } }
        withinLimit(await store.webhooks.create({ ...webhook, headers }, secret, remember(answer)), now)
        return answer
      },
    }),
    operation({
      id: 'webhooks_list',
      method: 'GET',
      path: '/v1/webhooks',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'List webhooks',
      responses: async () => (await import('../responses/webhooks.ts')).webhookListResponses,
      query: recordsQuery,
      async handle({ key, organizationId, query }) {
        const scope = await reachOf({ key })
        const list = (asked: ReturnType<typeof recordsRequest>) => store.webhooks.list(organizationId, asked)
        return pageResponse(await filteredPage(list, recordsRequest(query), (each) => isWithin(scope, each)), toWire)
      },
    }),
    operation({
      id: 'webhooks_get',
      method: 'GET',
      path: '/v1/webhooks/:webhook_id',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Retrieve a webhook',
      responses: async () => (await import('../responses/webhooks.ts')).webhookResponses,
      load,
      handle: async ({ resource }) => ({ status: 200, body: toWire(resource) }),
    }),
    operation({
      id: 'webhooks_update',
      method: 'PATCH',
      path: '/v1/webhooks/:webhook_id',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Update a webhook',
      description:
        'Set `status` to `paused` to stop a webhook and to `active` to start it again. While it is paused nothing is sent: events from that time are not sent later, and pending deliveries wait. `headers` replaces all of them; `null` or `{}` removes them. A `url` with another scheme, host or port also removes them, unless the request contains `headers`.',
      responses: async () => (await import('../responses/webhooks.ts')).webhookResponses,
      example: { status: 'active' },
      body: z.strictObject({
        url: url.optional(),
        events: eventTypes.optional(),
        status: z.enum(['active', 'paused']).optional(),
        description,
        headers,
      }),
      load,
      async handle({ resource, body, now }) {
        const change: Parameters<Store['webhooks']['update']>[1] = {}
        if (body.url !== undefined) change.url = body.url
        if (body.events !== undefined) change.events = body.events
        if (body.description !== undefined) change.description = body.description
        if (body.headers !== undefined) change.headers = body.headers
        if (body.status !== undefined) change.status = body.status
        if (body.status === 'active') change.disabledReason = null
        if (Object.keys(change).length === 0) return { status: 200, body: toWire(resource) }
        const webhook = await store.webhooks.update(resource.id, change, now)
        notify('webhook deliveries')
        return { status: 200, body: toWire(requireOwned(webhook, resource.organizationId, 'webhook')) }
      },
    }),
    operation({
      id: 'webhooks_delete',
      method: 'DELETE',
      path: '/v1/webhooks/:webhook_id',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Delete a webhook and its deliveries',
      responses: async () => (await import('../responses/webhooks.ts')).webhookDeletedResponses,
      load,
      async handle({ resource }) {
        await store.webhooks.remove(resource.id)
        return deleted(resource.id)
      },
    }),
    operation({
      id: 'webhooks_test',
      method: 'POST',
      path: '/v1/webhooks/:webhook_id/test',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Send a test event',
      description: 'Sends a sample event of any type, subscribed or not. It counts as a test message.',
      responses: async () => (await import('../responses/webhooks.ts')).webhookTestResponses,
      refusals: ['invalid_state', 'quota_exceeded'],
      example: { type: 'message.bounced' },
      body: testBody,
      load,
      async handle({ key, resource, organizationId, body, now }) {
        if (resource.status !== 'active')
          throw new Refusal('invalid_state', 'This webhook is paused. Set its status to active first.')
        const event = createEvent(
          {
            id: mintId('evt'),
            type: body.type,
            organizationId,
            domainId: key.domainId || null, // the operator's key may have no domain
            messageId: null,
            mode: 'test',
            createdAt: now,
          },
          sampleData(body.type, now),
        )
        withinLimit(await store.events.appendSample(event, resource.id, monthOf(now)), now)
        notify('webhook deliveries')
        return { status: 202, body: JSON.parse(event.body) }
      },
    }),
    operation({
      id: 'webhooks_rotate_secret',
      method: 'POST',
      path: '/v1/webhooks/:webhook_id/rotate-secret',
      tag: 'Webhooks',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Rotate the signing secret',
      description: 'Postrider signs requests with both secrets until the grace period ends.',
      responses: async () => (await import('../responses/webhooks.ts')).webhookSecretResponses,
      example: { grace_period_minutes: 60 },
      body: rotateBody,
      bodyOptional: true,
      idempotent: true,
      secretResponse: true,
      load,
      async handle({ resource, body, now, remember }) {
        const secret = mintSigningSecret(random)
        const previousExpiresAt = now + body.grace_period_minutes * 60_000
        const record = toWire({ ...resource, updatedAt: now })
        const answer = {
          status: 200,
          body: { ...record, secret, previous_secret_expires_at: iso(previousExpiresAt) },
        }
        await store.webhooks.rotateSecret(resource.id, secret, previousExpiresAt, now, remember(answer))
        return answer
      },
    }),
    ...webhookDeliveryOperations(deps, load),
  ]
}

function toWire(webhook: Webhook) {
  const time = (at: number | null) => (at === null ? null : iso(at))
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    format: webhook.format,
    status: webhook.status,
    mode: webhook.mode,
    domain_id: webhook.domainId,
    description: webhook.description,
    header_names: webhook.headerNames,
    disabled_reason: webhook.disabledReason,
    created_at: iso(webhook.createdAt),
    updated_at: iso(webhook.updatedAt),
    last_success_at: time(webhook.lastSuccessAt),
    last_failure_at: time(webhook.lastFailureAt),
    consecutive_failures: webhook.consecutiveFailures,
  }
}
