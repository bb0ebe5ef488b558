import type { Config } from '../../../config/load.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Call, type Operation, operation } from '../operation.ts'

/** The operation `/v1/me`: whose key or session this is. */
export function meOperations(deps: {
  store: Pick<Store, 'organizations' | 'domains'>
  config: Pick<Config, 'plans'>
}): Operation[] {
  const { store, config } = deps
  return [
    operation({
      id: 'me_get',
      method: 'GET',
      path: '/v1/me',
      tag: 'API keys',
      access: rule('any', 'viewer', 'no_records', 'organization'),
      operatorWithoutOrganization: true,
      summary: 'Retrieve the calling key',
      description:
        'The organization, domain, mode and permissions of the key that calls. Use it to check a key, and to find the domain that its `from` addresses need. A dashboard session gets `user_id` and `role` instead of `key_id` and `permissions`.',
      responses: async () => (await import('../responses/me.ts')).meResponses,
      async handle(call) {
        const { organizationId, domainId, mode } = call.key
        const organization = await store.organizations.get(organizationId)
        const domain = domainId === '' ? null : await store.domains.get(domainId)
        const plan = organization === null ? undefined : config.plans[organization.plan]
        const body = {
          organization_id: organization?.id ?? null,
          organization: organization?.name ?? null,
          domain_id: domain?.id ?? null,
          domain: domain?.name ?? null,
          ...whoCalls(call),
          mode,
          plan: organization?.plan ?? null,
          requests_per_minute: plan?.requestsPerMinute ?? null,
        }
        return { status: 200, body }
      },
    }),
  ]
}

/** The key with its permissions, or the user of a session with the role that is in effect. */
function whoCalls({ key, user, organizationId }: Call) {
  if (user == null) return { key_id: key.id, permissions: key.permissions }
  return { user_id: user.id, role: user.isOperator ? 'operator' : (user.roles[organizationId] ?? null) }
}
