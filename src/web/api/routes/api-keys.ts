import { z } from 'zod'
import { type ApiKey, MAX_KEY_NETWORKS, PERMISSIONS } from '../../../model/api-key.ts'
import { iso } from '../../../model/event.ts'
import { withinLimit } from '../../../model/limits.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import { canonicalNetwork } from '../../../net/ip.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Random } from '../../../os/random.ts'
import type { Store } from '../../../storage/store.ts'
import { GRANT, rule } from '../access.ts'
import { hashKeyValue, keyPrefix, mintKeyValue } from '../authentication.ts'
import { requireOwned } from '../errors.ts'
import { grantFaults, type Rights } from '../grants.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { isOperator, isPerson } from '../operator.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { NETWORK } from '../patterns.ts'
import { deleted } from '../rendered-response.ts'
import { exampleId } from '../responses/fields.ts'
import { graceMinutes, isoTime, label, recordsQuery } from '../schema.ts'
import { filteredPage, isWithin, requireWithin, scopeOf } from '../scope.ts'

const allowedNetworks = z
  .array(
    z
      .string()
      .transform((text, context) => {
        const network = text.length > 64 ? null : canonicalNetwork(text)
        if (network !== null) return network
        context.addIssue({ code: 'custom', message: 'must be an IP address or a network such as 203.0.113.0/24' })
        return z.NEVER
      })
      .meta(NETWORK),
  )
  .min(1)
  .max(MAX_KEY_NETWORKS)
  .transform((networks) => [...new Set(networks)])
  .nullish()
  .describe(
    'CIDR networks or single addresses, IPv4 and IPv6. Requests from other addresses get 401. `::/0` covers IPv6 only. Absent or null: any address.',
  )
const createBody = z.strictObject({
  name: label(100),
  domain_id: z.string().describe('ID or name of the domain the key sends from.'),
  permissions: z
    .array(z.enum(PERMISSIONS))
    .min(1)
    .max(PERMISSIONS.length)
    .refine((list) => new Set(list).size === list.length, 'must not contain a permission twice')
    .meta({ uniqueItems: true }),
  mode: z
    .enum(['live', 'test'])
    .default('live')
    .describe('`test`: a sandbox key. Test keys can only create test keys.'),
  expires_at: isoTime
    .nullish()
    .describe('When the key expires. A key that expires must set this, no later than its own expiry.'),
  allowed_networks: allowedNetworks,
})
const updateBody = z.strictObject({ name: label(100).optional(), allowed_networks: allowedNetworks })
const rotateBody = z.strictObject({ grace_period_minutes: graceMinutes })

/** The operations of `/v1/api-keys`: the organization's keys within the scope of the calling key. To create, change,
 *  rotate or revoke a key, the calling key must be able to grant all its rights (grants.ts). */
