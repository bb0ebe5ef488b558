import { z } from 'zod'
import { type ApiKey, mayGrant, PERMISSIONS } from '../../model/api-key.ts'
import { iso } from '../../model/event.ts'
import { invalid, Refusal } from '../../model/refusal.ts'
import type { MintId } from '../../platform/ids.ts'
import type { Random } from '../../platform/random.ts'
import type { Store } from '../../storage/store.ts'
import { deleted } from '../answer.ts'
import { exampleId } from '../answers/words.ts'
import { hashKeyValue, keyPrefix, mintKeyValue } from '../auth.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageAnswer, recordsRequest } from '../page.ts'
import { graceMinutes, isoTime, label, recordsQuery } from '../schema.ts'

const createBody = z.strictObject({
  name: label(100),
  domain_id: z.string().describe('The domain that it sends from.'),
  permissions: z
    .array(z.enum(PERMISSIONS))
    .min(1)
    .refine((list) => new Set(list).size === list.length, 'must not name a permission twice'),
  mode: z.enum(['live', 'test']).default('live').describe('`test`: a sandbox key.'),
  expires_at: isoTime.nullish().describe('When it ends by itself.'),
})
const rotateBody = z.strictObject({ grace_period_minutes: graceMinutes })

/** `/v1/api-keys`: keys of the organization, whichever domain the asking key is bound to (contract §2). */
export function apiKeyOperations(deps: {
  store: Pick<Store, 'apiKeys' | 'domains'>
  random: Random
  mintId: MintId
}): Operation[] {
  const { store, random, mintId } = deps
  const load = async ({ params, organizationId }: Call) =>
    requireOwned(await store.apiKeys.get(params.key_id!), organizationId, 'API key')
  const domainNameOf = async (key: ApiKey) => (await store.domains.get(key.domainId))?.name ?? null

  return [
    operation({
      id: 'api_keys_create',
      method: 'POST',
      path: '/v1/api-keys',
      permission: 'manage',
      summary: 'Create an API key; its value is shown this once',
      description:
        'A key grants only what it holds itself; with `manage` also `send` and `read`. Only a hash of the value is kept.',
      answers: async () => (await import('../answers/api-keys.ts')).apiKeyCreatedAnswers,
      example: { name: 'shop', domain_id: exampleId('dom'), permissions: ['send'], mode: 'live' },
      body: createBody,
      idempotent: true,
      secretAnswer: true,
      async handle({ key: asking, organizationId, now, body, remember }) {
        if (body.expires_at != null && body.expires_at <= now) {
          throw invalid([{ field: 'expires_at', message: 'expires_at must be in the future' }])
        }
        const domain = await store.domains.get(body.domain_id)
        if (domain === null) throw invalid([{ field: 'domain_id', message: 'domain_id names no domain' }])
        requireOwned(domain, organizationId, 'domain')
        requireGrant(asking, body.permissions)

        const value = mintKeyValue(body.mode, random)
        const key: ApiKey = {
          id: mintId('key'),
          organizationId,
          domainId: domain.id,
          name: body.name,
          mode: body.mode,
          permissions: body.permissions,
          prefix: keyPrefix(value),
          createdAt: now,
          lastUsedAt: null,
          expiresAt: body.expires_at ?? null,
          revokedAt: null,
          rotatedTo: null,
        }
        const answer = { status: 201, body: { ...toWire(key, domain.name), key: value } }
        await store.apiKeys.create(key, hashKeyValue(value), remember(answer))
        return answer
      },
    }),
    operation({
      id: 'api_keys_list',
      method: 'GET',
      path: '/v1/api-keys',
      permission: 'manage',
      summary: 'List API keys, newest first',
      answers: async () => (await import('../answers/api-keys.ts')).apiKeyListAnswers,
      query: recordsQuery,
      async handle({ organizationId, query }) {
        const page = await store.apiKeys.list(organizationId, recordsRequest(query))
        const names = new Map<string, string | null>()
        for (const key of page.records) {
          if (!names.has(key.domainId)) names.set(key.domainId, await domainNameOf(key))
        }
        return pageAnswer(page, (key) => toWire(key, names.get(key.domainId) ?? null))
      },
    }),
    operation({
      id: 'api_keys_get',
      method: 'GET',
      path: '/v1/api-keys/:key_id',
      permission: 'manage',
      summary: 'Read one API key',
      answers: async () => (await import('../answers/api-keys.ts')).apiKeyAnswers,
      load,
      handle: async ({ resource }) => ({ status: 200, body: toWire(resource, await domainNameOf(resource)) }),
    }),
    operation({
      id: 'api_keys_revoke',
      method: 'DELETE',
      path: '/v1/api-keys/:key_id',
      permission: 'manage',
      summary: 'Revoke an API key at once; its record stays',
      answers: async () => (await import('../answers/api-keys.ts')).apiKeyRevokedAnswers,
      load,
      async handle({ resource, now }) {
        await store.apiKeys.revoke(resource.id, now)
        return deleted(resource.id)
      },
    }),
    operation({
      id: 'api_keys_rotate',
      method: 'POST',
      path: '/v1/api-keys/:key_id/rotate',
      permission: 'manage',
      summary: 'Replace an API key by a new one; both work until the grace period ends',
      description:
        'A key that is expired, revoked or already rotated cannot be. When the grace period ends the old key is 401.',
      answers: async () => (await import('../answers/api-keys.ts')).apiKeyRotatedAnswers,
      refusals: ['invalid_state'],
      example: { grace_period_minutes: 60 },
      body: rotateBody,
      bodyOptional: true,
      idempotent: true,
      secretAnswer: true,
      load,
      async handle({ key: asking, resource: old, now, body, remember }) {
        // The answer shows a key with these permissions, so this is a grant like any other.
        requireGrant(asking, old.permissions)
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
        }
        const previous = { id: old.id, expires_at: iso(oldExpiresAt) }
        const answer = { status: 201, body: { ...toWire(fresh, await domainNameOf(old)), key: value, previous } }
        const secretHash = hashKeyValue(value)
        const result = await store.apiKeys.rotate(old.id, fresh, secretHash, oldExpiresAt, now, remember(answer))
        if (result === 'rotated') return answer
        throw new Refusal('invalid_state', 'this key is expired, revoked or already rotated')
      },
    }),
  ]
}

function requireGrant(asking: ApiKey, permissions: ApiKey['permissions']): void {
  const missing = permissions.filter((permission) => !mayGrant(asking.permissions, permission))
  if (missing.length === 0) return
  throw new Refusal('forbidden', `this key may not grant ${missing.join(', ')}`, {
    field: 'permissions',
    details: { held: asking.permissions, not_grantable: missing },
  })
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
  }
}
