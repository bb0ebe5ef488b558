import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, time } from './fields.ts'

/** Responses of the reports about a domain; routes/policy-reports.ts builds them. */

const counts = {
  messages: count,
  spf_aligned: count.describe('Messages whose SPF passed for the domain.'),
  dkim_aligned: count.describe('Messages with a valid DKIM signature of the domain.'),
  disposition: z
    .strictObject({ none: count, quarantine: count, reject: count })
    .describe('What receivers did with the messages.'),
}
const seen = {
  reporters: z.array(z.string()).describe('Domains that authenticated the reports, at most 20.'),
  first_seen: time.describe('Start of the first report period.'),
  last_seen: time.describe('End of the last report period.'),
}
const countsExample = {
  messages: 42,
  spf_aligned: 42,
  dkim_aligned: 41,
  disposition: { none: 42, quarantine: 0, reject: 0 },
}
const seenExample = { reporters: ['google.com'], first_seen: EXAMPLE_TIME, last_seen: EXAMPLE_TIME }

export const dmarcResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Sources, totals and advice.',
    schema: z
      .strictObject({
        data: z.array(
          z.strictObject({
            source_ip: z.string(),
            ptr: z.string().nullable().describe('Confirmed name of the address.'),
            provider: z.string().nullable().describe('The mail service with that name.'),
            ...counts,
            ...seen,
            kind: z.enum(['ours', 'known', 'unknown']),
          }),
        ),
        totals: z.strictObject({
          ...counts,
          passed: count.describe('Messages that passed DMARC by SPF or DKIM.'),
          claimed: count.describe(
            'Messages as the reports claim. Of each reporter and day only 10,000 count, of large receivers 10,000,000.',
          ),
          reports: count,
          sources: count,
          reporters: count,
          days: count.describe('Days with messages.'),
        }),
        unknown_reporters: z
          .array(z.strictObject({ reporter: z.string(), reports: count, messages: count }))
          .describe(
            'Unknown domains that sent reports, at most 20, with the messages that they claim. They count in neither `data`, `totals` nor `advice`.',
          ),
        advice: z.strictObject({ policy: z.enum(['none', 'quarantine', 'reject']), text: z.string() }),
      })
      .meta({ id: 'DmarcSources' }),
    example: {
      data: [
        {
          source_ip: '192.0.2.25',
          ptr: 'mail.example.com',
          provider: null,
          ...countsExample,
          ...seenExample,
          kind: 'ours',
        },
      ],
      totals: { ...countsExample, passed: 42, claimed: 42, reports: 3, sources: 1, reporters: 1, days: 3 },
      unknown_reporters: [{ reporter: 'reports.example', reports: 1, messages: 7 }],
      advice: {
        policy: 'none',
        text: 'Keep p=none. 42 of 42 messages passed in 3 days. Wait for reports of at least 7 days and 100 messages of yours.',
      },
    },
  },
]

export const tlsReportResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Results and totals.',
    schema: z
      .strictObject({
        data: z.array(
          z.strictObject({
            policy: z.string().describe('`sts`, `tlsa`, `no-policy-found`, or another word of the reporter.'),
            result: z.string().describe('`success`, or the failure as in RFC 8460 §4.3.'),
            mx_host: z.string().nullable(),
            sessions: count,
            ...seen,
          }),
        ),
        totals: z.strictObject({ reports: count, successful: count, failed: count }),
      })
      .meta({ id: 'TlsResults' }),
    example: {
      data: [{ policy: 'sts', result: 'success', mx_host: null, sessions: 120, ...seenExample }],
      totals: { reports: 3, successful: 120, failed: 0 },
    },
  },
]
