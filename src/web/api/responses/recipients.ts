import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, exampleId, id, pageShape, time } from './fields.ts'

/** Responses of `/v1/recipients`; routes/recipients.ts builds the record. */

const erasure = z
  .strictObject({
    id: id('era'),
    status: z
      .enum(['running', 'done'])
      .describe('It runs until attempts in progress and shared messages to other recipients have ended.'),
    address_hash: z
      .string()
      .describe('Keyed hash of the address. When the erasure ends, Postrider deletes the address itself.'),
    created_at: time,
    finished_at: time.nullable(),
    removed: z.strictObject({
      messages: count.describe('Messages to nobody else.'),
      shared_messages: count.describe('Messages with other recipients, which lost the address and their content.'),
      events: count,
      inbound_messages: count,
      responses: count.describe('Stored responses of requests with an idempotency key.'),
      suppressions: count.describe('Suppressions that now keep the hash only.'),
    }),
    remaining: z
      .array(
        z.strictObject({
          type: z.enum(['user', 'invitation', 'inbound_route', 'forward_target']),
          id: z.string().nullable().describe('Null for a forward target, which has no ID.'),
        }),
      )
      .describe(
        'Records of your organization that still name the address when the erasure ends. Change them yourself.',
      ),
  })
  .meta({ id: 'Erasure' })
const example = {
  id: exampleId('era'),
  status: 'running',
  address_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  created_at: EXAMPLE_TIME,
  finished_at: null,
  removed: { messages: 0, shared_messages: 0, events: 0, inbound_messages: 0, responses: 0, suppressions: 0 },
  remaining: [],
}

export const erasureBegunResponses: ResponseShape[] = [
  { status: 202, description: 'The erasure runs.', schema: erasure, example },
]
export const erasureResponses: ResponseShape[] = [
  { status: 200, description: 'The erasure.', schema: erasure, example },
]
export const erasureListResponses = [pageShape(erasure, example, 'Running and finished erasures, newest first.')]