export function apiKeyOperations(deps: {
  store: Pick<Store, 'apiKeys' | 'domains'>
  random: Random
  mintId: MintId
}): Operation[] {
  const { store, random, mintId } = deps
  const load = async (call: Call) =>
    requireWithin(await store.apiKeys.get(pathParameter(call, 'key_id')), scopeOf(call.key), 'API key')
  /** The key in the path. Rejects with `forbidden` if the calling key cannot grant its rights. */
  const loadGrantable = async (call: Call) => {
    const key = await load(call)
    requireGrant(call.key, key)
    return key
  }
  const domainNameOf = async (key: ApiKey) => (await store.domains.get(key.domainId))?.name ?? null

  return [
    operation({
      id: 'api_keys_create',
      method: 'POST',
      path: '/v1/api-keys',
      tag: 'API keys',
      access: GRANT,
      summary: 'Create an API key',
      description:
        'The response contains the key value, which is shown only once; Postrider stores its hash. A key can grant the permissions it holds, and with `manage` also `send` and `read`. Without `admin` it can grant them for its own domain only. A test key can only create test keys. A key that expires cannot create one that lasts longer. A key limited to networks can only create keys within them.',
      responses: async () => (await import('../responses/api-keys.ts')).apiKeyCreatedResponses,
      refusals: ['quota_exceeded'],
      example: { name: 'shop', domain_id: exampleId('dom'), permissions: ['send'], mode: 'live' },
      body: createBody,
      idempotent: true,
      secretResponse: true,
      async handle(call) {
        const { key: asking, organizationId, now, body, remember } = call
        if (body.expires_at != null && body.expires_at <= now) {
          throw invalid([{ field: 'expires_at', message: 'expires_at must be in the future' }])
        }
        const domain = await store.domains.get(body.domain_id)
        if (domain === null)
          throw invalid([{ field: 'domain_id', message: 'domain_id does not match any domain of this organization' }])
        requireOwned(domain, organizationId, 'domain')
        const rights: Rights = {
          domainId: domain.id,
          mode: body.mode,
          permissions: body.permissions,
          expiresAt: body.expires_at ?? null,
          allowedNetworks: body.allowed_networks ?? null,
        }
        requireGrant(asking, rights, 'body')

        const value = mintKeyValue(body.mode, random)
        const key: ApiKey = {
          id: mintId('key'),
          organizationId,
          ...rights,
          name: body.name,
          prefix: keyPrefix(value),
          createdAt: now,
          lastUsedAt: null,
          revokedAt: null,
          rotatedTo: null,
          ...makerFor(call),
        }
        const answer = { status: 201, body: { ...toWire(key, domain.name), key: value } }
        withinLimit(await store.apiKeys.create(key, hashKeyValue(value), remember(answer)), now)
        return answer
      },
    }),
    operation({
      id: 'api_keys_list',
      method: 'GET',
      path: '/v1/api-keys',
      tag: 'API keys',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'List API keys',
      responses: async () => (await import('../responses/api-keys.ts')).apiKeyListResponses,
      query: recordsQuery,
      async handle({ key: asking, organizationId, query }) {
        const scope = scopeOf(asking)
        const list = (page: ReturnType<typeof recordsRequest>) => store.apiKeys.list(organizationId, page)
        const page = await filteredPage(list, recordsRequest(query), (key) => isWithin(scope, key))
        const names = new Map<string, string | null>()
        for (const key of page.records) {
          if (!names.has(key.domainId)) names.set(key.domainId, await domainNameOf(key))
        }
        return pageResponse(page, (key) => toWire(key, names.get(key.domainId) ?? null))
      },
    }),
    operation({
      id: 'api_keys_get',
      method: 'GET',
      path: '/v1/api-keys/:key_id',
      tag: 'API keys',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Retrieve an API key',
      responses: async () => (await import('../responses/api-keys.ts')).apiKeyResponses,
      load,
      handle: async ({ resource }) => ({ status: 200, body: toWire(resource, await domainNameOf(resource)) }),
    }),
    operation({
      id: 'api_keys_update',
      method: 'PATCH',
      path: '/v1/api-keys/:key_id',
      tag: 'API keys',
      access: GRANT,
      summary: 'Update an API key’s name or networks',
      description: 'Only the fields you send change. null removes the network restriction.',
      responses: async () => (await import('../responses/api-keys.ts')).apiKeyResponses,
      example: { allowed_networks: ['203.0.113.0/24', '2001:db8::/48'] },
      body: updateBody,
      load: loadGrantable,
      async handle({ key: asking, resource, body }) {
        const { name, allowed_networks: networks } = body
        const change = {
          ...(name === undefined ? {} : { name }),
          ...(networks === undefined ? {} : { allowedNetworks: networks }),
        }
        requireGrant(asking, { ...resource, ...change }, 'body')
        const key = (await store.apiKeys.update(resource.id, change)) ?? resource
        return { status: 200, body: toWire(key, await domainNameOf(key)) }
      },
    }),
    operation({
      id: 'api_keys_revoke',
      method: 'DELETE',
      path: '/v1/api-keys/:key_id',
      tag: 'API keys',
      access: GRANT,
      summary: 'Revoke an API key',
      description:
        'Takes effect immediately; the record remains. The calling key must be able to grant every permission of the revoked key: `manage` cannot revoke an `admin` key.',
      responses: async () => (await import('../responses/api-keys.ts')).apiKeyRevokedResponses,
      load: loadGrantable,
      async handle({ resource, now }) {
        await store.apiKeys.revoke(resource.id, now)
        return deleted(resource.id)
      },
    }),
    operation({
      id: 'api_keys_rotate',
      method: 'POST',
      path: '/v1/api-keys/:key_id/rotate',
      tag: 'API keys',
      access: GRANT,
      summary: 'Rotate an API key',
      description:
        'Creates a new key (201) with the same mode, expiry and networks. Both keys work until the grace period ends; then the old key gets 401. Expired, revoked or already rotated keys cannot be rotated. The calling key must be able to grant every permission of the rotated key.',
      responses: async () => (await import('../responses/api-keys.ts')).apiKeyRotatedResponses,
      refusals: ['invalid_state', 'quota_exceeded'],
      example: { grace_period_minutes: 60 },
      body: rotateBody,
      bodyOptional: true,
      idempotent: true,
      secretResponse: true,
      load: loadGrantable, // the response contains the value of a key with these rights
      async handle(call) {
        const { resource: old, now, body, remember } = call
        const graceEndsAt = now + body.grace_period_minutes * 60_000
        const oldExpiresAt = Math.min(old.expiresAt ?? graceEndsAt, graceEndsAt)
        const value = mintKeyValue(old.mode, random)
        const fresh: ApiKey = {
          ...old,
          id: mintId('key'),
          prefix: keyPrefix(value),
          createdAt: now,
          lastUsedAt: null,
          revokedAt: null,
          rotatedTo: null,
          ...makerFor(call, old),
        }
        const previous = { id: old.id, expires_at: iso(oldExpiresAt) }
        const answer = { status: 201, body: { ...toWire(fresh, await domainNameOf(old)), key: value, previous } }
        const secretHash = hashKeyValue(value)
        const rotated = store.apiKeys.rotate(old.id, fresh, secretHash, oldExpiresAt, now, remember(answer))
        const result = withinLimit(await rotated, now)
        if (result === 'rotated') return answer
        throw new Refusal('invalid_state', 'This key is expired, revoked or already rotated. Create a new key instead.')
      },
    }),
  ]
}

