import { EVENT_TYPES, type EventType } from '../../model/event.ts'
import { EVENT_SCHEMAS, eventExample } from '../answers/events.ts'
import { inboundReceived, inboundReceivedExample } from '../answers/inbound-messages.ts'
import type { Json, Schemas } from './schemas.ts'
import { POSTED_TAG } from './tags.ts'

/** `webhooks` of the document: what is posted to endpoints (interface.md "Webhooks", contract §4). */
export function webhooksOf(schemas: Schemas): Json {
  const events = EVENT_TYPES.map((type) => [
    type,
    posted({
      id: type.replace('.', '_'),
      summary: SUMMARIES[type],
      description: EVENT_TEXT,
      headers: EVENT_HEADERS,
      schema: schemas.ofAnswer(EVENT_SCHEMAS[type]),
      example: eventExample(type),
    }),
  ])
  const inbound = posted({
    id: 'inbound_received',
    summary: 'A mail came in for a route whose action is `webhook`',
    description: INBOUND_TEXT,
    headers: INBOUND_HEADERS,
    schema: schemas.ofAnswer(inboundReceived),
    example: inboundReceivedExample,
  })
  return { ...Object.fromEntries(events), 'inbound.received': inbound }
}

const SUMMARIES: Record<EventType, string> = {
  'message.delivered': 'The recipient’s server took the mail',
  'message.bounced': 'The mail was refused for good, or for the first time because of its recipient',
  'message.deferred': 'An attempt failed and will be repeated',
  'message.opened': 'The mail was opened',
  'message.clicked': 'A link in the mail was clicked',
  'message.unsubscribed': 'The recipient wants no more mail',
  'message.complained': 'The recipient called the mail spam',
  'quality.alert': 'The bounce or complaint rate of a domain went over its threshold, or came back under it',
}
const EVENT_TEXT =
  'One event is about one recipient. Answer 2xx within 30 s; anything else is tried again, five times in all. The same event may come twice, with the same `id`. `X-Service-Signature` is `t=<unix seconds>,v1=<hex>`: HMAC-SHA256 with the whole secret over `<t>.<body>`; two `v1` while a secret is being rotated. The Standard Webhooks headers are there as well.'
const INBOUND_TEXT =
  'Flat, without an envelope. `X-Inbound-Signature` is made as `X-Service-Signature` is, with the secret of the route; `X-Inbound-Timestamp` is its `t`. Answer 2xx within 30 s; five attempts in all, and `POST /v1/inbound-messages/{inbound_message_id}/redeliver` makes five more.'
/** In the order of webhooks/sign.ts. */
const EVENT_HEADERS = [
  'X-Service-Signature',
  'X-Service-Delivery-Attempt',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]
const INBOUND_HEADERS = ['X-Inbound-Signature', 'X-Inbound-Timestamp', 'X-Inbound-Delivery-Attempt']

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
      responses: { '2XX': { description: 'Taken.' }, default: { description: 'Not taken; it is tried again.' } },
    },
  }
}
