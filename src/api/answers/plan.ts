import { z } from 'zod'
import type { AnswerShape } from '../operation.ts'
import { count, exampleId, id, time } from './words.ts'

/** What `/v1/usage` and `/v1/billing` answer (contract §2); made in routes/billing.ts. */

const limit = z.int().min(-1)
const limits = z
  .strictObject({ requests_per_minute: limit, messages_per_month: limit, domains: limit, retention_days: limit })
  .nullable()
  .describe('-1 = unlimited. Null: the plan is no longer configured.')
const month = z
  .string()
  .regex(/^\d{4}-\d\d$/)
  .describe('UTC')
const fields = {
  organization_id: id('org'),
  plan: z.string(),
  limits,
  usage: z.strictObject({
    month,
    messages: count.describe('Recipients accepted for live sending.'),
    domains: count,
    resets_at: time,
  }),
}
const usage = z.strictObject(fields).meta({ id: 'Usage' })
const billing = z
  .strictObject({
    ...fields,
    past_months: z.array(z.strictObject({ month, messages: count })).describe('Newest first.'),
    self_service_plans: z.array(z.strictObject({ plan: z.string(), limits })).describe('Those you may change to.'),
  })
  .meta({ id: 'Billing' })

const example = {
  organization_id: exampleId('org'),
  plan: 'starter',
  limits: { requests_per_minute: 300, messages_per_month: 50_000, domains: 5, retention_days: 14 },
  usage: { month: '2026-11', messages: 12_345, domains: 2, resets_at: '2026-12-01T00:00:00.000Z' },
}

export const usageAnswers: AnswerShape[] = [
  { status: 200, description: 'The plan and what is used of it.', schema: usage, example },
]
export const billingAnswers: AnswerShape[] = [
  {
    status: 200,
    description: 'The plan, what is used of it, and every past month.',
    schema: billing,
    example: {
      ...example,
      past_months: [{ month: '2026-10', messages: 41_000 }],
      self_service_plans: [{ plan: 'starter', limits: example.limits }],
    },
  },
]
