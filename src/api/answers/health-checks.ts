import { z } from 'zod'
import type { AnswerShape } from '../operation.ts'
import { EXAMPLE_TIME, timeOrNull } from './words.ts'

/** What `/v1/health-checks` answers; made in routes/health-checks.ts. */

const check = z
  .strictObject({
    name: z.string().describe('`hostname`, `outbound_port_25`, …; the README lists them.'),
    status: z.enum(['pass', 'warn', 'fail', 'skip']).describe('`skip`: there was nothing to look at, or no way to.'),
    message: z.string(),
    advice: z.string().nullable().describe('What to do, a line or several.'),
  })
  .meta({ id: 'HealthCheck' })

export const healthAnswers: AnswerShape[] = [
  {
    status: 200,
    description: 'Every check, in the order in which they are best read.',
    schema: z.strictObject({
      checked_at: timeOrNull.describe('Null before the first look.'),
      ok: z.boolean().nullable().describe('Nothing failed.'),
      checks: z.array(check),
    }),
    example: {
      checked_at: EXAMPLE_TIME,
      ok: true,
      checks: [
        { name: 'hostname', status: 'pass', message: 'mail.example.com is 203.0.113.10', advice: null },
        {
          name: 'dmarc',
          status: 'warn',
          message: 'example.com has none; Gmail and Yahoo want one of whoever sends much',
          advice: 'Publish TXT _dmarc.example.com: v=DMARC1; p=none',
        },
      ],
    },
  },
]
