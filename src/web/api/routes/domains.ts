import { z } from 'zod'
import type { Config } from '../../../config/load.ts'
import { isInZone } from '../../../domains/delegated-zone.ts'
import { hostOfZone } from '../../../domains/dns-host.ts'
import { newDomain } from '../../../domains/keys.ts'
import { checkDomainName } from '../../../domains/name.ts'
import { ownServerOf } from '../../../domains/records.ts'
import { isServerName, serverNamesOf } from '../../../domains/server-names.ts'
import { surveyOf } from '../../../domains/survey.ts'
import { verifyDomain } from '../../../domains/verify.ts'
import { type Domain, isOwned } from '../../../model/domain.ts'
import { limitRefusal } from '../../../model/limits.ts'
import { UNLIMITED } from '../../../model/organization.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { Resolver } from '../../../net/dns/resolver.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { WallClock } from '../../../os/clock.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Notify } from '../../../os/notifier.ts'
import type { Random } from '../../../os/random.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { isOperator } from '../operator.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { HOST } from '../patterns.ts'
import { deleted } from '../rendered-response.ts'
import { recordsQuery } from '../schema.ts'
import { requireWithin, scopeOf } from '../scope.ts'
import { domainKeys } from './domain-keys.ts'
import { domainRecord } from './domain-record.ts'
import { trackingChange, trackingField } from './domain-tracking.ts'

const createBody = z.strictObject({
  name: z
    .string()
    .transform((text, context) => {
      const checked = checkDomainName(text)
      if ('name' in checked) return checked.name
      context.addIssue({ code: 'custom', message: checked.fault })
      return z.NEVER
    })
    .meta({ ...HOST, description: 'A registrable domain or a subdomain of one.' }),
  tracking: trackingField,
  server_name: z
    .boolean()
    .optional()
    .describe('Operators only: true to add the server’s own host name, so that it can receive mail for postmaster.'),
})
const patchBody = z.strictObject({ tracking: trackingField })
const noBody = z.strictObject({})
const DAY_MS = 86_400_000
const LIMIT_WITHOUT_PLAN = 1 // if the plan is no longer configured: the smallest limit of the default plans

/** The operations of `/v1/domains`: sending domains and their DNS records. `resolver` must not cache, because `verify`
 *  returns the current records. */
