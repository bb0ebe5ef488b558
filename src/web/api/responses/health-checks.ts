import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { EXAMPLE_TIME, timeOrNull } from './fields.ts'

/** Responses of `/v1/health-checks`; routes/health-checks.ts builds them. */

const check = z
  .strictObject({
    name: z.string().describe('`hostname`, `outbound_port_25`, …; the manual lists them.'),
    status: z.enum(['pass', 'warn', 'fail', 'skip']).describe('`skip`: the check does not apply or could not run.'),
    subject: z
      .string()
      .nullable()
      .describe('The domain or address that has the problem; null if there are several, or none.'),
    message: z.string(),
    advice: z.string().nullable().describe('How to fix it, one or more lines.'),
  })
  .meta({ id: 'HealthCheck' })

export const healthResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Every check, in recommended reading order.',
    schema: z.strictObject({
      checked_at: timeOrNull.describe('Null before the first run.'),
      ok: z.boolean().nullable().describe('True if no check failed.'),
      checks: z.array(check),
    }),
    example: {
      checked_at: EXAMPLE_TIME,
      ok: true,
      checks: [
        {
          name: 'hostname',
          status: 'pass',
          subject: null,
          message: 'mail.example.com resolves to 203.0.113.10',
          advice: null,
        },
        {
          name: 'dmarc',
          status: 'warn',
          subject: null,
          message: 'example.com has no DMARC record; Gmail and Yahoo require one from bulk senders',
          advice: 'Publish the DMARC record that `postrider dns show example.com` prints. It also asks for reports.',
        },
      ],
    },
  },
]
