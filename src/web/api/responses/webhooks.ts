import { z } from 'zod'
import { WEBHOOK_FORMATS } from '../../../model/webhook.ts'
import type { ResponseShape } from '../operation.ts'
import { eventType } from '../schema.ts'
import { eventExample, eventSchema } from './events.ts'
import {
  count,
  deletedShape,
  EXAMPLE_LATER,
  EXAMPLE_TIME,
  exampleId,
  id,
  mode,
  pageShape,
  time,
  timeOrNull,
} from './fields.ts'

/** Responses of `/v1/webhooks`; routes/webhooks.ts and webhook-deliveries.ts build the records. */

const fields = {
  id: id('whk'),
  url: z.string(),
  events: z.array(eventType),
  format: z.enum(WEBHOOK_FORMATS).describe('Payload format.'),
  status: z.enum(['active', 'paused']),
  mode: mode.describe('`test`: created by a test key, receives events of test messages only.'),
  domain_id: id('dom').nullable().describe('Receives events of this domain only; null = all domains.'),
  description: z.string().nullable(),
  header_names: z.array(z.string()).describe('Names of the additional headers; the values are never shown.'),
  disabled_reason: z.string().nullable().describe('Why the webhook was paused automatically.'),
  created_at: time,
  updated_at: time,
  last_success_at: timeOrNull,
  last_failure_at: timeOrNull,
  consecutive_failures: count,
}
const secret = z
  .string()
  .regex(/^whsec_/)
  .describe('Signing secret for verifying signatures. Shown only once.')
const webhook = z.strictObject(fields).meta({ id: 'Webhook' })
const created = z.strictObject({ ...fields, secret }).meta({ id: 'CreatedWebhook' })
const rotated = z
  .strictObject({ ...fields, secret, previous_secret_expires_at: time })
  .meta({ id: 'WebhookWithNewSecret' })
const example = {
  id: exampleId('whk'),
  url: 'https://hooks.example.com/mail',
  events: ['message.delivered', 'message.bounced'],
  format: 'enveloped',
  status: 'active',
  mode: 'live',
  domain_id: null,
  description: null,
  header_names: ['X-Api-Key'],
  disabled_reason: null,
  created_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  last_success_at: null,
  last_failure_at: null,
  consecutive_failures: 0,
}
const withSecret = { ...example, secret: 'whsec_ZXhhbXBsZWV4YW1wbGVleGFtcGxlZXhhbXBsZWV4YW0=' }

/** Schema of an attempt to deliver to an endpoint, of a webhook or an inbound route. */
export const postAttempt = z
  .strictObject({
    number: z.int().min(1),
    at: time,
    duration_ms: z.number().min(0),
    status_code: z.int().nullable(),
    error: z.string().nullable(),
    response_excerpt: z.string().nullable(),
  })
  .meta({ id: 'PostAttempt' })
export const postAttemptExample = {
  number: 1,
  at: EXAMPLE_TIME,
  duration_ms: 143,
  status_code: 204,
  error: null,
  response_excerpt: null,
}
const deliveryFields = {
  id: id('whd'),
  webhook_id: id('whk'),
  event_id: id('evt'),
  type: eventType,
  to: z.string().nullable().describe('The recipient that the event is about; null for other events.'),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.array(postAttempt),
  next_attempt_at: timeOrNull,
  created_at: time,
}
const delivery = z.strictObject(deliveryFields).meta({ id: 'WebhookDelivery' })
const request = z
  .strictObject({ headers: z.record(z.string(), z.string()), body: z.string() })
  .nullable()
  .describe(
    'Request of the latest attempt, without the webhook’s additional headers. Attempts before a rotation of the secret had another signature. Null before the first attempt and in other formats than `enveloped`.',
  )
const deliveryWithRequest = z.strictObject({ ...deliveryFields, request }).meta({ id: 'WebhookDeliveryWithRequest' })
const deliveryExample = {
  id: exampleId('whd'),
  webhook_id: exampleId('whk'),
  event_id: exampleId('evt'),
  type: 'message.delivered',
  to: 'ann@customer.example',
  status: 'delivered',
  attempts: [postAttemptExample],
  next_attempt_at: null,
  created_at: EXAMPLE_TIME,
}

export const webhookResponses: ResponseShape[] = [
  { status: 200, description: 'The webhook.', schema: webhook, example },
]
export const webhookCreatedResponses: ResponseShape[] = [
  { status: 201, description: 'The webhook, including its signing secret.', schema: created, example: withSecret },
]
export const webhookListResponses = [pageShape(webhook, example, 'Webhooks, newest first.')]
export const webhookDeletedResponses = [deletedShape('whk', 'The webhook and its deliveries are deleted.')]
export const webhookTestResponses: ResponseShape[] = [
  {
    status: 202,
    description: 'The sample event as it will be sent, with `test: true` in its data.',
    schema: eventSchema,
    example: eventExample('message.delivered'),
  },
]
export const webhookSecretResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The webhook, including its new secret.',
    schema: rotated,
    example: { ...withSecret, previous_secret_expires_at: EXAMPLE_LATER },
  },
]
export const deliveryResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The delivery with its attempts and the latest request.',
    schema: deliveryWithRequest,
    example: {
      ...deliveryExample,
      request: {
        headers: { 'X-Service-Signature': `t=1795262400,v1=${'0'.repeat(64)}`, 'X-Service-Delivery-Attempt': '1' },
        body: JSON.stringify(eventExample('message.delivered')),
      },
    },
  },
]
export const deliveryRetryResponses: ResponseShape[] = [
  { status: 202, description: 'The delivery is attempted now.', schema: delivery, example: deliveryExample },
]
export const deliveryListResponses = [pageShape(delivery, deliveryExample, 'Deliveries, newest first.')]
export const replayResponses: ResponseShape[] = [
  {
    status: 202,
    description: 'Number of events that will be sent again.',
    schema: z.strictObject({ queued: count }),
    example: { queued: 17 },
  },
]
export const messageWebhookDeliveriesResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Deliveries to all webhooks, newest first. Always one page with the latest 200.',
    schema: z.strictObject({ data: z.array(delivery), has_more: z.boolean(), next_cursor: z.null() }),
    example: { data: [deliveryExample], has_more: false, next_cursor: null },
  },
]
