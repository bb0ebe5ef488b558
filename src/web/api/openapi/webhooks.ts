import { EVENT_FACTS, EVENT_TYPES, isOnDemand } from '../../../model/event-types.ts'
import { EVENT_SCHEMAS, eventExample } from '../responses/events.ts'
import { inboundReceived, inboundReceivedExample } from '../responses/inbound-messages.ts'
import type { Json, Schemas } from './schemas.ts'
import { POSTED_TAG } from './tags.ts'

/** `webhooks` of the document: the requests that Postrider sends to endpoints, one per event type and one for inbound
 *  mail. Adds the named schemas to `schemas`. */
export function webhooksOf(schemas: Schemas): Json {
  const events = EVENT_TYPES.map((type) => [
    type,
    posted({
      id: type.replace('.', '_'),
      summary: EVENT_FACTS[type].title,
      description: isOnDemand(type) ? `${EVENT_TEXT} ${ON_DEMAND_TEXT}` : EVENT_TEXT,
      headers: EVENT_HEADERS,
      schema: schemas.ofAnswer(EVENT_SCHEMAS[type]),
      example: eventExample(type),
    }),
  ])
  const inbound = posted({
    id: 'inbound',
    summary: 'Inbound email',
    description: INBOUND_TEXT,
    headers: INBOUND_HEADERS,
    schema: schemas.ofAnswer(inboundReceived),
    example: inboundReceivedExample,
  })
  return { ...Object.fromEntries(events), inbound }
}

const EVENT_TEXT =
  'An event about a message concerns one recipient. Respond with 2xx within 30 s. Postrider retries anything else, with five attempts in total. An event can arrive more than once, always with the same `id`. `X-Service-Signature` is `t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<body>` with the whole secret as key. During a secret rotation it has two `v1` values. Standard Webhooks headers are included.'
const ON_DEMAND_TEXT = 'An event of this type exists only if an active webhook named it when it happened.'
const INBOUND_TEXT =
  'An email arrived for a route with the action `webhook`. The body is a flat object without an envelope. `X-Inbound-Signature` is computed like `X-Service-Signature`, with the route’s secret; `X-Inbound-Timestamp` is its `t`. `X-Inbound-Message-Id` and `X-Inbound-Route-Id` are the IDs to use with the API. `webhook-id` is the same in every attempt of a delivery; Standard Webhooks headers are included. Respond with 2xx within 30 s. There are five attempts; `POST /v1/inbound-messages/{inbound_message_id}/redeliver` starts five more.'
/** In the order in which events/webhooks/sign.ts adds them. */
const EVENT_HEADERS = [
  'X-Service-Signature',
  'X-Service-Delivery-Attempt',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]
const INBOUND_HEADERS = [
  'X-Inbound-Signature',
  'X-Inbound-Timestamp',
  'X-Inbound-Delivery-Attempt',
  'X-Inbound-Message-Id',
  'X-Inbound-Route-Id',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]

interface Posted {
  id: string
  summary: string
  description: string
  headers: readonly string[]
  schema: Json
  example: Json
}

function posted({ id, summary, description, headers, schema, example }: Posted): Json {
  return {
    post: {
      operationId: `on_${id}`,
      tags: [POSTED_TAG],
      summary,
      description,
      security: [],
      parameters: headers.map((name) => ({ name, in: 'header', required: true, schema: { type: 'string' } })),
      requestBody: { required: true, content: { 'application/json': { schema, example } } },
      responses: { '2XX': { description: 'Accepted.' }, default: { description: 'Not accepted. Postrider retries.' } },
    },
  }
}
