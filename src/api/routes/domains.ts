import { z } from 'zod'
import { mintDkimKeys, newDomain } from '../../domains/keys.ts'
import type { OwnMtaSts } from '../../domains/mta-sts.ts'
import { checkDomainName } from '../../domains/name.ts'
import { dnsRecords, findingOf } from '../../domains/records.ts'
import { verifyDomain } from '../../domains/verify.ts'
import { toALabel } from '../../mail/address.ts'
import type { Domain } from '../../model/domain.ts'
import { iso } from '../../model/event.ts'
import { type Plan, UNLIMITED } from '../../model/organization.ts'
import { invalid, Refusal } from '../../model/refusal.ts'
import type { MintId } from '../../platform/ids.ts'
import type { Random } from '../../platform/random.ts'
import type { Resolver } from '../../platform/resolver.ts'
import type { Store } from '../../storage/store.ts'
import { deleted } from '../answer.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageAnswer, recordsRequest } from '../page.ts'
import { recordsQuery } from '../schema.ts'

const tracking = z
  .strictObject({
    opens: z.boolean().optional(),
    clicks: z.boolean().optional(),
    unsubscribe: z.boolean().optional(),
    host: z.string().nullable().optional().describe('A host under the domain for links; null = that of this server.'),
  })
  .optional()
const createBody = z.strictObject({
  name: z.string().transform((text, context) => {
    const checked = checkDomainName(text)
    if ('name' in checked) return checked.name
    context.addIssue({ code: 'custom', message: checked.fault })
    return z.NEVER
  }),
  tracking,
})
const patchBody = z.strictObject({ tracking })
const noBody = z.strictObject({})
const LIMIT_WITHOUT_PLAN = 1 // a plan that is no longer configured: the document's smallest

/** `/v1/domains`: what may stand in From, and what has to be published for it (contract §5). `resolver` should not
 *  answer from memory: `verify` asks DNS now. `hostname` is this server's name. */
export function domainOperations(deps: {
  store: Pick<Store, 'domains' | 'organizations'>
  random: Random
  mintId: MintId
  plans: (name: string) => Plan | undefined
  resolver: Resolver
  hostname: string
  /** The MTA-STS policy that is published here, if one is. */
  mtaSts?: OwnMtaSts | null
}): Operation[] {
  const { store, random, mintId, resolver, hostname, mtaSts = null } = deps
  const load = async ({ params, organizationId }: Call) =>
    requireOwned(await store.domains.get(params.domain_id!), organizationId, 'domain')
  const answerOf = (domain: Domain, status = 200) => ({ status, body: toWire(domain, hostname, mtaSts) })
  const reread = async (domain: Domain) => answerOf((await store.domains.get(domain.id)) ?? domain)

  return [
    operation({
      id: 'domains_create',
      method: 'POST',
      path: '/v1/domains',
      permission: 'manage',
      summary: 'Add a sending domain; the answer says which DNS records to publish',
      description:
        'Two DKIM keys are made, RSA-2048 and Ed25519, and both sign. Live mail goes out once the DKIM records are seen in DNS. A name that exists is 409, whoever has it.',
      answers: async () => (await import('../answers/domains.ts')).domainCreatedAnswers,
      refusals: ['quota_exceeded'],
      example: { name: 'news.example.com' },
      body: createBody,
      idempotent: true,
      async handle({ organizationId, now, body, remember }) {
        // Both before the keys are made, which is work; `create` looks once more.
        if ((await store.domains.findByName(body.name)) !== null) throw taken()
        const limit = await requireRoom(organizationId)
        const keys = await mintDkimKeys('active', now, random)
        const made = newDomain({ id: mintId('dom'), organizationId, name: body.name }, now, keys)
        const domain = { ...made, tracking: { ...made.tracking, ...trackingChange(body.tracking, made) } }
        const answer = answerOf(domain, 201)
        const result = await store.domains.create(domain, limit, remember(answer))
        if (result === 'created') return answer
        throw result === 'conflict' ? taken() : full(limit, await store.domains.count(organizationId))
      },
    }),
    operation({
      id: 'domains_list',
      method: 'GET',
      path: '/v1/domains',
      permission: 'manage',
      summary: 'List sending domains, newest first',
      answers: async () => (await import('../answers/domains.ts')).domainListAnswers,
      query: recordsQuery,
      handle: async ({ organizationId, query }) =>
        pageAnswer(await store.domains.list(organizationId, recordsRequest(query)), (domain) =>
          toWire(domain, hostname, mtaSts),
        ),
    }),
    operation({
      id: 'domains_get',
      method: 'GET',
      path: '/v1/domains/:domain_id',
      permission: 'manage',
      summary: 'Read one domain with its DNS records and what DNS last said of them',
      answers: async () => (await import('../answers/domains.ts')).domainAnswers,
      load,
      handle: async ({ resource }) => answerOf(resource),
    }),
    operation({
      id: 'domains_update',
      method: 'PATCH',
      path: '/v1/domains/:domain_id',
      permission: 'manage',
      summary: 'Change what is tracked, and under which host',
      answers: async () => (await import('../answers/domains.ts')).domainAnswers,
      example: { tracking: { opens: true, host: 'links.example.com' } },
      body: patchBody,
      load,
      async handle({ resource, body }) {
        const change = trackingChange(body.tracking, resource)
        if (Object.keys(change).length === 0) return answerOf(resource)
        await store.domains.setTracking(resource.id, { ...resource.tracking, ...change })
        return reread(resource)
      },
    }),
    operation({
      id: 'domains_delete',
      method: 'DELETE',
      path: '/v1/domains/:domain_id',
      permission: 'manage',
      summary: 'Remove a domain; its API keys are revoked',
      answers: async () => (await import('../answers/domains.ts')).domainDeletedAnswers,
      refusals: ['invalid_state'],
      load,
      async handle({ resource, now }) {
        if ((await store.domains.remove(resource.id, now)) === 'removed') return deleted(resource.id)
        throw new Refusal('invalid_state', 'messages of this domain are still to be delivered; cancel or await them')
      },
    }),
    operation({
      id: 'domains_verify',
      method: 'POST',
      path: '/v1/domains/:domain_id/verify',
      permission: 'manage',
      summary: 'Ask DNS now whether the records are published',
      description: 'Answers what was found; a domain that was verified stays so when DNS does not answer.',
      answers: async () => (await import('../answers/domains.ts')).domainAnswers,
      body: noBody,
      bodyOptional: true,
      load,
      handle: async ({ resource, now }) =>
        answerOf(await verifyDomain(resource, { domains: store.domains, resolver, hostname, mtaSts, now })),
    }),
    operation({
      id: 'domains_rotate_dkim',
      method: 'POST',
      path: '/v1/domains/:domain_id/rotate-dkim',
      permission: 'manage',
      summary: 'Make two new DKIM keys; they sign once their records are seen, then the old ones retire',
      answers: async () => (await import('../answers/domains.ts')).domainAnswers,
      refusals: ['invalid_state'],
      body: noBody,
      bodyOptional: true,
      load,
      async handle({ resource, now }) {
        if (resource.dkim.some((key) => key.state === 'pending')) {
          throw new Refusal('invalid_state', 'a rotation is under way: publish its records and verify the domain')
        }
        await store.domains.addDkimKeys(resource.id, await mintDkimKeys('pending', now, random))
        return reread(resource)
      },
    }),
  ]

  /** The plan's limit, or 422 when it is reached. */
  async function requireRoom(organizationId: string): Promise<number> {
    const organization = await store.organizations.get(organizationId)
    const plan = organization === null ? undefined : deps.plans(organization.plan)
    const limit = plan?.domains ?? LIMIT_WITHOUT_PLAN
    if (limit === UNLIMITED) return limit
    const used = await store.domains.count(organizationId)
    if (used >= limit) throw full(limit, used)
    return limit
  }
}

