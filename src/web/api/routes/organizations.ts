import { z } from 'zod'
import type { Config } from '../../../config/load.ts'
import { iso } from '../../../model/event.ts'
import type { Organization } from '../../../model/organization.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Store } from '../../../storage/store.ts'
import { OPERATOR } from '../access.ts'
import { requireFound } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { label, recordsQuery } from '../schema.ts'

const name = label(100)
const createBody = z.strictObject({ name, plan: z.string().default('free') })
const patchBody = z.strictObject({ name: name.optional(), plan: z.string().optional() })

/** The operations of `/v1/organizations`, for the operator only. An organization owns domains, keys and messages.
 *  `plans` are the names of the configured plans. */
export function organizationOperations(deps: {
  store: Pick<Store, 'organizations'>
  mintId: MintId
  config: Pick<Config, 'plans'>
}): Operation[] {
  const { store, mintId } = deps
  const plans = Object.keys(deps.config.plans)

  const requirePlan = (plan: string | undefined) => {
    if (plan === undefined || plans.includes(plan)) return
    throw invalid([{ field: 'plan', message: `plan must be one of ${plans.join(', ')}` }])
  }
  /** The organization in the path. Also sets it as that of the call, so that the audit entry belongs to it. */
  const load = async (call: Call): Promise<Organization> => {
    const organization = requireFound(await store.organizations.get(call.params.organization_id ?? ''), 'organization')
    call.organizationId = organization.id
    return organization
  }
  const taken = () => new Refusal('conflict', 'An organization with this name already exists.', { field: 'name' })

  return [
    operation({
      id: 'organizations_list',
      method: 'GET',
      path: '/v1/organizations',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'List organizations',
      responses: async () => (await import('../responses/organizations.ts')).organizationResponses.list,
      query: recordsQuery,
      handle: async ({ query }) =>
        pageResponse(await store.organizations.page(recordsRequest(query)), organizationRecord),
    }),
    operation({
      id: 'organizations_create',
      method: 'POST',
      path: '/v1/organizations',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Create an organization',
      description: '`plan` is the name of a plan in the config; the default is `free`.',
      responses: async () => (await import('../responses/organizations.ts')).organizationResponses.created,
      refusals: ['conflict'],
      example: { name: 'Shop', plan: 'starter' },
      body: createBody,
      async handle(call) {
        const { body, now } = call
        requirePlan(body.plan)
        const organization = { id: mintId('org'), name: body.name, plan: body.plan, createdAt: now }
        const answer = { status: 201, body: organizationRecord(organization) }
        call.remember(answer)
        call.organizationId = organization.id
        if ((await store.organizations.create(organization)) === 'created') return answer
        call.organizationId = ''
        throw taken()
      },
    }),
    operation({
      id: 'organizations_get',
      method: 'GET',
      path: '/v1/organizations/:organization_id',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Retrieve an organization',
      responses: async () => (await import('../responses/organizations.ts')).organizationResponses.one,
      load,
      handle: async ({ resource }) => ({ status: 200, body: organizationRecord(resource) }),
    }),
    operation({
      id: 'organizations_update',
      method: 'PATCH',
      path: '/v1/organizations/:organization_id',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Update an organization’s name or plan',
      description: 'A plan with fewer retention days deletes older data.',
      responses: async () => (await import('../responses/organizations.ts')).organizationResponses.one,
      refusals: ['conflict'],
      example: { plan: 'pro' },
      body: patchBody,
      load,
      async handle({ resource, body }) {
        const { id } = resource
        requirePlan(body.plan)
        if (body.name !== undefined && body.name !== resource.name) {
          if ((await store.organizations.rename(id, body.name)) === 'conflict') throw taken()
        }
        if (body.plan !== undefined && body.plan !== resource.plan) await store.organizations.setPlan(id, body.plan)
        return { status: 200, body: organizationRecord({ ...resource, ...given(body) }) }
      },
    }),
  ]
}

/** Organization → its JSON record, for the API and the command line. */
export function organizationRecord({ id, name, plan, createdAt }: Organization) {
  return { id, name, plan, created_at: iso(createdAt) }
}

function given({ name, plan }: z.infer<typeof patchBody>) {
  return { ...(name === undefined ? {} : { name }), ...(plan === undefined ? {} : { plan }) }
}