/** Whose rights limit a key that the caller makes: those of the user, or what limits the calling key. If nothing does, a
 *  rotated key stays limited as it was. */
function makerFor({ key, user }: Call, rotated?: ApiKey): Pick<ApiKey, 'createdBy' | 'makerRole'> {
  if (user != null) return { createdBy: user.id, makerRole: null }
  const isLimited = key.createdBy !== null || key.makerRole !== null
  const { createdBy, makerRole } = isLimited ? key : (rotated ?? key)
  return { createdBy, makerRole }
}

/** Throws `forbidden` unless the calling key may grant these rights. The refusal has a `field` only if `where` is
 *  `body`. */
function requireGrant(asking: ApiKey, rights: Rights, where: 'body' | 'path' = 'path'): void {
  const faults = isOperator(asking) ? [] : grantFaults(isPerson(asking) ? anywhere(asking, rights) : asking, rights)
  const first = faults[0]
  if (first === undefined) return
  const details = { held: asking.permissions, not_grantable: faults.map(({ field }) => field) }
  const message = faults.map((fault) => fault.message).join('; ')
  throw new Refusal('forbidden', message, { ...(where === 'body' && { field: first.field }), details })
}

/** Roles limit permissions, but neither domains nor modes. */
function anywhere(person: ApiKey, { domainId, mode }: Rights): Rights {
  return { ...person, domainId, mode }
}

function toWire(key: ApiKey, domain: string | null) {
  const time = (at: number | null) => (at === null ? null : iso(at))
  return {
    id: key.id,
    name: key.name,
    domain_id: key.domainId,
    domain,
    mode: key.mode,
    permissions: key.permissions,
    prefix: key.prefix,
    created_at: iso(key.createdAt),
    last_used_at: time(key.lastUsedAt),
    expires_at: time(key.expiresAt),
    revoked_at: time(key.revokedAt),
    rotated_to: key.rotatedTo,
    allowed_networks: key.allowedNetworks,
    created_by: key.createdBy,
  }
}
