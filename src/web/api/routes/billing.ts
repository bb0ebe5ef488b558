import { z } from 'zod'
import type { Config } from '../../../config/load.ts'
import type { ApiKey } from '../../../model/api-key.ts'
import { iso } from '../../../model/event.ts'
import { dayOf, monthOf, nextDay, nextMonth } from '../../../model/limits.ts'
import type { Organization, Plan } from '../../../model/organization.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Operation, operation } from '../operation.ts'
import { scopeOf } from '../scope.ts'
import { planRecord } from './plan-record.ts'

const patchBody = z.strictObject({ plan: z.string() })

/** The operations of `/v1/usage` and `/v1/billing`: plan limits and usage. */
export function billingOperations(deps: {
  store: Pick<
    Store,
    | 'organizations'
    | 'dedicatedAddresses'
    | 'messages'
    | 'domains'
    | 'usage'
    | 'webhooks'
    | 'inboundRoutes'
    | 'templates'
    | 'apiKeys'
  >
  config: Pick<Config, 'plans' | 'billing'>
}): Operation[] {
  const { store, config } = deps
  /** The plans that an organization can select itself. */
  const selfService = config.billing.selfServicePlans

  /** Plan and usage of this month. For a test key, counts of live mail are 0. */
  const usageOf = async ({ id, plan }: Organization, now: number, key: ApiKey) => {
    const month = monthOf(now)
    const counted = await store.usage.of(id, now)
    const isTest = scopeOf(key).mode === 'test'
    const usage = {
      month,
      messages: isTest ? 0 : await store.messages.volume(id, month),
      test_messages: counted.testMessages,
      domains: await store.domains.count(id),
      webhooks: await store.webhooks.count(id),
      inbound_routes: await store.inboundRoutes.count(id),
      templates: await store.templates.count(id),
      api_keys: await store.apiKeys.count(id, now),
      scheduled_messages: isTest ? 0 : counted.scheduledMessages,
      stored_bytes: isTest ? 0 : counted.storedBytes,
      suppressions: isTest ? 0 : counted.suppressions,
      resets_at: iso(nextMonth(now)),
      day: dayOf(now),
      forwards: isTest ? 0 : counted.forwards,
      day_resets_at: iso(nextDay(now)),
    }
    const own = (await store.dedicatedAddresses.list()).filter(({ organizationId }) => organizationId === id)
    const addresses = own.map(({ address }) => address)
    return { organization_id: id, plan, limits: limitsOf(config.plans[plan]), usage, dedicated_addresses: addresses }
  }
  const billingOf = async (organization: Organization, now: number, key: ApiKey) => {
    const present = monthOf(now)
    const months = await store.messages.volumes(organization.id)
    const past = months.filter(({ month }) => month < present && scopeOf(key).mode === null)
    return {
      ...(await usageOf(organization, now, key)),
      past_months: past.map(({ month, accepted }) => ({ month, messages: accepted })),
      self_service_plans: selfService.map((name) => ({ plan: name, limits: limitsOf(config.plans[name]) })),
    }
  }
  /** Rejects with an Error if the organization does not exist, which cannot happen: organizations are never deleted. */
  const organizationOf = async (id: string): Promise<Organization> => {
    const organization = await store.organizations.get(id)
    if (organization === null) throw new Error(`organization ${id} does not exist`)
    return organization
  }

  return [
    operation({
      id: 'usage_get',
      method: 'GET',
      path: '/v1/usage',
      tag: 'Plan',
      access: rule('read', 'viewer', 'test_records', 'organization'),
      summary: 'Retrieve the plan and this month’s usage',
      description:
        'A limit of -1 means unlimited. Every role can read it; `GET /v1/billing` adds past months and the plans to choose from, for owners.',
      responses: async () => (await import('../responses/plan.ts')).usageResponses,
      handle: async ({ key, organizationId, now }) => ({
        status: 200,
        body: await usageOf(await organizationOf(organizationId), now, key),
      }),
    }),
    operation({
      id: 'billing_get',
      method: 'GET',
      path: '/v1/billing',
      tag: 'Plan',
      access: rule('admin', 'owner', 'test_records', 'organization'),
      summary: 'Retrieve plan, usage history and available plans',
      description: 'Usage of every past month, newest first, and the plans you can change to.',
      responses: async () => (await import('../responses/plan.ts')).billingResponses,
      handle: async ({ key, organizationId, now }) => ({
        status: 200,
        body: await billingOf(await organizationOf(organizationId), now, key),
      }),
    }),
    operation({
      id: 'billing_update',
      method: 'PATCH',
      path: '/v1/billing',
      tag: 'Plan',
      access: rule('admin', 'owner', 'refused', 'organization'),
      summary: 'Change the plan',
      description:
        'The operator decides which plans you can choose. A plan with fewer retention days deletes older data.',
      responses: async () => (await import('../responses/plan.ts')).billingResponses,
      example: { plan: 'starter' },
      body: patchBody,
      async handle({ key, organizationId, now, body }) {
        if (config.plans[body.plan] === undefined)
          throw invalid([{ field: 'plan', message: 'plan does not match any configured plan' }])
        if (!selfService.includes(body.plan)) {
          throw new Refusal('forbidden', 'Only the operator of this server can change to this plan.', { field: 'plan' })
        }
        const organization = await organizationOf(organizationId)
        if (organization.plan !== body.plan) await store.organizations.setPlan(organizationId, body.plan)
        return { status: 200, body: await billingOf({ ...organization, plan: body.plan }, now, key) }
      },
    }),
  ]
}

/** Plan → its limits; null if the plan is no longer configured. */
function limitsOf(plan: Plan | undefined) {
  return plan === undefined ? null : planRecord(plan)
}
