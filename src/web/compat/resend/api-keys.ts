import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import { type Endpoint, endpoint, type Named, type Wire } from '../external-api.ts'
import { list, listQuery } from './list.ts'
import { repeatedId, requireSameId } from './repeated-id.ts'

/** Resend's permissions → ours. */
const PERMISSIONS = { full_access: ['send', 'read', 'manage'], sending_access: ['send'] }
const created = z.strictObject({
  name: z.string(),
  permission: z.enum(['full_access', 'sending_access']).default('full_access'),
  domain_id: z.string().nullish(),
})
const changed = z.strictObject({ name: z.string(), ...repeatedId('id', 'api_key_id') })
const NAMES = { permissions: 'permission' }

/** Keys are bound to one domain: the named one, or that of the calling key. Mode, expiry and networks are those of the
 *  calling key, because Resend has no such fields and a key cannot grant more than it has. */
export const apiKeyEndpoints: Endpoint[] = [
  endpoint({
    id: 'api_keys_create',
    method: 'POST',
    path: '/api-keys',
    operation: 'api_keys_create',
    body: created,
    handle: ({ key, body: { name, permission, domain_id } }, ours) => {
      const inherited = {
        mode: key.mode,
        expires_at: key.expiresAt === null ? null : iso(key.expiresAt),
        allowed_networks: key.allowedNetworks,
      }
      const domain = domain_id ?? key.domainId
      const body = { name, domain_id: domain, permissions: PERMISSIONS[permission], ...inherited }
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
    id: 'api_keys_update',
    method: 'PATCH',
    path: '/api-keys/:id',
    operation: 'api_keys_update',
    body: changed,
    handle: (call, ours) => {
      const { name, ...repeated } = call.body
      requireSameId(call.params, repeated)
      const said = { ...named(call), body: { name } }
      return ours.ask('api_keys_update', said, ({ id }) => ({ object: 'api_key', id }))
    },
  }),
  endpoint({
    id: 'api_keys_remove',
    method: 'DELETE',
    path: '/api-keys/:id',
    operation: 'api_keys_revoke',
    handle: (call, ours) =>
      ours.ask('api_keys_revoke', named(call), ({ id }) => ({
        object: 'api_key',
        id,
        deleted: true,
      })),
  }),
]

const named = (call: Named) => ({ params: { key_id: pathParameter(call, 'id') } })
const recordOf = ({ id, name, created_at, last_used_at }: Wire) => ({ id, name, created_at, last_used_at })
