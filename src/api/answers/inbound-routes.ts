import { z } from 'zod'
import { ROUTE_AUTHENTICATIONS } from '../../model/inbound-route.ts'
import type { AnswerShape } from '../operation.ts'
import { deletedShape, EXAMPLE_TIME, exampleId, id, pageShape, time } from './words.ts'

/** What `/v1/inbound-routes` answers (contract §5); the record is made in routes/inbound-routes.ts. */

const MATCHES = ['address', 'domain', 'pattern', 'catch_all'] as const
const fields = {
  id: id('rte'),
  name: z.string(),
  match: z.strictObject({ type: z.enum(MATCHES), value: z.string().nullable() }),
  action: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('webhook'),
      config: z.strictObject({ url: z.string(), include_attachments: z.boolean() }),
    }),
    z.strictObject({ type: z.literal('forward'), config: z.strictObject({ to: z.array(z.string()) }) }),
    z.strictObject({ type: z.literal('store'), config: z.strictObject({}) }),
  ]),
  authentication: z.enum(ROUTE_AUTHENTICATIONS),
  enabled: z.boolean(),
  priority: z.int(),
  created_at: time,
}
const secret = z
  .string()
  .regex(/^whsec_/)
  .describe('For checking signatures; shown this once.')
const route = z.strictObject(fields).meta({ id: 'InboundRoute' })
const createdRoute = z.strictObject({ ...fields, secret }).meta({ id: 'CreatedInboundRoute' })
const routeExample = {
  id: exampleId('rte'),
  name: 'help desk',
  match: { type: 'address', value: 'help@example.com' },
  action: { type: 'webhook', config: { url: 'https://hooks.example.com/inbound', include_attachments: false } },
  authentication: 'none',
  enabled: true,
  priority: 0,
  created_at: EXAMPLE_TIME,
}

export const routeAnswers: AnswerShape[] = [
  { status: 200, description: 'The inbound route.', schema: route, example: routeExample },
]
export const routeCreatedAnswers: AnswerShape[] = [
  {
    status: 201,
    description: 'The inbound route with its signing secret.',
    schema: createdRoute,
    example: { ...routeExample, secret: 'whsec_ZXhhbXBsZWV4YW1wbGVleGFtcGxlZXhhbXBsZWV4YW0=' },
  },
]
export const routeListAnswers = [pageShape(route, routeExample, 'Inbound routes, newest first.')]
export const routeDeletedAnswers = [deletedShape('rte', 'It is gone; what it took stays.')]
export const routeTestAnswers: AnswerShape[] = [
  {
    status: 200,
    description: 'Which route would take the mail, and what was considered.',
    schema: z
      .strictObject({
        taken_by: route.nullable().describe('Null = no route; the mail would be refused.'),
        takes: z.boolean().describe('It is the route that was asked about.'),
        by: z.enum(MATCHES).nullable(),
        via_bare_address: z.boolean().describe('The route knows `a@d`; asked was `a+tag@d`.'),
        reason: z.string(),
        considered: z.array(
          z.strictObject({ id: id('rte'), name: z.string(), matches: z.boolean(), reason: z.string() }),
        ),
      })
      .meta({ id: 'InboundRouteTest' }),
    example: {
      taken_by: routeExample,
      takes: true,
      by: 'address',
      via_bare_address: true,
      reason: '"help desk" matches help@example.com',
      considered: [{ id: exampleId('rte'), name: 'help desk', matches: true, reason: 'matches help@example.com' }],
    },
  },
]
