import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { ofPart } from './content.ts'
import { count, EXAMPLE_TIME, exampleId, id, metadata, pageShape, time, timeOrNull } from './fields.ts'
import { postAttempt, postAttemptExample } from './webhooks.ts'

/** Responses of `/v1/inbound-messages`, and the payload of a webhook route. */

const SPF = ['none', 'neutral', 'pass', 'fail', 'softfail', 'temperror', 'permerror', 'policy'] as const
const DKIM = ['none', 'pass', 'fail', 'policy', 'neutral', 'temperror', 'permerror'] as const
const DMARC = ['none', 'pass', 'fail', 'temperror', 'permerror'] as const
const verdicts = { spf_result: z.enum(SPF), dkim_result: z.enum(DKIM), dmarc_result: z.enum(DMARC) }
const verdictsExample = { spf_result: 'pass', dkim_result: 'pass', dmarc_result: 'pass' }
const attachment = z.strictObject({ filename: z.string(), content_type: z.string(), size: count })
const attachments = z.array(attachment)
const identifiedAttachments = z.array(
  attachment.extend({
    content_id: z
      .string()
      .nullable()
      .describe('Content-ID without angle brackets, by which `html_body` shows it as `cid:`; null if it has none.'),
  }),
)
const headers = z
  .record(z.string(), z.string())
  .describe('Header names in lower case. Repeated headers are joined with line breaks.')

const replyFields = {
  reply_text: z
    .string()
    .nullable()
    .describe(
      'What the author of an answer wrote, without quotes and signature; the whole text where that is not certain. Null for mail that does not answer another one, and for automatic mail.',
    ),
  reply_html: z.string().nullable().describe('The same in HTML; null if it cannot be cut safely.'),
  in_reply_to: z
    .strictObject({
      message_id: id('msg'),
      to: z.string().describe('Recipient of that message.'),
      subject: z.string(),
      tags: z.array(z.string()),
      metadata,
      sent_at: time,
    })
    .nullable()
    .describe('The message of this organization that the mail answers; null if there is none, or it was removed.'),
  auto_submitted: z.boolean().describe('True for auto-replies, bounces and mail of lists.'),
}
const replyExample = {
  reply_text: 'Hello?',
  reply_html: null,
  in_reply_to: {
    message_id: exampleId('msg'),
    to: 'bob@customer.example',
    subject: 'Your order',
    tags: ['orders'],
    metadata: { order: '1001' },
    sent_at: EXAMPLE_TIME,
  },
  auto_submitted: false,
}

const messageFields = {
  id: id('inb'),
  route_id: id('rte').nullable().describe('Null for mail to `postmaster` or `abuse` that matches no route.'),
  domain_id: id('dom'),
  action: z.enum(['webhook', 'forward', 'store']),
  status: z.enum(['pending', 'delivered', 'failed', 'stored']),
  from: z.string().describe('Address in the From header; empty if there is none.'),
  to: z.array(z.string()).describe('Envelope recipients that the route matched.'),
  subject: z.string(),
  message_id: z.string().describe('The Message-ID header, not an ID of the API; empty if there is none.'),
  return_path: z.string(),
  sender_ip: z.string(),
  helo: z.string(),
  tls: z.string().nullable(),
  size_bytes: count,
  ...verdicts,
  arc_result: z.enum(['none', 'pass', 'fail']),
  parse_error: z.string().nullable(),
  forwarded_as: id('msg').nullable(),
  not_forwarded: z
    .array(
      z.strictObject({
        email: z.string(),
        reason: z.enum(['pending_confirmation', 'stopped', 'domain_not_verified']),
      }),
    )
    .describe('Forward targets that did not get the message, with the reason.'),
  created_at: time,
}
const message = z.strictObject(messageFields).meta({ id: 'InboundMessage' })
const wholeMessage = z
  .strictObject({
    ...messageFields,
    text_body: z.string().nullable().describe('These four fields are null after the retention period.'),
    html_body: z.string().nullable(),
    headers: headers.nullable(),
    attachments: identifiedAttachments.nullable(),
    ...replyFields,
  })
  .meta({ id: 'WholeInboundMessage' })
