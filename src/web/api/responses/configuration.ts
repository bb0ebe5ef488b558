import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { limitFields, limitsExample } from './plan.ts'

/** Responses of `/v1/configuration` and `/v1/plans`; routes/configuration.ts builds the records. */

const setting = z.strictObject({
  key: z.string().describe('Dotted path in the config file.'),
  value: z.string().describe('Value as written in the config file; `(secret)` for secrets.'),
  source: z.string().describe('Config file and line, environment variable, credential, or `default`.'),
  is_given: z.boolean().describe('True if the value differs from the default.'),
})
const plan = z.strictObject({ plan: z.string(), ...limitFields })

export const configurationResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Every config key with its effective value.',
    schema: z.strictObject({ data: z.array(setting) }),
    example: {
      data: [{ key: 'hostname', value: '"mail.example.com"', source: '/etc/postrider/config.toml:5', is_given: true }],
    },
  },
]
export const planListResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The plans defined in the config.',
    schema: z.strictObject({ data: z.array(plan) }),
    example: {
      data: [{ plan: 'starter', ...limitsExample }],
    },
  },
]
