import { type Config, nodeName } from '../config/load.ts'
import { createResolver, type Resolver } from '../net/dns/resolver.ts'
import { askBy } from '../net/https/requests.ts'
import { createThreadPool, threadRunner } from '../os/thread-pool.ts'
import { Attempts } from '../sending/outbound/attempts.ts'
import { type ComposeJob, createComposer } from '../sending/outbound/composing/composer.ts'
import type { DeliveryContext } from '../sending/outbound/context.ts'
import { journalFolder } from '../sending/outbound/journal/delivered-journal.ts'
import { DeliveryQueue } from '../sending/outbound/queue.ts'
import type { RelayLogins } from '../sending/outbound/relays/relay.ts'
import { createRelayCounters, type RelayCounters } from '../sending/outbound/relays/relay-counters.ts'
import type { AdmissionSources } from '../sending/outbound/schedule/open-admission.ts'
import { type AddressCounters, createAddressCounters } from '../sending/outbound/senders/address-counters.ts'
import { createPools } from '../sending/outbound/senders/pools.ts'
import { REMEMBERED as RESTS } from '../sending/outbound/senders/rests.ts'
import { openStoredRests } from '../sending/outbound/senders/stored-rests.ts'
import { DeliveryThreads } from '../sending/outbound/workers.ts'
import type { Compose } from '../sending/submission/signing.ts'
import { createTlsCounters, type TlsCounters } from '../sending/tls-policy/counters.ts'
import { createFetchPolicy } from '../sending/tls-policy/fetch-policy.ts'
import { createMtaStsPolicies, type MtaStsPolicies } from '../sending/tls-policy/mta-sts.ts'
import { startComposingThread, startDeliveryThread } from '../threads.ts'
import type { Base } from './base.ts'
import type { Https } from './https-clients.ts'
import type { Parsing } from './parsing/parsing.ts'
import { openRelayLogins, type RelaysWithLogins } from './relay-logins.ts'
import { relaySettingsOf } from './relays.ts'
import type { Resources } from './resources.ts'

/** Outbound delivery: the queue that schedules attempts, the threads that make them, TLS policies of destinations, and
 *  counters. */
export interface DeliveryEngine {
  queue: DeliveryQueue
  compose: Compose
  /** MTA-STS policies of receiving domains. */
  policies: MtaStsPolicies
  /** TLS sessions, for reports. */
  tlsCounters: TlsCounters
  /** Attempts through each relay. */
  relayCounters: RelayCounters
  /** Attempts from each sending address. */
  addressCounters: AddressCounters
  logins: RelayLogins
  /** Call after the queue has stopped. Gives threads `withinMs` to send QUIT, stores counters and closes resolvers. Never
   *  rejects. */
  close(withinMs: number): Promise<void>
}

/** What it uses beside Base. */
export interface DeliveryParts {
  resources: Resources
  https: Https
  parsing: Parsing
}

/** Creates the DeliveryEngine with its threads running; the queue is not started yet. If the threads do not start, stops
 *  them and rejects. */