/** The same words whoever has the name, so that nobody learns who uses this server. */
function taken(): Refusal {
  return new Refusal('conflict', 'this domain already exists', { field: 'name' })
}

function full(limit: number, used: number): Refusal {
  const details = { limit, used, resets_at: null } // unlike a month's volume, it never starts anew
  return new Refusal('quota_exceeded', `this plan allows ${limit} domains`, { details })
}

/** What was given of it, the host checked. */
function trackingChange(given: z.infer<typeof tracking>, domain: Domain): Partial<Domain['tracking']> {
  const host = given?.host == null ? given?.host : trackingHost(given.host, domain)
  return Object.fromEntries(Object.entries({ ...given, host }).filter(([, value]) => value !== undefined))
}

/** A host under the domain, so that nobody can take a name of somebody else's. */
function trackingHost(text: string, domain: Domain): string {
  const host = toALabel(text)
  if (host?.endsWith(`.${domain.name}`) && host !== domain.returnPathHost) return host
  const message = `tracking.host must be a host under ${domain.name}, and not ${domain.returnPathHost}`
  throw invalid([{ field: 'tracking.host', message }])
}

function toWire(domain: Domain, hostname: string, mtaSts: OwnMtaSts | null) {
  const time = (at: number | null) => (at === null ? null : iso(at))
  return {
    id: domain.id,
    name: domain.name,
    status: domain.status,
    created_at: iso(domain.createdAt),
    verified_at: time(domain.verifiedAt),
    last_checked_at: time(domain.lastCheckedAt),
    dkim: domain.dkim.map(({ selector, algorithm, state, createdAt }) => ({
      selector,
      algorithm,
      state,
      created_at: iso(createdAt),
    })),
    return_path_host: domain.returnPathHost,
    tracking: domain.tracking,
    dns_records: dnsRecords(domain, hostname, mtaSts).map((record) => {
      const finding = findingOf(domain, record)
      return { ...record, status: finding?.status ?? 'pending', found: finding?.found ?? [] }
    }),
  }
}
