import { createHash } from 'node:crypto'
import type { Operation } from '../../src/api/operation.ts'
import type { OriginOptions } from '../../src/api/own-origin.ts'
import type { PlaintextGuard } from '../../src/api/plaintext-guard.ts'
import type { Page } from '../../src/api/route-table.ts'
import { apiKeyOperations } from '../../src/api/routes/api-keys.ts'
import { auditLogOperations } from '../../src/api/routes/audit-log.ts'
import { billingOperations } from '../../src/api/routes/billing.ts'
import { blockedLinkOperations } from '../../src/api/routes/blocked-links.ts'
import { configurationOperations } from '../../src/api/routes/configuration.ts'
import { domainOperations } from '../../src/api/routes/domains.ts'
import { eventOperations } from '../../src/api/routes/events.ts'
import { healthOperations } from '../../src/api/routes/health-checks.ts'
import { inboundOperations } from '../../src/api/routes/inbound.ts'
import { organizationOperations } from '../../src/api/routes/organizations.ts'
import { sessionOperations } from '../../src/api/routes/sessions.ts'
import { suppressionListOperations } from '../../src/api/routes/suppression-lists.ts'
import { suppressionOperations } from '../../src/api/routes/suppressions.ts'
import { templateOperations } from '../../src/api/routes/templates.ts'
import { webhookOperations } from '../../src/api/routes/webhooks.ts'
import { type Api, createApi } from '../../src/api/server.ts'
import { hashToken, mintToken, SESSION_COOKIE } from '../../src/api/sessions.ts'
import { createStreams, type Streams } from '../../src/api/streams.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { createEventStream, type EventStream } from '../../src/event-stream/event-stream.ts'
import { createHealthWatch, type HealthWatch } from '../../src/health/watch.ts'
import type { ApiKey, Permission } from '../../src/model/api-key.ts'
import type { Domain } from '../../src/model/domain.ts'
import { type Organization, type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { sessionEnd } from '../../src/model/session.ts'
import type { Resolver } from '../../src/net/dns/resolver.ts'
import { checkWebhookUrl } from '../../src/net/https/requests.ts'
import { isPublicUnicast } from '../../src/net/ip.ts'
import { createMintId, type MintId } from '../../src/os/ids.ts'
import { type Log, silentLog } from '../../src/os/log.ts'
import type { Memory } from '../../src/os/memory.ts'
import type { Random } from '../../src/os/random.ts'
import { parsingHere } from '../../src/parsing/parsing.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { undocumented } from './documented.ts'
import { textOf } from './event-stream.ts'
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import { addKey as storeKey } from './keys.ts'

/** 2026-11-21T12:00:00.000Z */
export const START = 1_795_262_400_000

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

export interface TestApi {
  api: Api
  streams: Streams
  /** Rings for those who follow events; a test may put something else here. */
  happened: (organizationIds: ReadonlySet<string>) => void
  store: Store
  clock: FakeClock
  random: Random
  mintId: MintId
  operations: Operation[]
  /** Whose keys `ask` uses, and another organization. */
  own: Tenant
  other: Tenant
  /** How often the schedulers of webhooks and of inbound deliveries were woken. */
  wakes(): number
  /** Asks without a socket. The key is `own`'s with `manage` unless said; null = none. Throws on an answer that its
   *  operation does not promise. */
  ask(method: string, path: string, options?: AskOptions): Promise<Answered>
  addKey(tenant: Pick<Tenant, 'organization' | 'domain'>, change?: Partial<ApiKey>): Promise<HeldKey>
  /** A new session of the operator's → its cookie as a header. */
  signIn(): Promise<{ cookie: string }>
  close(): Promise<void>
}

export interface AskOptions {
  key?: HeldKey | string | null
  /** A string or bytes go as they are, anything else as JSON. */
  body?: unknown
  headers?: Record<string, string>
}

export interface Answered {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
}

export const TEST_PLANS: Record<string, Plan> = {
  enterprise: { ...UNLIMITED_PLAN, retentionDays: 90 },
  free: { ...UNLIMITED_PLAN, requestsPerMinute: 60, messagesPerMonth: 1000, domains: 1, retentionDays: 7 },
  internal: UNLIMITED_PLAN,
}

/** No target needs a confirmation: test/flow/forward-targets.test.ts is about those. */
const CONFIRMED = { statusOf: async () => 'confirmed' as const, ask: async () => [] }

const SETTINGS = [{ key: 'hostname', value: '"mail.example.com"', source: 'config.toml:1', isGiven: true }]

export interface TestApiOptions {
  operations?: (parts: { store: Store; clock: FakeClock; mintId: MintId }) => Operation[]
  pages?: Page[]
  resolver?: Resolver
  bodyBytes?: number
  log?: Log
  isReady?: () => string | null
  health?: HealthWatch
  origin?: OriginOptions
  hasSessions?: boolean
  plaintextGuard?: PlaintextGuard
  watchDescriptors?: Parameters<typeof createApi>[0]['watchDescriptors']
  hstsSeconds?: number
  memory?: Memory
  wrapStore?: (store: Store) => Store
  /** False, as for a try-out: a claim counts as proved. */
  requireVerified?: boolean
  plan?: string
  /** Of all organizations in the store. */
  limits?: Plan
  streams?: { maxPerKey?: number; maxPerOrganization?: number; max?: number }
}

/** The API over a real store in memory, with two organizations. DNS says nothing unless a resolver is given. */
export async function createTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const clock = createFakeClock(START)
  const random = createTestRandom()
  const mintId = createMintId(clock, random)
  const store = await openStore({
    dataDir: ':memory:',
    now: START,
    ...(options.limits && { plans: () => options.limits! }),
    commitListener: {
      committed: () => {},
      suppressed: () => {},
      happened: (organizationIds) => made.happened(organizationIds),
    },
  })
  const seen = options.wrapStore?.(store) ?? store
  const feed = createEventStream({ events: seen.events, clock: clock.steady, lookMs: 1_000 })
  const streams = createStreams({ clock: clock.steady, ...options.streams })
  const plans = (name: string) => TEST_PLANS[name]
  let wakes = 0
  const wake = () => {
    wakes++
  }
  const operations =
    options.operations?.({ store: seen, clock, mintId }) ??
    allOperations(options, { store: seen, clock, random, mintId, feed, streams, wake })
  const api = createApi({
    operations,
    pages: options.pages,
    store: seen,
    clock,
    random,
    mintId,
    plans,
    limits: { bodyBytes: options.bodyBytes ?? 65_536 },
    clientAddress: (peer, forwardedFor) => forwardedFor ?? peer ?? '',
    log: options.log ?? silentLog,
    origin: options.origin,
    hasSessions: options.hasSessions,
    plaintextGuard: options.plaintextGuard,
    hstsSeconds: options.hstsSeconds,
    watchDescriptors: options.watchDescriptors,
    memory: options.memory,
    streams,
    isReady: options.isReady ?? (() => null),
  })

  const addKey = (tenant: Pick<Tenant, 'organization' | 'domain'>, change: Partial<ApiKey> = {}) => {
    const owner = { organizationId: tenant.organization.id, domainId: tenant.domain.id }
    return storeKey(store, { id: mintId('key'), ...owner, createdAt: clock.now(), ...change }, random)
  }
  const addTenant = async (name: string, plan: string): Promise<Tenant> => {
    const organization = { id: mintId('org'), name, plan, createdAt: START }
    await store.organizations.create(organization)
    const domain = await testDomain(mintId('dom'), organization.id, `${name}.example`, random)
    await store.domains.create(domain, -1)
    const tenant = { organization, domain }
    const key = (permission: Permission) => addKey(tenant, { name: permission, permissions: [permission] })
    const keys = { send: await key('send'), read: await key('read'), manage: await key('manage') }
    return { ...tenant, keys: { ...keys, admin: await key('admin') } }
  }
  const own = await addTenant('own', options.plan ?? 'enterprise')
  const other = await addTenant('other', 'enterprise')

  const made: TestApi = {
    api,
    streams,
    happened: (organizationIds) => {
      for (const id of organizationIds) feed.notify(id)
    },
    store,
    clock,
    random,
    mintId,
    operations,
    own,
    other,
    wakes: () => wakes,
    addKey,
    async ask(method, path, { key = own.keys.manage, body, headers = {} } = {}) {
      const all = new Headers(headers)
      if (key !== null) all.set('authorization', `Bearer ${typeof key === 'string' ? key : key.value}`)
      if (body !== undefined && !all.has('content-type')) all.set('content-type', 'application/json')
      const isRaw = typeof body === 'string' || body instanceof Uint8Array || body === undefined
      const sent = isRaw ? (body as string | Uint8Array<ArrayBuffer> | undefined) : JSON.stringify(body)
      const response = await api.fetch(new Request(`http://localhost${path}`, { method, headers: all, body: sent }))
      const text = await textOf(response)
      const fault = await undocumented(operations, method, path, {
        status: response.status,
        headers: response.headers,
        text,
      })
      if (fault !== null) throw new Error(`${method} ${path}: ${fault}`)
      return { status: response.status, headers: response.headers, text, body: parsed(text) }
    },
    signIn: () => signIn(store, clock.now(), random, mintId),
    async close() {
      await api.stop(0)
      await store.close()
    },
  }
  return made
}

