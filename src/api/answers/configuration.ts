import { z } from 'zod'
import type { AnswerShape } from '../operation.ts'

/** What `/v1/configuration` and `/v1/plans` answer; made in routes/configuration.ts. */

const limit = z.int().min(-1).describe('-1 = unlimited.')
const setting = z.strictObject({
  key: z.string().describe('Dotted path in the config file.'),
  value: z.string().describe('As it would stand in the file; `(secret)` for what is one.'),
  source: z.string().describe('File and line, variable of the environment, credential, or `default`.'),
  is_given: z.boolean().describe('Not left at its default.'),
})
const plan = z.strictObject({
  plan: z.string(),
  requests_per_minute: limit,
  messages_per_month: limit,
  domains: limit,
  retention_days: limit,
})

export const configurationAnswers: AnswerShape[] = [
  {
    status: 200,
    description: 'Every key of the config as it is in effect.',
    schema: z.strictObject({ data: z.array(setting) }),
    example: {
      data: [{ key: 'hostname', value: '"mail.example.com"', source: '/etc/postrider/config.toml:5', is_given: true }],
    },
  },
]
export const planListAnswers: AnswerShape[] = [
  {
    status: 200,
    description: 'The plans that the config names.',
    schema: z.strictObject({ data: z.array(plan) }),
    example: {
      data: [{ plan: 'starter', requests_per_minute: 300, messages_per_month: 50_000, domains: 5, retention_days: 14 }],
    },
  },
]
