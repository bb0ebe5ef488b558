import { z } from 'zod'
import { EVENT_TYPES, type EventType } from '../../model/event.ts'
import { sampleData } from '../../model/event-samples.ts'
import { LISTED_ATTACHMENTS } from '../../model/inbound-message.ts'
import { QUALITY_METRICS } from '../../model/quality.ts'
import { SUPPRESSION_REASONS } from '../../model/suppression.ts'
import { tableOf } from '../../os/records.ts'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, exampleId, id, metadata, mode, pageShape, time, timeOrNull } from './fields.ts'

/** Responses of `/v1/events`, and the schema of each event's envelope, for the API and webhooks. */

const general = {
  message_id: z.string(),
  from: z.string(),
  to: z.string(),
  subject: z.string(),
  metadata,
  tags: z.array(z.string()),
  mode,
  stream: z.string().optional().describe('Message stream, unless it is `transactional`.'),
}
const reader = { user_agent: z.string().nullable(), ip_address: z.string().nullable() }
const ofDomain = { domain_id: z.string(), domain: z.string() }
const ofSuppression = {
  suppression_id: z.string(),
  email: z.string(),
  reason: z.enum(SUPPRESSION_REASONS),
  domain_id: z.string().nullable().describe('Null = the whole organization.'),
  stream: z.string().nullable().describe('Null = every stream.'),
  message_id: z.string().nullable(),
  mode,
}
const machine = z.boolean().describe('True if a known machine, not a person, caused the event.')

const DATA: Record<EventType, z.ZodRawShape> = {
  'message.delivered': { ...general, delivered_at: time, smtp_response: z.string() },
  'message.bounced': {
    ...general,
    bounce_type: z.enum(['hard', 'soft']),
    bounce_code: z.string(),
    bounce_message: z.string(),
    bounced_at: time,
    will_retry: z.boolean(),
  },
  'message.deferred': {
    ...general,
    deferred_at: time,
    attempt: z.int().min(1),
    next_attempt_at: timeOrNull,
    smtp_response: z.string(),
  },
  'message.opened': { ...general, opened_at: time, ...reader, machine },
  'message.clicked': { ...general, clicked_at: time, url: z.string(), ...reader, machine },
  'message.unsubscribed': {
    ...general,
    unsubscribed_at: time,
    method: z.enum(['one_click', 'link', 'mailto']),
    ...reader,
  },
  'message.complained': { ...general, complained_at: time, feedback_type: z.string().nullable() },
  'message.suppressed': {
    ...general,
    suppressed_at: time,
    reason: z.enum(SUPPRESSION_REASONS),
    suppression_stream: z.string().nullable().describe('Stream of the suppression; null = every stream.'),
  },
  'message.accepted': { ...general, accepted_at: time, scheduled_at: timeOrNull },
  'message.cancelled': { ...general, cancelled_at: time },
  'message.expired': {
    ...general,
    expired_at: time.describe('Time of the last attempt, or end of `expires_in`. `message.bounced` is sent too.'),
  },
  'inbound.received': {
    inbound_message_id: z.string(),
    route_id: z.string().nullable().describe('Null for mail to the domain’s postmaster or abuse address.'),
    domain_id: z.string(),
    from: z.string().describe('Address in the header; empty if absent.'),
    to: z.array(z.string()).describe('Envelope recipients that the route matched.'),
    subject: z.string(),
    message_id_header: z.string().describe('The `Message-ID` header; empty if absent.'),
    size_bytes: count,
    received_at: time,
    spf_result: z.string(),
    dkim_result: z.string(),
    dmarc_result: z.string(),
    attachments: z
      .array(
        z.strictObject({
          filename: z.string(),
          content_type: z.string(),
          size: count,
          content_id: z.string().nullable().optional().describe('Absent in events of earlier versions.'),
        }),
      )
      .max(LISTED_ATTACHMENTS)
      .describe(`The first ${LISTED_ATTACHMENTS}, without their content.`),
    attachment_count: count,
  },
  'domain.verified': { ...ofDomain, verified_at: time, proved_by: z.enum(['dkim', 'txt']) },
  'domain.failed': { ...ofDomain, failed_at: time, reason: z.enum(['mismatch', 'proof_lost', 'claimed']) },
  'webhook.paused': {
    webhook_id: z.string(),
    url: z.string().describe('Scheme, host and port only: the rest may contain a token.'),
    reason: z.string().nullable().describe('Null if a user paused it.'),
    mode,
    paused_at: time,
  },
  'suppression.added': { ...ofSuppression, added_at: time },
  'suppression.removed': { ...ofSuppression, removed_at: time },
  'quality.alert': {
    alert_id: z.string(),
    ...ofDomain,
    metric: z.enum(QUALITY_METRICS),
    value: z.number(),
    threshold: z.number(),
    window_hours: z.number(),
    sent: count,
    affected: count,
    state: z.enum(['firing', 'resolved']),
    triggered_at: time,
  },
}

/** Event type → schema of its envelope. */
export const EVENT_SCHEMAS = tableOf(EVENT_TYPES, (type) => {
  const test = z.literal(true).optional().describe('True for a sample event from `POST …/test`.')
  const envelope = z.strictObject({
    id: id('evt').describe('Identical on every attempt and replay. Use it to process each event once.'),
    type: z.literal(type),
    timestamp: time,
    data: z.strictObject({ ...DATA[type], test }),
  })
  return envelope.meta({ id: nameOf(type) })
})

/** Event type → an example event. */
export function eventExample(type: EventType) {
  const { test: _, ...data } = sampleData(type, Date.parse(EXAMPLE_TIME))
  return { id: exampleId('evt'), type, timestamp: EXAMPLE_TIME, data }
}

const [first, ...others] = EVENT_TYPES.map((type) => EVENT_SCHEMAS[type])
export const eventSchema = z.discriminatedUnion('type', [first!, ...others]).meta({ id: 'Event' })

const example = eventExample('message.delivered')
export const eventResponses: ResponseShape[] = [
  { status: 200, description: 'The event, in the same envelope as in webhooks.', schema: eventSchema, example },
]
export const eventStreamResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'An event stream that stays open.',
    schema: z.string(),
    example: `retry: 3000\n:\n\nid: ${example.id}\nevent: ${example.type}\ndata: ${JSON.stringify(example)}\n\n:\n\n`,
    contentType: 'text/event-stream',
  },
]
export const eventListResponses = [pageShape(eventSchema, example, 'Events, in the same envelopes as in webhooks.')]

/** `message.delivered` → `MessageDeliveredEvent` */
function nameOf(type: EventType): string {
  return `${type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`
}