/** The operations that need no engine. */
function allOperations(
  { resolver = silentResolver, health, requireVerified = false }: TestApiOptions,
  parts: {
    store: Store
    clock: FakeClock
    random: Random
    mintId: MintId
    feed: EventStream
    streams: Streams
    wake: () => void
  },
): Operation[] {
  const { store, clock, random, mintId, feed, streams, wake } = parts
  const plans = (name: string) => TEST_PLANS[name]
  const checkUrl = (url: string) => checkWebhookUrl(url, isPublicUnicast)
  const parsing = parsingHere()
  return [
    ...apiKeyOperations({ store, random, mintId }),
    ...domainOperations({
      store,
      random,
      mintId,
      plans,
      resolver,
      hostname: 'mail.postrider.test',
      serverNames: ['mail.postrider.test'],
      requireVerified,
    }),
    ...eventOperations({ store, feed, streams }),
    ...auditLogOperations({ store }),
    ...healthOperations({
      health: health ?? createHealthWatch({ run: async () => [], now: clock.now, log: silentLog }),
    }),
    ...billingOperations({ store, plans, selfService: ['free', 'enterprise'] }),
    ...suppressionOperations({ store, mintId }),
    ...suppressionListOperations({ ...parsing, store, random }),
    ...templateOperations({ ...parsing, store, mintId }),
    ...webhookOperations({ store, random, mintId, checkUrl, wakeWebhooks: wake }),
    ...inboundOperations({
      store,
      random,
      mintId,
      checkUrl,
      wakeInbound: wake,
      requireVerified,
      forwarding: CONFIRMED,
    }),
    ...blockedLinkOperations({ store, mintId }),
    ...organizationOperations({ store, mintId, plans: Object.keys(TEST_PLANS) }),
    ...configurationOperations({ plans: TEST_PLANS, settings: () => SETTINGS }),
    ...sessionOperations({ store }),
  ]
}

