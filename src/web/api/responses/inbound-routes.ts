import { z } from 'zod'
import { ROUTE_AUTHENTICATIONS } from '../../../model/inbound-route.ts'
import type { ResponseShape } from '../operation.ts'
import { deletedShape, EXAMPLE_TIME, exampleId, id, pageShape, time } from './fields.ts'

/** Responses of `/v1/inbound-routes`; routes/inbound-routes.ts builds the record. */

const MATCHES = ['address', 'domain', 'pattern', 'catch_all'] as const
const fields = {
  id: id('rte'),
  name: z.string(),
  match: z.strictObject({ type: z.enum(MATCHES), value: z.string().nullable() }),
  domain: z
    .string()
    .nullable()
    .describe('Domain the route applies to; null = every domain, for a catch-all created with an `admin` key.'),
  action: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('webhook'),
      config: z.strictObject({
        url: z.string(),
        include_attachments: z.boolean(),
        replies: z.boolean(),
        header_names: z.array(z.string()).describe('Names of the additional headers; the values are never shown.'),
      }),
    }),
    z.strictObject({
      type: z.literal('forward'),
      config: z.strictObject({
        to: z.array(
          z
            .strictObject({
              email: z.string(),
              status: z.enum(['pending', 'confirmed']).describe('Pending targets receive no mail until they confirm.'),
              is_stopped: z
                .boolean()
                .describe('The owner stopped the forwarding. No further confirmation request is sent.'),
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
  .describe('Signing secret for verifying signatures. Shown only once.')
const route = z.strictObject(fields).meta({ id: 'InboundRoute' })
const createdRoute = z.strictObject({ ...fields, secret }).meta({ id: 'CreatedInboundRoute' })
const routeExample = {
  id: exampleId('rte'),
  name: 'help desk',
  match: { type: 'address', value: 'help@example.com' },
  domain: 'example.com',
  action: {
    type: 'webhook',
    config: { url: 'https://hooks.example.com/inbound', include_attachments: false, replies: true, header_names: [] },
  },
  authentication: 'none',
  enabled: true,
  priority: 0,
  created_at: EXAMPLE_TIME,
}

export const routeResponses: ResponseShape[] = [
  { status: 200, description: 'The inbound route.', schema: route, example: routeExample },
]
export const routeCreatedResponses: ResponseShape[] = [
  {
    status: 201,
    description: 'The inbound route, including its signing secret.',
    schema: createdRoute,
    example: { ...routeExample, secret: 'whsec_ZXhhbXBsZWV4YW1wbGVleGFtcGxlZXhhbXBsZWV4YW0=' },
  },
]
export const routeListResponses = [pageShape(route, routeExample, 'Inbound routes, newest first.')]
export const routeDeletedResponses = [deletedShape('rte', 'The route is deleted. Messages it received remain.')]
export const routeConfirmationsResponses: ResponseShape[] = [
  {
    status: 202,
    description: 'Result for each target.',
    schema: z
      .strictObject({
        data: z.array(
          z.strictObject({
            email: z.string(),
            status: z.enum(['pending', 'confirmed']),
            sent: z.boolean().describe('A confirmation email is on its way.'),
            reason: z
              .enum(['too_many', 'stopped', 'suppressed', 'received_here'])
              .nullable()
              .describe(
                'Why no confirmation was sent to a pending target: daily limit reached, stopped by its owner, suppressed, or its mail is received by this server.',
              ),
            url: z
              .string()
              .nullable()
              .describe(
                'For `received_here`, if the operator asks: the link that confirms. Only the target may use it.',
              ),
          }),
        ),
      })
      .meta({ id: 'ForwardConfirmations' }),
    example: { data: [{ email: 'ann@elsewhere.example', status: 'pending', sent: true, reason: null, url: null }] },
  },
]
export const routeTestResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The matching route and all routes considered.',
    schema: z
      .strictObject({
        taken_by: route.nullable().describe('Null = no route matches and the mail would be rejected.'),
        takes: z.boolean().describe('True if this is the route in the path.'),
        by: z.enum(MATCHES).nullable(),
        via_bare_address: z.boolean().describe('True if the route matches `a@d` and the address was `a+tag@d`.'),
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
      reason: 'Route "help desk" accepts the mail: the address is help@example.com',
      considered: [
        {
          id: exampleId('rte'),
          name: 'help desk',
          matches: true,
          reason: 'accepts the mail: the address is help@example.com',
        },
      ],
    },
  },
]
