import { z } from 'zod'
import type { AnswerShape } from '../operation.ts'
import { limitFields, limitsExample } from './plan.ts'

/** What `/v1/configuration` and `/v1/plans` answer; made in routes/configuration.ts. */

const setting = z.strictObject({
  key: z.string().describe('Dotted path in the config file.'),
  value: z.string().describe('As it would stand in the file; `(secret)` for what is one.'),
  source: z.string().describe('File and line, variable of the environment, credential, or `default`.'),
  is_given: z.boolean().describe('Not left at its default.'),
})
const plan = z.strictObject({ plan: z.string(), ...limitFields })

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
      data: [{ plan: 'starter', ...limitsExample }],
    },
  },
]