export async function openDeliveryEngine(config: Config, base: Base, parts: DeliveryParts): Promise<DeliveryEngine> {
  const { clock, log, metrics } = base
  const { pools } = metrics
  const { store, lookups } = parts.resources
  const hasAddresses = config.sending.addresses.length > 0
  const storedRests = hasAddresses ? await openStoredRests({ store, clock, log }, RESTS) : undefined
  // Separate resolvers: a backlog of domains whose DNS does not answer must not delay other lookups.
  const mxResolver = createResolver({ ...lookups, maxCacheEntries: 0 })
  const policyResolver = createResolver({ ...lookups, maxCacheEntries: 0 })
  const tlsCounters = createTlsCounters({ store, clock })
  const relayCounters = createRelayCounters({ store, clock })
  const countsTls = config.reports.from !== ''
  const policies = createMtaStsPolicies({
    store,
    resolver: policyResolver,
    fetchPolicy: createFetchPolicy({ ask: askBy(parts.https.policies), clock }),
    clock,
    onFailure: (domain, { failure }) => {
      if (countsTls) tlsCounters.count(domain, { policy: 'mta_sts', ...NO_HOST, failure })
    },
  })
  const attempts = new Attempts({ clock, policies, tlsCounters: countsTls ? tlsCounters : undefined })
  const logins = openRelayLogins(config, log, (relays) => threads.useRelays(relays))
  const threads = openThreads(config, base, { resources: parts.resources, logins, attempts })
  attempts.useThreads(threads)
  const composing = createComposingPool(config, base)
  const sources = { ...sourcesOf(config, base, parts), resolver: withPolicies(mxResolver, policies), storedRests }
  const queue = new DeliveryQueue(contextOf(config, base, parts), sources, { attempts, logins, relayCounters })
  const addressCounters = createAddressCounters({ store, clock, uses: () => queue.addresses() })

  const close = async (withinMs: number) => {
    await composing.stop()
    await threads.stop(withinMs)
    await tlsCounters.flush().catch((error) => log.warn('TLS session counts not stored', { error }))
    await relayCounters.flush().catch((error) => log.warn('relay counts not stored', { error }))
    await addressCounters.flush().catch((error) => log.warn('address counts not stored', { error }))
    mxResolver.close()
    policyResolver.close()
  }
  await threads.ready.catch(async (error) => {
    await close(0)
    throw error
  })
  pools.add('delivery', () => threads.state())
  const counters = { tlsCounters, relayCounters, addressCounters }
  return { queue, compose: createComposer(composing), policies, ...counters, logins, close }
}

/** The threads that make attempts and report to `attempts`. */
function openThreads(
  config: Config,
  { clock, log, metrics, limits, computeMs }: Base,
  {
    resources: { lookups, workerId },
    logins,
    attempts,
  }: { resources: Resources; logins: RelaysWithLogins; attempts: Attempts },
): DeliveryThreads {
  const { delivery } = config
  const settings = {
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
  const { onEvent } = metrics.pools
  const spawn = startDeliveryThread
  return new DeliveryThreads({ spawn, count: delivery.workers, settings, clock, log, onEvent, computeMs }, attempts)
}

/** Separate threads from delivery: a request whose mail takes long to compose must not delay deliveries. */
function createComposingPool(config: Config, { clock, log, metrics: { pools }, computeMs }: Base) {
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

function contextOf(config: Config, base: Base, { resources, parsing }: DeliveryParts): DeliveryContext {
  const { delivery, sending } = config
  return {
    ...base,
    store: resources.store,
    verp: resources.verp,
    recipientParts: resources.recipientParts,
    workerId: resources.workerId,
    storedMail: parsing.storedMail,
    notify: base.notifier.notify,
    onEvent: base.metrics.pools.onEvent,
    settings: {
      retryScheduleSeconds: delivery.retryScheduleSeconds,
      maxAgeSeconds: delivery.maxAgeSeconds,
      requireVerified: sending.requireVerifiedDomain,
      hardBounces: sending.hardBounces,
      maxInFlight: base.limits.deliveries,
      maxPerDestination: delivery.maxPerDestination,
      destinations: delivery.sites,
      share: delivery.share,
    },
  }
}

function sourcesOf(
  config: Config,
  { clock, random }: Base,
  { resources }: DeliveryParts,
): Omit<AdmissionSources, 'resolver' | 'storedRests'> {
  const { addresses, streams } = config.sending
  const node = nodeName(config)
  const dedicatedOf = resources.ownAddresses.of
  return {
    relays: relaySettingsOf(config),
    isPort25Blocked: async () =>
      (await import('../operating/checkup/port-25.ts')).isPort25Blocked(config, { clock, random }),
    // Without configured addresses, the system chooses.
    poolOf:
      addresses.length === 0
        ? undefined
        : createPools({ addresses, streams, hostname: config.hostname, node, dedicatedOf }),
    ownAddresses: new Set(addresses.flatMap(({ address, node: only }) => (only === node ? [address] : []))),
    warmups: addresses.flatMap(({ address, node: only, warmup }) =>
      warmup === null || (only !== null && only !== node) ? [] : [{ address, warmup }],
    ),
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

const NO_HOST = { host: null, address: null, source: null }
/** The largest message is composed and signed in less than a second; a thread may hold several. */
const COMPOSE_LIMITS = { computeMs: 5_000, totalMs: 30_000, idleMs: 30_000 }
