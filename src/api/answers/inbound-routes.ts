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
  domain: z
    .string()
    .nullable()
    .describe('The domain that it is for; null = every domain, of a catch-all that a key with `admin` made.'),
  action: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('webhook'),
      config: z.strictObject({ url: z.string(), include_attachments: z.boolean() }),
    }),
    z.strictObject({
      type: z.literal('forward'),
      config: z.strictObject({
        to: z.array(
          z
            .strictObject({
              email: z.string(),
              status: z.enum(['pending', 'confirmed']).describe('Nothing is forwarded to a pending target.'),
              is_stopped: z.boolean().describe('Its owner ended the forwarding, and is not asked again.'),
            })
            .meta({ id: 'ForwardTarget' }),
        ),
      }),
    }),
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
  domain: 'example.com',
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
export const routeConfirmationsAnswers: AnswerShape[] = [
  {
    status: 202,
    description: 'What came of each target.',
    schema: z
      .strictObject({
        data: z.array(
          z.strictObject({
            email: z.string(),
            status: z.enum(['pending', 'confirmed']),
            sent: z.boolean().describe('A confirmation mail is on its way.'),
            reason: z
              .enum(['too_many', 'stopped', 'suppressed'])
              .nullable()
              .describe(
                'Why none was sent to a pending target: enough for today, its owner stopped it, or suppressed.',
              ),
          }),
        ),
      })
      .meta({ id: 'ForwardConfirmations' }),
    example: { data: [{ email: 'ann@elsewhere.example', status: 'pending', sent: true, reason: null }] },
  },
]
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