/** A session of the operator's in a store → its cookie as a header. */
export async function signIn(store: Store, now: number, random: Random, mintId: MintId): Promise<{ cookie: string }> {
  const token = mintToken(random)
  const session = { id: mintId('ses'), createdAt: now, lastSeenAt: now, endsAt: sessionEnd(now, now) }
  await store.sessions.open({ ...session, ipAddress: null, userAgent: 'a test' }, hashToken(token))
  return { cookie: `${SESSION_COOKIE}=${token}` }
}

/** Random that is the same at every run: SHA-256 of a counter. */
export function createTestRandom(): Random {
  let counter = 0
  return {
    bytes: (size) => {
      const blocks = Array.from({ length: Math.ceil(size / 32) }, () =>
        createHash('sha256').update(`test ${counter++}`).digest(),
      )
      return new Uint8Array(Buffer.concat(blocks).subarray(0, size))
    },
    fraction: () => 0.5,
  }
}

/** A resolver for tests without DNS: no question is ever answered. */
export const silentResolver: Resolver = (() => {
  const temporary = async () => ({ kind: 'temporary' as const, reason: 'no DNS in this test' })
  return {
    mx: temporary,
    a: temporary,
    aaaa: temporary,
    txt: temporary,
    txtStrings: temporary,
    cname: temporary,
    ns: temporary,
    ptr: temporary,
    tlsa: temporary,
    close: () => {},
  }
})()

let madeKeys: ReturnType<typeof mintDkimKeys> | null = null

/** A domain whose keys are made once for all tests of a process: RSA takes its time. */
async function testDomain(id: string, organizationId: string, name: string, random: Random): Promise<Domain> {
  madeKeys ??= mintDkimKeys('active', START, random)
  return newDomain({ id, organizationId, name }, START, await madeKeys)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
