import { z } from 'zod'
import { CANARY_RESULTS } from '../../../model/canary.ts'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, exampleId, id, time, timeOrNull } from './fields.ts'

/** Responses of `/v1/canary`; routes/canary.ts builds them. */

const canary = z
  .strictObject({
    id: id('cnr'),
    mailbox: z.string(),
    result: z
      .enum(CANARY_RESULTS)
      .describe('`inbox`: arrived in time. `unchecked`: the mailbox could not be read. `pending`: on its way.'),
    sent_at: time,
    arrived_at: timeOrNull,
    seconds: z.number().nullable().describe('From sent_at to arrived_at.'),
    detail: z.string().nullable().describe('Why the result is not better.'),
  })
  .meta({ id: 'Canary' })

const example = {
  id: exampleId('cnr'),
  mailbox: 'self',
  result: 'inbox',
  sent_at: EXAMPLE_TIME,
  arrived_at: EXAMPLE_TIME,
  seconds: 0,
  detail: null,
}

export const canaryListResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The mailboxes, this server itself (`self`) first, each with its last messages, newest first.',
    schema: z
      .strictObject({
        every_minutes: count.describe('0: canary messages are off, and the list is empty.'),
        late_after_seconds: z.number(),
        data: z.array(
          z.strictObject({ mailbox: z.string(), address: z.string().nullable(), canaries: z.array(canary) }),
        ),
      })
      .meta({ id: 'Canaries' }),
    example: {
      every_minutes: 15,
      late_after_seconds: 300,
      data: [{ mailbox: 'self', address: null, canaries: [example] }],
    },
  },
]

export const canaryRunResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The messages, on their way.',
    schema: z.strictObject({ data: z.array(canary) }),
    example: { data: [{ ...example, result: 'pending', arrived_at: null, seconds: null }] },
  },
]
