import { z } from 'zod'
import { RELAY_REASONS } from '../../../model/delivery.ts'
import { REPORT_KINDS } from '../../../model/report.ts'
import { TLS_POLICIES } from '../../../model/tls-policy.ts'
import type { ResponseShape } from '../operation.ts'
import { EXAMPLE_LATER, EXAMPLE_TIME, time } from './fields.ts'

/** Responses of `/v1/messages/…/attempts`; routes/message-record.ts builds the records. */

const attempt = z
  .strictObject({
    recipient: z.string(),
    number: z.int().min(1),
    started_at: time,
    duration_ms: z.number().min(0),
    outcome: z
      .enum(['delivered', 'deferred', 'bounced', 'unknown'])
      .describe(
        '`unknown`: the connection was lost after the end of the message data. Postrider retries with the same Message-ID.',
      ),
    mx_host: z.string().nullable(),
    mx_ip: z.string().nullable(),
    source_ip: z.string().nullable(),
    relay: z
      .strictObject({
        name: z.string(),
        rule: z.int().nullable().describe('Number of the relay rule, from 1; null: none, as for the smarthost.'),
        because: z.enum(RELAY_REASONS).describe('`rule`, or why the relay took over from direct delivery.'),
      })
      .nullable()
      .describe('The relay that the attempt went through; null: the hosts of the recipient’s domain.'),
    tls_version: z.string().nullable(),
    tls_cipher: z.string().nullable(),
    tls_verified: z.boolean(),
    tls_policy: z
      .enum(TLS_POLICIES)
      .describe(
        'What required TLS verification: nothing, the domain’s MTA-STS policy (testing or enforced), its TLSA records (DANE), or `require_tls`.',
      ),
    smtp_response: z.string().nullable(),
    enhanced_code: z.string().nullable(),
    cause: z.strictObject({ class: z.string(), rule: z.string() }).nullable(),
    transcript: z
      .string()
      .describe('The SMTP conversation with timings in milliseconds. It omits message data and credentials.'),
  })
  .meta({ id: 'Attempt' })
const report = z
  .strictObject({
    email: z.string(),
    kind: z.enum(REPORT_KINDS).describe('`other` is an unclassified report; `diagnostic` holds its subject and text.'),
    received_at: time,
    reporter: z.string().nullable(),
    status: z.string().nullable(),
    diagnostic: z.string().nullable(),
    bounce_class: z.string().nullable(),
    rule: z.string().nullable(),
    feedback_type: z.string().nullable(),
  })
  .meta({ id: 'Report', description: 'Reports received after delivery: a DSN, a complaint or an automatic reply.' })
const attemptExample = {
  recipient: 'ann@customer.example',
  number: 1,
  started_at: EXAMPLE_TIME,
  duration_ms: 212,
  outcome: 'delivered',
  mx_host: 'mx.customer.example',
  mx_ip: '192.0.2.25',
  source_ip: '198.51.100.10',
  relay: null,
  tls_version: 'TLSv1.3',
  tls_cipher: 'TLS_AES_256_GCM_SHA384',
  tls_verified: true,
  tls_policy: 'mta_sts',
  smtp_response: '250 2.0.0 Ok: queued',
  enhanced_code: '2.0.0',
  cause: null,
  transcript: '0 S: 220 mx.customer.example ESMTP\n21 C: EHLO mail.example.com',
}

export const attemptsResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'All attempts and reports, newest first, always on one page.',
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
