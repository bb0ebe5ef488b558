import { type Config, nodeName } from '../config/load.ts'
import type { RecipientPartsOf } from '../mail/recipient-parts.ts'
import type { StoredMail } from '../mail/shown-content.ts'
import type { Verp } from '../mail/verp.ts'
import type { PoolMetrics } from '../metrics/pools.ts'
import { createResolver, type Resolver, type ResolverOptions } from '../net/dns/resolver.ts'
import type { Ask } from '../net/https/requests.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Memory } from '../os/memory.ts'
import type { Notify } from '../os/notifier.ts'
import type { Random } from '../os/random.ts'
import { createThreadPool, threadRunner } from '../os/thread-pool.ts'
import { Attempts } from '../outbound/attempts.ts'
import { type ComposeJob, createComposer } from '../outbound/composing/composer.ts'
import { journalFolder } from '../outbound/journal/delivered-journal.ts'
import { DeliveryQueue } from '../outbound/queue.ts'
import { createRelayCounters, type RelayCounters } from '../outbound/relays/relay-counters.ts'
import type { AdmissionSources } from '../outbound/schedule/open-admission.ts'
import { openKeptRests } from '../outbound/senders/kept-rests.ts'
import { createPools, type PoolOf } from '../outbound/senders/pools.ts'
import { REMEMBERED as RESTS } from '../outbound/senders/rests.ts'
import { DeliveryThreads } from '../outbound/workers.ts'
import type { Store } from '../storage/store.ts'
import type { Compose } from '../submission/signing.ts'
import { startComposingThread, startDeliveryThread } from '../threads.ts'
import { createTlsCounters } from '../tls-policy/counters.ts'
import { createFetchPolicy } from '../tls-policy/fetch-policy.ts'
import { createMtaStsPolicies, type MtaStsPolicies } from '../tls-policy/mta-sts.ts'
import type { ResourceLimits } from './limits.ts'
import { openRelayLogins, type RelaysWithLogins } from './relay-logins.ts'
import { relaySettingsOf } from './relays.ts'

/** Outbound delivery: the queue that schedules attempts, the threads that make them, TLS policies of destinations, and TLS
 *  counters for reports. */
export interface DeliveryEngine {
  queue: DeliveryQueue
  compose: Compose
  mtaStsOf: MtaStsPolicies['find']
  /** Starts fetching MTA-STS policies again before they expire. */
  refreshPolicies(now: number): void
  /** Stores the TLS sessions counted since the last call. */
  flushTls: () => Promise<void>
  /** Attempts through each relay. */
  relays: RelayCounters
  /** Reads the passwords of relays again. Never throws. */
  refreshLogins(): void
  /** Call after the queue has stopped. Gives threads `withinMs` to send QUIT, stores counters and closes resolvers. Never
   *  rejects. */
  close(withinMs: number): Promise<void>
}

export interface DeliveryEngineDeps {
  store: Store
  clock: WallClock
  random: Random
  mintId: MintId
  verp: Verp
  recipientParts: RecipientPartsOf
  workerId: string
  lookups: ResolverOptions
  limits: Pick<ResourceLimits, 'deliveries' | 'idleSessions'>
  /** Fetches MTA-STS policy files. */
  askPolicyHost: Ask
  notify: Notify
  log: Log
  mailLog: MailLog
  memory: Memory
  pools: PoolMetrics
  storedMail: Pick<StoredMail, 'part'>
  isPort25Blocked: () => Promise<boolean>
  /** Owner in the name of a queue → its own addresses. */
  dedicatedOf: (owner: string) => readonly string[]
  /** Overrides how long a job may occupy its thread. */
  computeMs?: number
}

/** Creates the DeliveryEngine with its threads running; the queue is not started yet. If the threads do not start, stops
 *  them and rejects. */
