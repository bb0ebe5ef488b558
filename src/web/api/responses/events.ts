import { z } from 'zod'
import { sampleData } from '../../../model/event-samples.ts'
import { EVENT_FACTS, EVENT_TYPES, type EventField, type EventType } from '../../../model/event-types.ts'
import { LISTED_ATTACHMENTS } from '../../../model/inbound-message.ts'
import { tableOf } from '../../../os/records.ts'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, exampleId, id, metadata, pageShape, time } from './fields.ts'

/** Responses of `/v1/events`, and the schema of each event's envelope, for the API and webhooks. */

/** A field of an event → its schema. */
function schemaOf({ type, oneOf, isNullable, isOptional, about }: EventField): z.ZodType {
  let schema = oneOf === undefined ? SCHEMAS[type] : z.enum(oneOf)
  if (isNullable) schema = schema.nullable()
  if (isOptional) schema = schema.optional()
  return about === undefined ? schema : schema.describe(about)
}

const SCHEMAS: Record<EventField['type'], z.ZodType> = {
  text: z.string(),
  time,
  number: z.number(),
  count,
  ordinal: z.int().min(1),
  boolean: z.boolean(),
  texts: z.array(z.string()),
  metadata,
  attachments: z
    .array(
      z.strictObject({
        filename: z.string(),
        content_type: z.string(),
        size: count,
        content_id: z.string().nullable(),
      }),
    )
    .max(LISTED_ATTACHMENTS),
}

/** Event type → schema of its envelope. */
export const EVENT_SCHEMAS = tableOf(EVENT_TYPES, (type) => {
  const fields = Object.fromEntries(
    Object.entries(EVENT_FACTS[type].fields).map(([name, field]) => [name, schemaOf(field)]),
  )
  const test = z.literal(true).optional().describe('True for a sample event from `POST …/test`.')
  const envelope = z.strictObject({
    id: id('evt').describe('Identical on every attempt and replay. Use it to process each event once.'),
    type: z.literal(type),
    timestamp: time,
    data: z.strictObject({ ...fields, test }),
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
