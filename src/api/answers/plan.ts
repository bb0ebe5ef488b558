import { z } from 'zod'
import type { AnswerShape } from '../operation.ts'
import { count, exampleId, id, time } from './words.ts'

/** What `/v1/usage` and `/v1/billing` answer (contract §2); made in routes/billing.ts. */

const limit = z.int().min(-1)
/** Every limit of a plan; made in routes/plan-record.ts. */
export const limitFields = {
  requests_per_minute: limit.describe('Of each key.'),
  messages_per_month: limit.describe('Recipients accepted for live sending, and forwarded ones.'),
  domains: limit,
  retention_days: limit,
  webhooks: limit,
  inbound_routes: limit,
  templates: limit,
  template_versions: limit.describe('Kept of each template; the oldest go.'),
  api_keys: limit.describe('That work; as many again may be in the grace period of a rotation.'),
  scheduled_messages: limit,
  stored_bytes: limit,
  test_messages_per_month: limit.describe('Recipients of test messages.'),
  forwards_per_day: limit.describe('Recipients of forward routes.'),
  suppressions: limit.describe('For those added by hand and by import; bounces and complaints always add theirs.'),
}
export const limitsExample = {
  requests_per_minute: 300,
  messages_per_month: 50_000,
  domains: 5,
  retention_days: 14,
  webhooks: 25,
  inbound_routes: 50,
  templates: 200,
  template_versions: 50,
  api_keys: 50,
  scheduled_messages: 10_000,
  stored_bytes: 10_000_000_000,
  test_messages_per_month: 50_000,
  forwards_per_day: 2000,
  suppressions: 500_000,
}
const limits = z
  .strictObject(limitFields)
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
    messages: count.describe('Recipients accepted for live sending, and forwarded ones.'),
    test_messages: count.describe('Recipients of test messages.'),
    domains: count,
    webhooks: count,
    inbound_routes: count,
    templates: count,
    api_keys: count.describe('That work, without those in the grace period of a rotation.'),
    scheduled_messages: count,
    stored_bytes: count.describe(
      'Messages count their size and 2 KiB, metadata and subject for each recipient; inbound mail twice its size and 2 KiB; templates and remembered answers their size.',
    ),
    suppressions: count,
    resets_at: time.describe('When messages and test messages start again.'),
    day: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d$/)
      .describe('UTC'),
    forwards: count.describe('Recipients of forward routes on that day.'),
    day_resets_at: time.describe('When forwards start again.'),
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
  limits: limitsExample,
  usage: {
    month: '2026-11',
    messages: 12_345,
    test_messages: 120,
    domains: 2,
    webhooks: 3,
    inbound_routes: 1,
    templates: 12,
    api_keys: 4,
    scheduled_messages: 0,
    stored_bytes: 1_234_567_890,
    suppressions: 310,
    resets_at: '2026-12-01T00:00:00.000Z',
    day: '2026-11-22',
    forwards: 14,
    day_resets_at: '2026-11-23T00:00:00.000Z',
  },
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
