import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, time } from './fields.ts'

/** Response of `/v1/relays`; routes/relays.ts builds it. */

const relay = z
  .strictObject({
    name: z.string(),
    host: z.string(),
    port: z.int(),
    month: z.string().describe('UTC calendar month of the counts.'),
    sent: count.describe('Messages that the relay accepted, per recipient.'),
    failed: count.describe('Attempts whose message it did not accept.'),
    cost: z.number().nullable().describe('`sent` at `price_per_thousand`; null: no price is configured.'),
    last_error: z.strictObject({ at: time, message: z.string() }).nullable().describe('The last failure of the month.'),
  })
  .meta({ id: 'Relay' })

export const relayResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'All configured relays.',
    schema: z.strictObject({ data: z.array(relay) }).meta({ id: 'Relays' }),
    example: {
      data: [
        {
          name: 'provider',
          host: 'smtp.provider.example',
          port: 587,
          month: '2026-11',
          sent: 12_500,
          failed: 3,
          cost: 1.25,
          last_error: { at: EXAMPLE_TIME, message: '421 4.7.0 try again later' },
        },
      ],
    },
  },
]
