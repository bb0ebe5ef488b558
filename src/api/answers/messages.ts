import { z } from 'zod'
import { DELIVERY_STATUSES, MESSAGE_STATUSES } from '../../model/message.ts'
import { REPORT_KINDS } from '../../model/report.ts'
import type { AnswerShape } from '../operation.ts'
import { errorExample, errorSchema } from './error.ts'
import {
  count,
  EXAMPLE_LATER,
  EXAMPLE_TIME,
  exampleId,
  id,
  metadata,
  mode,
  pageShape,
  time,
  timeOrNull,
} from './words.ts'

/** What `/v1/messages` answers (contract §3); the records are made in routes/message-record.ts. */

const recipientType = z.enum(['to', 'cc', 'bcc'])
const status = z
  .enum(MESSAGE_STATUSES)
  .describe(
    '`partial`: every recipient is final, but they differ. `queued`, `scheduled`, `deferred`: still to be tried.',
  )
const asSent = z.union([z.string(), z.array(z.string())]).nullable()

const accepted = z
  .strictObject({
    id: id('msg'),
    message_id: id('msg').describe('The same as `id`.'),
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
    smtp_response: z.string().nullable().describe('The last reply of the recipient’s server.'),
    bounce_type: z.enum(['hard', 'soft']).nullable(),
    bounce_code: z.string().nullable().describe('Enhanced status code (RFC 3463), or the reply code.'),
    mx_host: z.string().nullable(),
    tls: z.string().nullable().describe('Version and cipher of the last attempt; null = in clear.'),
    opens: count.describe('By people; what known machines opened is counted apart.'),
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
    to: asSent.describe('In the form it was sent in.'),
    cc: asSent,
    bcc: asSent,
    reply_to: asSent,
    subject: z.string(),
    tags: z.array(z.string()),
    metadata,
    template_id: z.string().nullable(),
    domain_id: id('dom'),
    size_bytes: count.describe('Of the composed mail without its signatures.'),
    message_id_header: z.string(),
    created_at: time,
    scheduled_at: timeOrNull,
    source: z.enum(['api', 'smtp']),
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
  subject: 'Your order',
  tags: ['orders'],
  metadata: { order: '1001' },
  template_id: null,
  domain_id: exampleId('dom'),
  size_bytes: 1482,
  message_id_header: '<01m7ykx6js1zy8zpzy8z8cwhzy@example.com>',
  created_at: EXAMPLE_TIME,
  scheduled_at: null,
  source: 'api',
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

const attempt = z
  .strictObject({
    recipient: z.string(),
    number: z.int().min(1),
    started_at: time,
    duration_ms: z.number().min(0),
    outcome: z
      .enum(['delivered', 'deferred', 'bounced', 'unknown'])
      .describe('`unknown`: the connection was lost after the final dot; tried again with the same Message-ID.'),
    mx_host: z.string().nullable(),
    mx_ip: z.string().nullable(),
    source_ip: z.string().nullable(),
    tls_version: z.string().nullable(),
    tls_cipher: z.string().nullable(),
    tls_verified: z.boolean(),
    smtp_response: z.string().nullable(),
    enhanced_code: z.string().nullable(),
    cause: z.strictObject({ class: z.string(), rule: z.string() }).nullable(),
    transcript: z.string().describe('The SMTP dialogue with milliseconds; without the mail, credentials struck out.'),
  })
  .meta({ id: 'Attempt' })
const report = z
  .strictObject({
    email: z.string(),
    kind: z.enum(REPORT_KINDS),
    received_at: time,
    reporter: z.string().nullable(),
    status: z.string().nullable(),
    diagnostic: z.string().nullable(),
    bounce_class: z.string().nullable(),
    rule: z.string().nullable(),
    feedback_type: z.string().nullable(),
  })
  .meta({ id: 'Report', description: 'What came back later: a DSN, a complaint, an automatic answer.' })
const attemptExample = {
  recipient: 'ann@customer.example',
  number: 1,
  started_at: EXAMPLE_TIME,
  duration_ms: 212,
  outcome: 'delivered',
  mx_host: 'mx.customer.example',
  mx_ip: '192.0.2.25',
  source_ip: '198.51.100.10',
  tls_version: 'TLSv1.3',
  tls_cipher: 'TLS_AES_256_GCM_SHA384',
  tls_verified: true,
  smtp_response: '250 2.0.0 Ok: queued',
  enhanced_code: '2.0.0',
  cause: null,
  transcript: '0 S: 220 mx.customer.example ESMTP\n21 C: EHLO mail.example.com',
}

const content = z
  .strictObject({
    id: id('msg'),
    subject: z.string(),
    html: z.string().nullable(),
    text: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
    attachments: z.array(
      z.strictObject({
        filename: z.string(),
        content_type: z.string(),
        content_id: z.string().nullable(),
        size_bytes: count,
      }),
    ),
  })
  .meta({ id: 'MessageContent' })
const RAW_MAIL = 'From: Shop <shop@example.com>\r\nTo: ann@customer.example\r\nSubject: Your order\r\n\r\nThanks!\r\n'

export const acceptedAnswer: AnswerShape = {
  status: 202,
  description: 'The message is durable on disk and will be delivered.',
  schema: accepted,
  example: acceptedExample,
}
export const sendAnswers: AnswerShape[] = [
  acceptedAnswer,
  {
    ...acceptedAnswer,
    status: 200,
    description: 'With `Prefer: wait=N`: every recipient is final, or N seconds have passed.',
    example: {
      ...acceptedExample,
      status: 'delivered',
      recipients: [{ email: 'ann@customer.example', type: 'to', status: 'delivered' }],
    },
  },
]
export const batchAnswers: AnswerShape[] = [
  {
    status: 202,
    description: 'One result for each message, in order. One that is refused does not stop the others.',
    schema: z.strictObject({ data: z.array(z.union([accepted, errorSchema])) }),
    example: { data: [acceptedExample, errorExample] },
  },
]
export const messageAnswers: AnswerShape[] = [
  {
    status: 200,
    description: 'The message and the state of each recipient.',
    schema: message,
    example: messageExample,
  },
]
export const messageListAnswers = [pageShape(message, messageExample, 'Messages, newest first.')]
export const contentAnswers: AnswerShape[] = [
  {
    status: 200,
    description: 'Without `part`: the content as JSON.',
    schema: content,
    example: {
      id: exampleId('msg'),
      subject: 'Your order',
      html: '<p>Thanks!</p>',
      text: 'Thanks!',
      headers: { 'X-Order': '1001' },
      attachments: [{ filename: 'a.pdf', content_type: 'application/pdf', content_id: null, size_bytes: 5120 }],
    },
  },
  { ...ofPart('text/html; charset=utf-8', '`part=html`'), example: '<p>Thanks!</p>' },
  { ...ofPart('text/plain; charset=utf-8', '`part=text`'), example: 'Thanks!' },
  { ...ofPart('message/rfc822', '`part=raw`: the signed mail'), example: RAW_MAIL },
]
export const attemptsAnswers: AnswerShape[] = [
  {
    status: 200,
    description: 'All attempts and reports, newest first; always one page.',
    schema: z.strictObject({
      data: z.array(attempt),
      reports: z.array(report),
      has_more: z.literal(false),
      next_cursor: z.null(),
    }),
    example: {
      data: [attemptExample],
      reports: [
        {
          email: 'ann@customer.example',
          kind: 'failed',
          received_at: EXAMPLE_LATER,
          reporter: 'dns; mx.customer.example',
          status: '5.1.1',
          diagnostic: '550 5.1.1 no such user',
          bounce_class: 'no_mailbox',
          rule: 'enhanced:5.1.1',
          feedback_type: null,
        },
      ],
      has_more: false,
      next_cursor: null,
    },
  },
]

/** Raw bytes of a mail, wherever they are given out. */
export function ofPart(contentType: string, description: string): AnswerShape {
  return { status: 200, description, schema: z.string(), example: '', contentType }
}