export async function openDeliveryEngine(config: Config, deps: DeliveryEngineDeps): Promise<DeliveryEngine> {
  const { store, clock, lookups, log, pools } = deps
  const hasAddresses = config.sending.addresses.length > 0
  const keptRests = hasAddresses ? await openKeptRests({ store, clock, log }, RESTS) : undefined
  // Separate resolvers: a backlog of domains whose DNS does not answer must not delay other lookups.
  const mxResolver = createResolver({ ...lookups, maxCacheEntries: 0 })
  const policyResolver = createResolver({ ...lookups, maxCacheEntries: 0 })
  const counters = createTlsCounters({ store, clock })
  const relayCounters = createRelayCounters({ store, clock })
  const countTls: typeof counters.count = config.reports.from === '' ? () => {} : counters.count
  const policies = createMtaStsPolicies({
    store,
    resolver: policyResolver,
    fetchPolicy: createFetchPolicy({ ask: deps.askPolicyHost, clock }),
    clock,
    onFailure: (domain, { failure }) => countTls(domain, { policy: 'mta_sts', ...NO_HOST, failure }),
  })
  const tlsCounters = config.reports.from === '' ? undefined : counters
  const attempts = new Attempts({ clock, policies, tlsCounters })
  const logins = openRelayLogins(config, log, (relays) => threads.useRelays(relays))
  const threads = new DeliveryThreads(
    {
      spawn: startDeliveryThread,
      count: config.delivery.workers,
      settings: workerSettings(config, logins, deps),
      clock,
      log,
      onEvent: pools.onEvent,
      computeMs: deps.computeMs,
    },
    attempts,
  )
  attempts.useThreads(threads)
  pools.add('delivery', () => threads.state())
  const composing = createComposingPool(config, deps)
  const queue = new DeliveryQueue(
    { ...deps, settings: queueSettings(config, deps), onEvent: pools.onEvent },
    { ...sourcesOf(config, deps), resolver: withPolicies(mxResolver, policies), keptRests },
    { attempts, logins, relayCounters },
  )

  const close = async (withinMs: number) => {
    await composing.stop()
    await threads.stop(withinMs)
    await counters.flush().catch((error) => log.warn('TLS session counts not stored', { error }))
    await relayCounters.flush().catch((error) => log.warn('relay counts not stored', { error }))
    mxResolver.close()
    policyResolver.close()
  }
  await threads.ready.catch(async (error) => {
    await close(0)
    throw error
  })
  return {
    queue,
    compose: createComposer(composing),
    mtaStsOf: policies.find,
    refreshPolicies: (now) => {
      policies.refresh(now).catch((error) => log.error('MTA-STS policies not refreshed', { error }))
    },
    flushTls: counters.flush,
    relays: relayCounters,
    refreshLogins: logins.refresh,
    close,
  }
}

function workerSettings(config: Config, logins: RelaysWithLogins, deps: DeliveryEngineDeps) {
  const { delivery } = config
  const { lookups, limits, workerId } = deps
  return {
    hostname: config.hostname,
    dnsServers: lookups.servers,
    trustedDnsServers: config.dns.trustedResolvers,
    deliveryPort: delivery.port,
    relays: logins.relays(),
    allowPrivateDestinations: delivery.allowPrivateDestinations,
    sourceAddress: delivery.sourceAddress || null,
    idleSessions: limits.idleSessions,
    longestWaitMs: delivery.longestWaitSeconds * 1000,
    journal: { folder: journalFolder(config.dataDir), worker: workerId },
  }
}

/** Separate threads from delivery: a request whose mail takes long to compose must not delay deliveries. */
function createComposingPool(config: Config, { clock, log, pools, computeMs }: DeliveryEngineDeps) {
  const pool = createThreadPool<ComposeJob, Uint8Array>({
    name: 'compose',
    start: threadRunner(startComposingThread),
    count: config.delivery.workers,
    perRunner: 16,
    ...COMPOSE_LIMITS,
    computeMs: computeMs ?? COMPOSE_LIMITS.computeMs,
    clock: clock.steady,
    log,
    onEvent: pools.onEvent,
  })
  pools.add('compose', pool.state)
  return pool
}

function queueSettings(config: Config, { limits }: DeliveryEngineDeps) {
  const { delivery, sending } = config
  return {
    retryScheduleSeconds: delivery.retryScheduleSeconds,
    maxAgeSeconds: delivery.maxAgeSeconds,
    requireVerified: sending.requireVerifiedDomain,
    hardBounces: sending.hardBounces,
    maxInFlight: limits.deliveries,
    maxPerDestination: delivery.maxPerDestination,
    destinations: delivery.sites,
  }
}

function sourcesOf(config: Config, deps: DeliveryEngineDeps): Omit<AdmissionSources, 'resolver' | 'keptRests'> {
  return {
    relays: relaySettingsOf(config),
    isPort25Blocked: deps.isPort25Blocked,
    poolOf: poolsOf(config, deps),
    warmups: warmingOn(config),
  }
}

/** Fetches the policy of a domain while its MX hosts are looked up, so that the first message to a domain waits for one DNS
 *  answer, not for two. */
function withPolicies(resolver: Resolver, policies: MtaStsPolicies): AdmissionSources['resolver'] {
  return {
    mx: (domain) => {
      Promise.resolve(policies.find(domain)).catch(() => {})
      return resolver.mx(domain)
    },
  }
}

/** Absent without configured addresses: the system chooses. */
function poolsOf(config: Config, { dedicatedOf }: Pick<DeliveryEngineDeps, 'dedicatedOf'>): PoolOf | undefined {
  const { addresses, streams } = config.sending
  if (addresses.length === 0) return undefined
  return createPools({ addresses, streams, hostname: config.hostname, node: nodeName(config), dedicatedOf })
}

/** The addresses in warm-up that this node may send from. */
const warmingOn = (config: Config) =>
  config.sending.addresses.flatMap(({ address, node, warmup }) =>
    warmup === null || (node !== null && node !== nodeName(config)) ? [] : [{ address, warmup }],
  )

const NO_HOST = { host: null, address: null, source: null }
/** The largest message is composed and signed in less than a second; a thread may hold several. */
const COMPOSE_LIMITS = { computeMs: 5_000, totalMs: 30_000, idleMs: 30_000 }