const messageExample = {
  id: exampleId('inb'),
  route_id: exampleId('rte'),
  domain_id: exampleId('dom'),
  action: 'webhook',
  status: 'delivered',
  from: 'bob@customer.example',
  to: ['help+order@example.com'],
  subject: 'A question',
  message_id: '<1@customer.example>',
  return_path: 'bob@customer.example',
  sender_ip: '192.0.2.7',
  helo: 'mx.customer.example',
  tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
  size_bytes: 812,
  ...verdictsExample,
  arc_result: 'none',
  parse_error: null,
  forwarded_as: null,
  not_forwarded: [],
  created_at: EXAMPLE_TIME,
}
const contentExample = {
  text_body: 'Hello?\n',
  html_body: '',
  headers: { from: 'Bob <bob@customer.example>', subject: 'A question' },
  attachments: [{ filename: 'a.pdf', content_type: 'application/pdf', size: 5120 }],
}
const delivery = z
  .strictObject({
    id: id('whd'),
    inbound_message_id: id('inb'),
    route_id: id('rte'),
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.array(postAttempt),
    next_attempt_at: timeOrNull,
    created_at: time,
  })
  .meta({ id: 'InboundDelivery' })
const deliveryExample = {
  id: exampleId('whd'),
  inbound_message_id: exampleId('inb'),
  route_id: exampleId('rte'),
  status: 'delivered',
  attempts: [postAttemptExample],
  next_attempt_at: null,
  created_at: EXAMPLE_TIME,
}
const inboundDeliveries = pageShape(delivery, deliveryExample, 'Deliveries, newest first, always on one page.')

export const inboundListResponses = [pageShape(message, messageExample, 'Inbound messages, newest first.')]
export const inboundResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The message with its bodies, headers and a list of its attachments.',
    schema: wholeMessage,
    example: {
      ...messageExample,
      ...contentExample,
      attachments: contentExample.attachments.map((each) => ({ ...each, content_id: null })),
      ...replyExample,
    },
  },
]
export const inboundRawResponses: ResponseShape[] = [
  {
    ...ofPart('message/rfc822', 'The message as received, with our trace headers added at the top.'),
    example: 'From: Bob <bob@customer.example>\r\nSubject: A question\r\n\r\nHello?\r\n',
  },
]
export const inboundDeliveriesResponses = [inboundDeliveries]
export const redeliverResponses: ResponseShape[] = [
  { status: 202, description: 'The new delivery.', schema: delivery, example: deliveryExample },
]

/** Schema of the payload of a `webhook` route, a flat object without an envelope. events/webhooks/inbound-payload.ts builds
 *  it. */
export const inboundReceived = z
  .strictObject({
    event: z.literal('inbound'),
    timestamp: time,
    from: z.string(),
    to: z.array(z.string()),
    subject: z.string(),
    message_id: z
      .string()
      .describe('The Message-ID header; empty if there is none. `X-Inbound-Message-Id` has the ID for the API.'),
    text_body: z.string(),
    html_body: z.string(),
    headers,
    attachments,
    attachments_data: z
      .array(z.strictObject({ filename: z.string(), content_type: z.string(), content: z.string() }))
      .optional()
      .describe('With `include_attachments`: base64 content, in the order of `attachments`.'),
    ...verdicts,
    sender_ip: z.string(),
    reply_text: replyFields.reply_text.optional(),
    reply_html: replyFields.reply_html.optional(),
    in_reply_to: replyFields.in_reply_to.optional(),
    auto_submitted: replyFields.auto_submitted.optional(),
  })
  .meta({ id: 'InboundReceived' })
export const inboundReceivedExample = {
  event: 'inbound',
  timestamp: EXAMPLE_TIME,
  from: 'bob@customer.example',
  to: ['help+order@example.com'],
  subject: 'A question',
  message_id: '<1@customer.example>',
  ...contentExample,
  ...verdictsExample,
  sender_ip: '192.0.2.7',
  ...replyExample,
}
