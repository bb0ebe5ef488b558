import { z } from 'zod'
import { DESTINATION_GROUPS } from '../../../model/destination-group.ts'
import { WARMUP_STATES } from '../../../model/warmup.ts'
import { WARMUP_PLANS } from '../../../model/warmup-plan.ts'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, id, time } from './fields.ts'

/** Response of `/v1/sending-addresses`; routes/sending-addresses.ts builds it. */

const group = z.strictObject({
  group: z.enum(DESTINATION_GROUPS),
  state: z
    .enum(WARMUP_STATES)
    .describe(
      '`held`: nothing more is sent until `held_until`. `stepped_back`: behind a day that the plan had reached.',
    ),
  day: count.describe('Day of the plan, behind that of the address after bad days; 0 before the first.'),
  allowance: count.nullable().describe('Messages that today allows; null: no limit any more.'),
  sent: count.describe('Today’s attempts.'),
  delivered: count,
  deferred: count.describe('Today’s deferrals by the host as a whole.'),
  blocked: count.describe('Today’s replies that block the address.'),
  complaints: count,
  held_until: time.nullable(),
  days: z
    .array(z.strictObject({ day: z.string().describe('Date (UTC).'), planned: count, sent: count }))
    .describe('Each day so far, oldest first.'),
})
const warmup = z.strictObject({
  plan: z.enum(WARMUP_PLANS),
  started_on: z.string().describe('Date of the first day (UTC).'),
  day: count.describe('Day since the start, at most `plan_days`; 0 before the first.'),
  plan_days: count,
  groups: z.array(group).describe('Each destination group goes along the plan by itself.'),
})

const address = z
  .strictObject({
    address: z.string(),
    hostname: z.string().describe('Name in EHLO.'),
    pool: z.string(),
    node: z.string().nullable().describe('The node that has the address; null: every node.'),
    organization_id: id('org').nullable().describe('The organization that a dedicated address belongs to.'),
    ptr: z.string().nullable().describe('Name that the address resolves to.'),
    forward_confirmed: z.boolean().describe('Whether the PTR name is `hostname` and resolves back to the address.'),
    blocklists: z.array(z.string()).nullable().describe('Blocklists that contain it; null: not asked.'),
    attempts: count.describe('In this hour and the 23 before.'),
    delivered: count.describe('Attempts of that time that the destination accepted.'),
    resting: z
      .array(z.strictObject({ site: z.string(), because: z.string(), until: time }))
      .describe('Destinations that block the address, with the rule of the reply.'),
    warmup: warmup.nullable().describe('Limits the messages per day of a new address; null: no warm-up.'),
  })
  .meta({ id: 'SendingAddress' })

export const sendingAddressResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'All configured addresses.',
    schema: z.strictObject({ data: z.array(address) }).meta({ id: 'SendingAddresses' }),
    example: {
      data: [
        {
          address: '192.0.2.10',
          hostname: 'out1.example.com',
          pool: 'default',
          node: null,
          organization_id: null,
          ptr: 'out1.example.com',
          forward_confirmed: true,
          blocklists: [],
          attempts: 12_345,
          delivered: 12_001,
          resting: [{ site: 'google.com', because: 'block-list', until: EXAMPLE_TIME }],
          warmup: {
            plan: 'standard',
            started_on: '2026-11-22',
            day: 2,
            plan_days: 30,
            groups: [
              {
                group: 'google',
                state: 'on_plan',
                day: 2,
                allowance: 63,
                sent: 12,
                delivered: 12,
                deferred: 0,
                blocked: 0,
                complaints: 0,
                held_until: null,
                days: [
                  { day: '2026-11-22', planned: 50, sent: 50 },
                  { day: '2026-11-23', planned: 63, sent: 12 },
                ],
              },
            ],
          },
        },
      ],
    },
  },
]
