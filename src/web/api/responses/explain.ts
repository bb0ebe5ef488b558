import { z } from 'zod'
import { DESTINATION_GROUPS } from '../../../model/destination-group.ts'
import { DELIVERY_STATUSES, MESSAGE_STATUSES } from '../../../model/message.ts'
import { TLS_POLICIES } from '../../../model/tls-policy.ts'
import { WARMUP_STATES } from '../../../model/warmup.ts'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, exampleId, id, mode, time, timeOrNull } from './fields.ts'
import { suppression } from './suppressions.ts'

/** Responses of `/v1/explain` and `/v1/messages/…/explain`; routes/explain.ts builds them. */

const explanation = z.array(z.string()).describe('Explanation in sentences, most important first.')
const state = {
  status: z.enum(DELIVERY_STATUSES),
  attempts: count,
  last_attempt_at: timeOrNull,
  next_attempt_at: timeOrNull,
  smtp_response: z.string().nullable(),
  meaning: z.string().nullable().describe('Meaning of the status codes in the reply.'),
}
const facts = {
  suppressions: z.array(suppression),
  mx_hosts: z.array(z.string()).nullable().describe('Null: not looked up, because no further attempt follows.'),
  tls_policy: z
    .enum(TLS_POLICIES)
    .nullable()
    .describe('What requires TLS verification for the first MX host; null if there is no host.'),
  dns_problem: z.string().nullable(),
  slots: z
    .strictObject({ limit: count, under_way: count })
    .nullable()
    .describe(
      'Concurrent deliveries to this destination. Null if no delivery engine runs or no further attempt follows.',
    ),
  site: z
    .strictObject({
      name: z.string(),
      state: z.enum(['unknown', 'proven', 'troubled', 'paused']),
      connections: count.describe('Current limit of concurrent connections.'),
      max_connections: count,
      lowered_at: timeOrNull,
      lowered_because: z
        .string()
        .nullable()
        .describe('Class of the reply that lowered the limit, for example `rate`. The reply text is not shown.'),
      paused_until: timeOrNull,
      sending_addresses: z
        .array(
          z.strictObject({
            address: z.string(),
            resting_until: timeOrNull,
            resting_because: z.string().nullable().describe('Rule of the reply that blocked the address.'),
            warmup: z
              .strictObject({
                group: z.enum(DESTINATION_GROUPS),
                state: z.enum(WARMUP_STATES),
                day: count.describe('Day of the plan; 0 before the first.'),
                allowance: count.nullable().describe('Messages that today allows.'),
                waits_until: timeOrNull.describe('When more mail may go from the address; null: now.'),
              })
              .optional()
              .describe('Warm-up of the address at this destination, while it lasts.'),
          }),
        )
        .describe(
          'IP addresses that the mail may be sent from. One that the destination blocks rests there, and others go first. Empty: the system chooses.',
        ),
    })
    .nullable()
    .describe('The destination: all domains whose best MX hosts share a registrable domain count as one.'),
}
const ofAddress = z
  .strictObject({
    to: z.string(),
    would_send: z.boolean(),
    explanation,
    refused_with: z
      .enum(['domain_not_verified', 'invalid_state', 'quota_exceeded'])
      .nullable()
      .describe('Why the key’s domain cannot send live mail now, to any recipient.'),
    ...facts,
    last_message: z.strictObject({ message_id: id('msg'), created_at: time, mode, ...state }).nullable(),
  })
  .meta({ id: 'AddressExplanation' })
const ofMessage = z
  .strictObject({
    message_id: id('msg'),
    status: z.enum(MESSAGE_STATUSES),
    mode,
    recipients: z.array(
      z.strictObject({
        email: z.string(),
        type: z.enum(['to', 'cc', 'bcc']),
        explanation,
        ...state,
        bounce_class: z.string().nullable(),
        rule: z.string().nullable(),
        ...facts,
        replies: z
          .array(
            z.strictObject({
              inbound_message_id: id('inb').nullable().describe('Null for the sandbox.'),
              from: z.string().describe('Address in the header of the reply; empty if absent.'),
              replied_at: time,
            }),
          )
          .describe('Replies of people, newest first, from the 50 newest to the message.'),
      }),
    ),
  })
  .meta({ id: 'MessageExplanation' })

const stateExample = {
  status: 'delivered',
  attempts: 1,
  last_attempt_at: EXAMPLE_TIME,
  next_attempt_at: null,
  smtp_response: '250 2.0.0 Ok: queued',
  meaning: 'accepted',
}
const factsExample = {
  suppressions: [],
  mx_hosts: ['mx.customer.example'],
  tls_policy: 'none',
  dns_problem: null,
  slots: null,
  site: null,
}

export const addressExplainedResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The expected result of a live message to the address, and the last message sent to it.',
    schema: ofAddress,
    example: {
      to: 'ann@customer.example',
      would_send: true,
      explanation: ['Mail goes to mx.customer.example.'],
      refused_with: null,
      ...factsExample,
      last_message: { message_id: exampleId('msg'), created_at: EXAMPLE_TIME, mode: 'live', ...stateExample },
    },
  },
]
export const messageExplainedResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The current state and next step for each recipient.',
    schema: ofMessage,
    example: {
      message_id: exampleId('msg'),
      status: 'delivered',
      mode: 'live',
      recipients: [
        {
          email: 'ann@customer.example',
          type: 'to',
          explanation: ['The recipient’s server mx.customer.example accepted the message on the first attempt.'],
          ...stateExample,
          bounce_class: null,
          rule: null,
          ...factsExample,
          mx_hosts: null,
          tls_policy: null,
          replies: [{ inbound_message_id: exampleId('inb'), from: 'ann@customer.example', replied_at: EXAMPLE_TIME }],
        },
      ],
    },
  },
]
