import { z } from 'zod'
import { iso } from '../../model/event.ts'
import type { Organization, Plan } from '../../model/organization.ts'
import { invalid, Refusal } from '../../model/refusal.ts'
import type { Store } from '../../storage/store.ts'
import { monthOf, nextMonth } from '../../submission/volume.ts'
import { type Operation, operation } from '../operation.ts'

const patchBody = z.strictObject({ plan: z.string() })

/** `/v1/usage` and `/v1/billing`: what the plan allows and what is used of it (contract §2). `selfService` names the
 *  plans that an organization may choose by itself. */
export function billingOperations(deps: {
  store: Pick<Store, 'organizations' | 'messages' | 'domains'>
  plans: (name: string) => Plan | undefined
  selfService: readonly string[]
}): Operation[] {
  const { store, plans, selfService } = deps

  const usageOf = async ({ id, plan }: Organization, now: number) => {
    const month = monthOf(now)
    const [messages, domains] = await Promise.all([store.messages.volume(id, month), store.domains.count(id)])
    const usage = { month, messages, domains, resets_at: iso(nextMonth(now)) }
    return { organization_id: id, plan, limits: limitsOf(plans(plan)), usage }
  }
  const billingOf = async (organization: Organization, now: number) => {
    const present = monthOf(now)
    const months = await store.messages.volumes(organization.id)
    const past = months.filter(({ month }) => month < present)
    return {
      ...(await usageOf(organization, now)),
      past_months: past.map(({ month, accepted }) => ({ month, messages: accepted })),
      self_service_plans: selfService.map((name) => ({ plan: name, limits: limitsOf(plans(name)) })),
    }
  }
  /** A key's organization is never removed. */
  const organizationOf = async (id: string) => (await store.organizations.get(id))!

  return [
    operation({
      id: 'usage_get',
      method: 'GET',
      path: '/v1/usage',
      permission: 'read',
      summary: 'The plan, its limits (-1 = unlimited), and what is used of them this month',
      answers: async () => (await import('../answers/plan.ts')).usageAnswers,
      handle: async ({ organizationId, now }) => ({
        status: 200,
        body: await usageOf(await organizationOf(organizationId), now),
      }),
    }),
    operation({
      id: 'billing_get',
      method: 'GET',
      path: '/v1/billing',
      permission: 'admin',
      summary: 'The same with every past month, newest first, and the plans you may change to',
      answers: async () => (await import('../answers/plan.ts')).billingAnswers,
      handle: async ({ organizationId, now }) => ({
        status: 200,
        body: await billingOf(await organizationOf(organizationId), now),
      }),
    }),
    operation({
      id: 'billing_update',
      method: 'PATCH',
      path: '/v1/billing',
      permission: 'admin',
      summary: 'Change the plan, where the operator allows it; a plan of fewer days removes what it does not keep',
      answers: async () => (await import('../answers/plan.ts')).billingAnswers,
      example: { plan: 'starter' },
      body: patchBody,
      async handle({ organizationId, now, body }) {
        if (plans(body.plan) === undefined) throw invalid([{ field: 'plan', message: 'plan names no plan' }])
        if (!selfService.includes(body.plan)) {
          throw new Refusal('forbidden', 'only the operator of this server changes to that plan', { field: 'plan' })
        }
        const organization = await organizationOf(organizationId)
        if (organization.plan !== body.plan) await store.organizations.setPlan(organizationId, body.plan)
        return { status: 200, body: await billingOf({ ...organization, plan: body.plan }, now) }
      },
    }),
  ]
}

/** Null when the plan is no longer configured. */
function limitsOf(plan: Plan | undefined) {
  if (plan === undefined) return null
  return {
    requests_per_minute: plan.requestsPerMinute,
    messages_per_month: plan.messagesPerMonth,
    domains: plan.domains,
    retention_days: plan.retentionDays,
  }
}
