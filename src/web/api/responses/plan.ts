import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { count, exampleId, id, time } from './fields.ts'

/** Responses of `/v1/usage` and `/v1/billing`; routes/billing.ts builds them. */

const limit = z.int().min(-1)
/** Schemas of the limits of a plan; routes/plan-record.ts builds the record. */
export const limitFields = {
  requests_per_minute: limit.describe('Per API key.'),
  messages_per_month: limit.describe('Recipients accepted for live sending, including forwards.'),
  domains: limit,
  retention_days: limit,
  webhooks: limit,
  inbound_routes: limit,
  templates: limit,
  template_versions: limit.describe('Versions kept per template. The oldest are removed first.'),
  api_keys: limit.describe('Active keys. As many again may be in the grace period of a rotation.'),
  scheduled_messages: limit,
  stored_bytes: limit,
  test_messages_per_month: limit.describe('Recipients of test messages.'),
  forwards_per_day: limit.describe('Recipients of forward routes.'),
  suppressions: limit.describe('Suppressions added manually or by import. Bounces and complaints are always added.'),
  dedicated_address: z.boolean().describe('Whether the organization gets a sending address of its own.'),
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
  dedicated_address: false,
}
const limits = z
  .strictObject(limitFields)
  .meta({ id: 'Limits' })
  .nullable()
  .describe('-1 = unlimited. Null: the plan is no longer in the config.')
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
    messages: count.describe('Recipients accepted for live sending, including forwards.'),
    test_messages: count.describe('Recipients of test messages.'),
    domains: count,
    webhooks: count,
    inbound_routes: count,
    templates: count,
    api_keys: count.describe('Active keys, without those in the grace period of a rotation.'),
    scheduled_messages: count,
    stored_bytes: count.describe(
      'A message counts its size plus 2 KiB, metadata and subject per recipient. Inbound mail counts twice its size plus 2 KiB. Templates and stored idempotent responses count their size.',
    ),
    suppressions: count,
    resets_at: time.describe('When the counts of messages and test messages reset.'),
    day: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d$/)
      .describe('UTC'),
    forwards: count.describe('Recipients of forward routes on that day.'),
    day_resets_at: time.describe('When the count of forwards resets.'),
  }),
  dedicated_addresses: z
    .array(z.string())
    .describe('IP addresses that only this organization sends from. Empty: shared ones.'),
}
const usage = z.strictObject(fields).meta({ id: 'Usage' })
const billing = z
  .strictObject({
    ...fields,
    past_months: z.array(z.strictObject({ month, messages: count })).describe('Newest first.'),
    self_service_plans: z.array(z.strictObject({ plan: z.string(), limits })).describe('Plans you can change to.'),
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
  dedicated_addresses: [],
}

export const usageResponses: ResponseShape[] = [
  { status: 200, description: 'The plan and its current usage.', schema: usage, example },
]
export const billingResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The plan, its current usage, and every past month.',
    schema: billing,
    example: {
      ...example,
      past_months: [{ month: '2026-10', messages: 41_000 }],
      self_service_plans: [{ plan: 'starter', limits: example.limits }],
    },
  },
]
