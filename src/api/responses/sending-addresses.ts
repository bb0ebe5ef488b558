import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, id, time } from './fields.ts'

/** Response of `/v1/sending-addresses`; routes/sending-addresses.ts builds it. */

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
    attempts: count.describe('Since the start of the node.'),
    delivered: count,
    resting: z
      .array(z.strictObject({ site: z.string(), because: z.string(), until: time }))
      .describe('Destinations that block the address, with the rule of the reply.'),
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
        },
      ],
    },
  },
]
