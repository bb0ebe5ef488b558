import { makeConfig } from '../../src/config/load.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import type { ApiKey, Permission } from '../../src/model/api-key.ts'
import type { DkimKeyRecord, Domain } from '../../src/model/domain.ts'
import { type Organization, type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { sessionEnd } from '../../src/model/session.ts'
import { FIRST_USER } from '../../src/model/user.ts'
import type { MintId } from '../../src/os/ids.ts'
import { type Random, systemRandom } from '../../src/os/random.ts'
import type { Forwarding } from '../../src/sending/submission/forwarding.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Operation } from '../../src/web/api/operation.ts'
import { hashToken, mintSessionToken, SESSION_COOKIE } from '../../src/web/api/sessions.ts'
import { type Answered, type AssembledApi, type AssemblyOptions, assembleTestApi, START } from './api-assembly.ts'
import type { FakeClock } from './fake-clock.ts'
import { addKey as storeKey } from './keys.ts'

export { type Answered, START }

/** A key with its value, as a client has it. */
export interface HeldKey {
  record: ApiKey
  value: string
}

/** A tenant with one domain and a key for each permission. */
export interface Tenant {
  organization: Organization
  domain: Domain
  keys: Record<Permission, HeldKey>
}

export interface TestApi extends Omit<AssembledApi, 'fetch'> {
  /** Notifies the event streams of these organizations; a test may replace it. */
  happened: (organizationIds: ReadonlySet<string>) => void
  /** The organization whose keys `ask` uses, and another one. */
  own: Tenant
  other: Tenant
  /** How often the engines of webhooks and of inbound deliveries were woken. */
  wakes(): number
  /** Sends a request without a socket. The key is `own`'s with `manage` by default; null = none. Throws if the operation
   *  does not document the response. */
  ask(method: string, path: string, options?: AskOptions): Promise<Answered>
  addKey(tenant: Pick<Tenant, 'organization' | 'domain'>, change?: Partial<ApiKey>): Promise<HeldKey>
  /** A new session of the operator → its cookie as a header. */
  signIn(): Promise<{ cookie: string }>
}

export interface AskOptions {
  key?: HeldKey | string | null
  /** A string or bytes are sent unchanged, anything else as JSON. */
  body?: unknown
  headers?: Record<string, string>
}

export const TEST_PLANS: Record<string, Plan> = {
  enterprise: { ...UNLIMITED_PLAN, retentionDays: 90 },
  free: { ...UNLIMITED_PLAN, requestsPerMinute: 60, messagesPerMonth: 1000, domains: 1, retentionDays: 7 },
  internal: UNLIMITED_PLAN,
}

/** Every target counts as confirmed; test/flow/forward-targets.test.ts tests confirmations. */
const FORWARDING: Forwarding = {
  statusOf: async () => 'confirmed',
  targetsOf: async ({ action }) => ({ to: action.config.to, not: [] }),
  poolOf: () => '',
  isStopped: () => false,
  ask: async () => [],
}

const SETTINGS = [{ key: 'hostname', value: '"mail.example.com"', source: 'config.toml:1', isGiven: true }]

export interface TestApiOptions extends Partial<Omit<AssemblyOptions, 'config' | 'dataDir' | 'random'>> {
  operations?: (parts: { store: Store; clock: FakeClock; mintId: MintId }) => Operation[]
  /** False by default, as in a try-out: a claim counts as proved. */
  requireVerified?: boolean
  /** Of the organization `own`. */
  plan?: string
  /** The zone delegated to this server. */
  delegatedZone?: string
}

/** The API over a real store in memory, with two organizations. */
export async function createTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const config = makeConfig({
    hostname: 'mail.postrider.test',
    smtp: { inbound: { listen: 'off' } },
    sending: { require_verified_domain: options.requireVerified ?? false },
    ...(options.delegatedZone !== undefined && { dns: { zone: options.delegatedZone, listen: ['127.0.0.1:53'] } }),
    billing: { self_service_plans: ['free', 'enterprise'] },
  })
  const assembled = await assembleTestApi({
    bodyBytes: 65_536,
    settings: SETTINGS,
    forwarding: FORWARDING,
    onEvents: (organizationIds) => made.happened(organizationIds),
    ...options,
    config: { ...config, plans: TEST_PLANS },
  })
  const { store, clock, random, mintId, woken } = assembled
  const addKey = (tenant: Pick<Tenant, 'organization' | 'domain'>, change: Partial<ApiKey> = {}) => {
    const owner = { organizationId: tenant.organization.id, domainId: tenant.domain.id }
    return storeKey(store, { id: mintId('key'), ...owner, createdAt: clock.now(), ...change }, random)
  }
  const addTenant = async (name: string, plan: string): Promise<Tenant> => {
    const organization = { id: mintId('org'), name, plan, createdAt: START }
    await store.organizations.create(organization)
    const domain = await newTestDomain({
      id: mintId('dom'),
      organizationId: organization.id,
      name: `${name}.example`,
    })
    await store.domains.create(domain, -1)
    const tenant = { organization, domain }
    const key = (permission: Permission) => addKey(tenant, { name: permission, permissions: [permission] })
    const keys = { send: await key('send'), read: await key('read'), manage: await key('manage') }
    return { ...tenant, keys: { ...keys, admin: await key('admin') } }
  }
  const own = await addTenant('own', options.plan ?? 'enterprise')
  const other = await addTenant('other', 'enterprise')

  const made: TestApi = {
    ...assembled,
    happened: (organizationIds) => {
      for (const id of organizationIds) assembled.notifier.notify(`events of ${id}`)
    },
    own,
    other,
    wakes: () => woken.webhooks + woken.inbound,
    addKey,
    ask(method, path, { key = own.keys.manage, body, headers = {} } = {}) {
      const all = new Headers(headers)
      if (key !== null) all.set('authorization', `Bearer ${typeof key === 'string' ? key : key.value}`)
      if (body !== undefined && !all.has('content-type')) all.set('content-type', 'application/json')
      const isRaw = typeof body === 'string' || body instanceof Uint8Array || body === undefined
      return assembled.fetch(method, path, { headers: all, body: isRaw ? body : JSON.stringify(body) })
    },
    signIn: () => signIn(store, clock.now(), random, mintId),
  }
  return made
}

/** A session of the operator in a store → its cookie as a header. */
export async function signIn(
  store: Store,
  now: number,
  random: Random,
  mintId: MintId,
  userId = FIRST_USER,
): Promise<{ cookie: string }> {
  const token = mintSessionToken(random)
  const session = {
    id: mintId('ses'),
    userId,
    createdAt: now,
    lastSeenAt: now,
    endsAt: sessionEnd(now, now),
  }
  await store.sessions.open({ ...session, ipAddress: null, userAgent: 'a test' }, hashToken(token))
  return { cookie: `${SESSION_COOKIE}=${token}` }
}

let dkimKeys: Promise<DkimKeyRecord[]> | null = null

/** A pending domain. All share one pair of keys, because minting RSA keys takes longer than most tests. */
export async function newTestDomain(facts: { id: string; organizationId: string; name: string }): Promise<Domain> {
  dkimKeys ??= mintDkimKeys('active', START, systemRandom)
  return newDomain(facts, START, await dkimKeys)
}
