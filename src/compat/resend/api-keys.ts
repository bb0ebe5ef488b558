import { z } from 'zod'
import { type Endpoint, endpoint, type Wire } from '../endpoint.ts'
import { list, listQuery } from './list.ts'

/** Resend's permissions → ours. */
const PERMISSIONS = { full_access: ['send', 'read', 'manage'], sending_access: ['send'] }
const created = z.strictObject({
  name: z.string(),
  permission: z.enum(['full_access', 'sending_access']).default('full_access'),
  domain_id: z.string().nullish(),
})
const NAMES = { permissions: 'permission' }

/** Keys are bound to one domain here: the one that is named, else that of the key that asks; so is their mode. */
export const apiKeyEndpoints: Endpoint[] = [
  endpoint({
    id: 'api_keys_create',
    method: 'POST',
    path: '/api-keys',
    operation: 'api_keys_create',
    body: created,
    handle: ({ key, body: { name, permission, domain_id } }, ours) => {
      const body = { name, domain_id: domain_id ?? key.domainId, permissions: PERMISSIONS[permission], mode: key.mode }
      return ours.ask('api_keys_create', { body, names: NAMES }, ({ id, key: token }) => ({ id, token }))
    },
  }),
  endpoint({
    id: 'api_keys_list',
    method: 'GET',
    path: '/api-keys',
    operation: 'api_keys_list',
    query: listQuery,
    async handle({ query }, ours) {
      const page = await list(ours, 'api_keys_list', query, (key) => key)
      return { ...page, data: page.data.filter(({ revoked_at }) => revoked_at === null).map(recordOf) }
    },
  }),
  endpoint({
    id: 'api_keys_remove',
    method: 'DELETE',
    path: '/api-keys/:id',
    operation: 'api_keys_revoke',
    handle: ({ params }, ours) =>
      ours.ask('api_keys_revoke', { params: { key_id: params.id! } }, ({ id }) => ({
        object: 'api_key',
        id,
        deleted: true,
      })),
  }),
]

const recordOf = ({ id, name, created_at, last_used_at }: Wire) => ({ id, name, created_at, last_used_at })