export function domainOperations(deps: {
  store: Pick<Store, 'domains' | 'organizations'>
  random: Random
  mintId: MintId
  clock: WallClock
  resolver: Resolver
  notify: Notify
  config: Config
}): Operation[] {
  const { store, random, mintId, clock, resolver, config } = deps
  const { zone, providerZones } = config.dns
  const serverNames = serverNamesOf(config)
  /** If false, unverified domains count as verified. */
  const requireVerified = config.sending.requireVerifiedDomain
  const survey = surveyOf(config, { resolver, clock: clock.steady, random })
  const server = ownServerOf(config)
  const published = {
    server,
    rotateEveryMs: zone === null && providerZones.length === 0 ? 0 : config.dkim.rotateEveryDays * DAY_MS,
    requireVerified,
  }
  const dkim = domainKeys({ store, random, zone, maxAgeMs: 1000 * config.delivery.maxAgeSeconds })
  const onChange = () => deps.notify('domains')
  const load = async (call: Call) =>
    requireOwned(await store.domains.get(pathParameter(call, 'domain_id')), call.organizationId, 'domain')
  /** The domain in the path, to change it. Requires a key of this domain or one with `admin`. A domain that was never
   *  verified has no mail yet, so any key of the organization with `manage` can change it. */
  const loadChanged = async (call: Call) => {
    const domain = await load(call)
    const isInUse = domain.verifiedAt !== null || isOwned(domain, requireVerified)
    if (isInUse) requireWithin({ ...domain, domainId: domain.id }, scopeOf(call.key), 'domain')
    return domain
  }
  const answerOf = (domain: Domain, now: number, status = 200) => ({
    status,
    body: domainRecord(domain, published, now),
  })
  const reread = async (domain: Domain, now: number) => answerOf((await store.domains.get(domain.id)) ?? domain, now)

  return [
    operation({
      id: 'domains_create',
      method: 'POST',
      path: '/v1/domains',
      tag: 'Domains',
      access: rule('manage', 'developer', 'refused', 'organization'),
      summary: 'Add a sending domain',
      description:
        'Creates two DKIM keys, RSA-2048 and Ed25519; both sign every message. The response lists the DNS records to publish. The domain is `pending` until DNS has its DKIM records or its ownership record. A pending domain does not receive, forward or track, and sends test messages only. Live sending requires the DKIM records. Returns 409 if the organization already has the name, another organization has verified it, or it is a host name of this server or of another domain.',
      responses: async () => (await import('../responses/domains.ts')).domainCreatedResponses,
      refusals: ['quota_exceeded'],
      example: { name: 'news.example.com' },
      body: createBody,
      idempotent: true,
      async handle({ key, organizationId, now, body, remember }) {
        const isOwnName = body.server_name === true
        if (isOwnName && !isOperator(key)) throw onlyOperator()
        // Both checks run before the expensive key generation. `create` repeats them in its transaction.
        const planned = newDomain({ id: mintId('dom'), organizationId, name: body.name }, now, [])
        const tracking = { ...planned.tracking, ...trackingChange(body.tracking, planned) }
        await requireFree({ ...planned, tracking }, isOwnName)
        const limit = await requireDomainQuota(organizationId, now)
        const domain = { ...planned, tracking, dkim: await dkim.create(planned, now) }
        const answer = answerOf(domain, now, 201)
        const result = await store.domains.create(domain, limit, remember(answer))
        if (result === 'created') {
          onChange()
          return answer
        }
        throw result === 'conflict' ? taken() : full(limit, await store.domains.count(organizationId), now)
      },
    }),
    operation({
      id: 'domains_list',
      method: 'GET',
      path: '/v1/domains',
      tag: 'Domains',
      access: rule('manage', 'viewer', 'no_records', 'organization'),
      tool: {
        name: 'list_domains',
        description: 'Lists the sending domains with their DNS records and the last result of each check.',
      },
      summary: 'List sending domains',
      responses: async () => (await import('../responses/domains.ts')).domainListResponses,
      query: recordsQuery,
      handle: async ({ organizationId, query, now }) =>
        pageResponse(await store.domains.list(organizationId, recordsRequest(query)), (domain) =>
          domainRecord(domain, published, now),
        ),
    }),
    operation({
      id: 'domains_get',
      method: 'GET',
      path: '/v1/domains/:domain_id',
      tag: 'Domains',
      access: rule('manage', 'viewer', 'no_records', 'organization'),
      summary: 'Retrieve a domain and its DNS status',
      responses: async () => (await import('../responses/domains.ts')).domainResponses,
      load,
      handle: async ({ resource, now }) => answerOf(resource, now),
    }),
    operation({
      id: 'domains_dns_host',
      method: 'GET',
      path: '/v1/domains/:domain_id/dns-host',
      tag: 'Domains',
      access: rule('manage', 'viewer', 'no_records', 'organization'),
      summary: 'Find the DNS provider of a domain',
      description: 'Queries the name servers of the domain. All fields are null if the provider is not known.',
      responses: async () => (await import('../responses/domains.ts')).dnsHostResponses,
      load,
      handle: async ({ resource }) => {
        const host = await hostOfZone(resource.name, resolver)
        const { name = null, consoleUrl = null, advice = null } = host ?? {}
        return { status: 200, body: { name, console_url: consoleUrl, advice } }
      },
    }),
    operation({
      id: 'domains_update',
      method: 'PATCH',
      path: '/v1/domains/:domain_id',
      tag: 'Domains',
      access: rule('manage', 'developer', 'refused', 'own_domain'),
      summary: 'Update tracking settings',
      responses: async () => (await import('../responses/domains.ts')).domainResponses,
      refusals: ['conflict'],
      example: { tracking: { opens: true, host: 'links.example.com' } },
      body: patchBody,
      load: loadChanged,
      async handle({ resource, body, now }) {
        const change = trackingChange(body.tracking, resource)
        if (Object.keys(change).length === 0) return answerOf(resource, now)
        const tracking = { ...resource.tracking, ...change }
        if (tracking.host !== resource.tracking.host && tracking.host !== null) {
          await requireFree({ ...resource, tracking }, true, 'tracking.host')
        }
        const result = await store.domains.setTracking(resource.id, change)
        if (result === 'conflict') throw taken('tracking.host')
        onChange()
        return reread(resource, now)
      },
    }),
    operation({
      id: 'domains_delete',
      method: 'DELETE',
      path: '/v1/domains/:domain_id',
      tag: 'Domains',
      access: rule('admin', 'admin', 'refused', 'organization'),
      summary: 'Delete a domain and revoke its API keys',
      responses: async () => (await import('../responses/domains.ts')).domainDeletedResponses,
      refusals: ['invalid_state'],
      load,
      async handle({ resource, now }) {
        if ((await store.domains.remove(resource.id, now)) === 'removed') {
          onChange()
          return deleted(resource.id)
        }
        throw new Refusal(
          'invalid_state',
          'This domain has undelivered messages. Cancel them or wait until they are delivered.',
        )
      },
    }),
    operation({
      id: 'domains_verify',
      method: 'POST',
      path: '/v1/domains/:domain_id/verify',
      tag: 'Domains',
      access: rule('manage', 'developer', 'refused', 'organization'),
      tool: {
        name: 'check_domain',
        description:
          'Queries DNS for the records of a sending domain now, and returns each record with its result. Needs a live key.',
      },
      takesNoTurn: true,
      summary: 'Check the DNS records of a domain',
      description:
        'Queries DNS now and returns the result. A verified domain stays verified if DNS does not respond, and for seven days if its records are missing (`proof_missing_since`).',
      responses: async () => (await import('../responses/domains.ts')).domainResponses,
      body: noBody,
      bodyOptional: true,
      load,
      async handle({ resource, now, requestId }) {
        const audit = {
          id: mintId('aud'),
          organizationId: resource.organizationId,
          at: now,
          actor: { type: 'server' as const, id: 'server', name: 'server' },
          resourceId: resource.id,
          createdId: null,
          fields: ['status'],
          ipAddress: null,
          outcome: 'done' as const,
          requestId,
        }
        const keysAudit = { ...audit, id: mintId('aud'), fields: ['dkim'], action: 'domains_dkim_rotated' }
        const us = { server, survey, domains: store.domains, resolver, now, audit, keysAudit }
        const verified = await verifyDomain(resource, us)
        onChange()
        return answerOf(verified, now)
      },
    }),
    operation({
      id: 'domains_rotate_dkim',
      method: 'POST',
      path: '/v1/domains/:domain_id/rotate-dkim',
      tag: 'Domains',
      access: rule('manage', 'developer', 'refused', 'own_domain'),
      summary: 'Rotate DKIM keys',
      description:
        'Creates two new keys. They sign once their records are in DNS; then the old keys retire. With a delegated zone a domain has two pairs of selectors. Returns 422 with `retry_at` while the keys of the other pair retire, for a week after the last rotation.',
      responses: async () => (await import('../responses/domains.ts')).domainResponses,
      refusals: ['invalid_state'],
      body: noBody,
      bodyOptional: true,
      load: loadChanged,
      async handle({ resource, now }) {
        await dkim.rotate(resource, now)
        onChange()
        return reread(resource, now)
      },
    }),
  ]

  /** Rejects with `conflict` if the name, or a host under it that the domain uses, belongs to the server or to another
   *  domain. */
  async function requireFree(domain: Domain, isOwnName: boolean, field = 'name'): Promise<void> {
    const isOfZone = zone !== null && !isOwnName && isInZone(domain.name, zone)
    if (isOfZone || isServerName(domain, serverNames, isOwnName)) throw serverName(field)
    if (await store.domains.clashes(domain, !requireVerified)) throw taken(field)
  }

  /** Resolves with the number of domains that the plan allows. Rejects with `quota_exceeded` if it is reached. */
  async function requireDomainQuota(organizationId: string, now: number): Promise<number> {
    const organization = await store.organizations.get(organizationId)
    const plan = organization === null ? undefined : config.plans[organization.plan]
    const limit = plan?.domains ?? LIMIT_WITHOUT_PLAN
    if (limit === UNLIMITED) return limit
    const used = await store.domains.count(organizationId)
    if (used >= limit) throw full(limit, used, now)
    return limit
  }
}

/** The `conflict` refusal for a domain or host name in use. The message does not depend on the owner, so that it does
 *  not reveal who uses this server. */
function taken(field = 'name'): Refusal {
  const message =
    field === 'name' ? 'This domain already exists.' : 'This host already belongs to a domain on this server.'
  return new Refusal('conflict', message, { field })
}

function serverName(field: string): Refusal {
  const message = 'This host name belongs to the server itself. Its operator can add it with `server_name`.'
  return new Refusal('conflict', message, { field, details: { reason: 'server_name' } })
}

function onlyOperator(): Refusal {
  return new Refusal('forbidden', 'Only the operator of this server can add the server’s own host names.', {
    field: 'server_name',
  })
}

function full(limit: number, used: number, now: number): Refusal {
  return limitRefusal({ name: 'domains', limit, used }, now)
}
