import { z } from 'zod'
import { DELIVERY_STATUSES, MESSAGE_STATUSES } from '../../../model/message.ts'
import type { ResponseShape } from '../operation.ts'
import { errorExample, errorSchema } from './error.ts'
import { count, EXAMPLE_TIME, exampleId, id, metadata, mode, pageShape, time, timeOrNull } from './fields.ts'

/** Responses of `/v1/messages`; routes/message-record.ts builds the records. */

const recipientType = z.enum(['to', 'cc', 'bcc'])
const status = z
  .enum(MESSAGE_STATUSES)
  .describe(
    '`partial`: every recipient is final, with different results. `queued`, `scheduled` and `deferred` are not final.',
  )
const asSent = z.union([z.string(), z.array(z.string())]).nullable()

const accepted = z
  .strictObject({
    id: id('msg'),
    message_id: id('msg').describe('Same as `id`.'),
    status,
    created_at: time,
    scheduled_at: time.optional(),
    recipients: z.array(z.strictObject({ email: z.string(), type: recipientType, status: z.enum(DELIVERY_STATUSES) })),
  })
  .meta({ id: 'AcceptedMessage' })
const acceptedExample = {
  id: exampleId('msg'),
  message_id: exampleId('msg'),
  status: 'queued',
  created_at: EXAMPLE_TIME,
  recipients: [{ email: 'ann@customer.example', type: 'to', status: 'queued' }],
}

const recipient = z
  .strictObject({
    email: z.string(),
    type: recipientType,
    status: z.enum(DELIVERY_STATUSES),
    attempts: count,
    last_attempt_at: timeOrNull,
    next_attempt_at: timeOrNull,
    delivered_at: timeOrNull,
    smtp_response: z.string().nullable().describe('Last reply from the recipient’s server.'),
    bounce_type: z.enum(['hard', 'soft']).nullable(),
    bounce_code: z.string().nullable().describe('Enhanced status code (RFC 3463), or the SMTP reply code.'),
    mx_host: z.string().nullable(),
    tls: z.string().nullable().describe('TLS version and cipher of the last attempt; null = unencrypted.'),
    opens: count.describe('Opens by people. Opens by known machines are counted separately.'),
    clicks: count,
    machine_opens: count,
    machine_clicks: count,
  })
  .meta({ id: 'Recipient' })
const message = z
  .strictObject({
    id: id('msg'),
    mode,
    status,
    from: z.string(),
    to: asSent.describe(
      'The `To` addresses as submitted, with display names: a string or a list, like the request. `recipients` is always a list.',
    ),
    cc: asSent,
    bcc: asSent,
    reply_to: asSent,
    replies: id('rte').nullable().describe('The inbound route that receives the answers.'),
    subject: z.string(),
    tags: z.array(z.string()),
    metadata,
    template_id: z.string().nullable(),
    domain_id: id('dom'),
    key_id: z
      .string()
      .nullable()
      .describe('The API key, user or `operator` that sent it; null: an inbound route forwarded it.'),
    size_bytes: count.describe(
      'The submitted content: subject, html, text and attachments as base64. For SMTP submissions, the whole message.',
    ),
    message_id_header: z.string(),
    created_at: time,
    scheduled_at: timeOrNull,
    source: z.enum(['api', 'smtp']),
    stream: z.string().describe('Message stream.'),
    recipients: z.array(recipient),
  })
  .meta({ id: 'Message' })
const messageExample = {
  id: exampleId('msg'),
  mode: 'live',
  status: 'delivered',
  from: 'Shop <shop@example.com>',
  to: 'ann@customer.example',
  cc: null,
  bcc: null,
  reply_to: null,
  replies: null,
  subject: 'Your order',
  tags: ['orders'],
  metadata: { order: '1001' },
  template_id: null,
  domain_id: exampleId('dom'),
  key_id: exampleId('key'),
  size_bytes: 1482,
  message_id_header: '<01m7ykx6js1zy8zpzy8z8cwhzy@example.com>',
  created_at: EXAMPLE_TIME,
  scheduled_at: null,
  source: 'api',
  stream: 'transactional',
  recipients: [
    {
      email: 'ann@customer.example',
      type: 'to',
      status: 'delivered',
      attempts: 1,
      last_attempt_at: EXAMPLE_TIME,
      next_attempt_at: null,
      delivered_at: EXAMPLE_TIME,
      smtp_response: '250 2.0.0 Ok: queued',
      bounce_type: null,
      bounce_code: null,
      mx_host: 'mx.customer.example',
      tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
      opens: 0,
      clicks: 0,
      machine_opens: 0,
      machine_clicks: 0,
    },
  ],
}

export const acceptedResponse: ResponseShape = {
  status: 202,
  description: 'The message is stored durably and will be delivered.',
  schema: accepted,
  example: acceptedExample,
}
export const sendResponses: ResponseShape[] = [
  acceptedResponse,
  {
    ...acceptedResponse,
    status: 200,
    description: 'With `Prefer: wait=N`: every recipient is final, or N seconds have passed.',
    example: {
      ...acceptedExample,
      status: 'delivered',
      recipients: [{ email: 'ann@customer.example', type: 'to', status: 'delivered' }],
    },
  },
]
export const batchResponses: ResponseShape[] = [
  {
    status: 202,
    description: 'One result per message, in request order. A rejected message does not affect the others.',
    schema: z.strictObject({ data: z.array(z.union([accepted, errorSchema])) }),
    example: { data: [acceptedExample, errorExample] },
  },
]
export const messageResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The message and the status of each recipient.',
    schema: message,
    example: messageExample,
  },
]
export const messageListResponses = [pageShape(message, messageExample, 'Messages, newest first.')]
