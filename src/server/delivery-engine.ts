import type { Config } from '../config/load.ts'
import type { RecipientPartsOf } from '../mail/recipient-parts.ts'
import type { StoredMail } from '../mail/shown-content.ts'
import type { Verp } from '../mail/verp.ts'
import type { PoolMetrics } from '../metrics/pools.ts'
import { createResolver, type ResolverOptions } from '../net/dns/resolver.ts'
import type { Get } from '../net/https/requests.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Memory } from '../os/memory.ts'
import type { Random } from '../os/random.ts'
import { createThreadPool, threadRunner } from '../os/thread-pool.ts'
import { createAttempts } from '../outbound/attempts.ts'
import { type ComposeJob, createComposer } from '../outbound/composing/composer.ts'
import type { AttemptJob } from '../outbound/job.ts'
import { journalFolder } from '../outbound/journal/delivered-journal.ts'
import { createOutboundLoop, type OutboundLoop } from '../outbound/schedule/delivery-loop.ts'
import { createWorkers } from '../outbound/workers.ts'
import type { Store } from '../storage/store.ts'
import type { Compose } from '../submission/signing.ts'
import { startComposingThread, startDeliveryThread } from '../threads.ts'
import { createTlsCounters } from '../tls-policy/counters.ts'
import { createFetchPolicy } from '../tls-policy/fetch-policy.ts'
import { createMtaStsPolicies, type MtaStsPolicies } from '../tls-policy/mta-sts.ts'
import type { Shares } from './limits.ts'

/** The way out of the house: the loop that says what goes when, the threads that deliver it, what the receiving domains
 *  demand of TLS, and what is counted of TLS for them. */
export interface Dispatch {
  loop: OutboundLoop
  compose: Compose
  mtaStsOf: MtaStsPolicies['find']
  /** Begins to fetch MTA-STS policies again before they end. */
  refreshPolicies(now: number): void
  /** Writes down the TLS sessions that were counted since the last time. */
  flushTls: () => Promise<void>
  /** After the loop was stopped: gives the threads so long to say QUIT, writes down what was counted, asks nobody anything
   *  any more. Never rejects. */
  close(withinMs: number): Promise<void>
}

/** Config and the house around it → its Dispatch, with the threads running and the loop not started yet. Rejects when the
 *  threads do not start; nothing is left running then. */
export async function openDispatch(
  config: Config,
  house: {
    store: Store
    clock: WallClock
    random: Random
    mintId: MintId
    verp: Verp
    ownParts: RecipientPartsOf
    workerId: string
    lookups: ResolverOptions
    shares: Pick<Shares, 'deliveries' | 'idleSessions'>
    /** For policy files. */
    get: Get
    wakeWebhooks: () => void
    onChange: (messageId: string) => void
    log: Log
    mailLog: MailLog
    memory: Memory
    metrics: { pools: PoolMetrics }
    storedMail: Pick<StoredMail, 'part'>
    computeMs?: number
  },
): Promise<Dispatch> {
  const { store, clock, lookups, log } = house
  const { pools } = house.metrics
  const { delivery } = config
  // A backlog of domains whose DNS is silent keeps nobody else from asking.
  const mxResolver = createResolver({ ...lookups, maxCacheEntries: 0 })
  const policyResolver = createResolver({ ...lookups, maxCacheEntries: 0 })

  const tally = createTlsCounters({ store, clock })
  const countTls: typeof tally.count = config.reports.from === '' ? () => {} : tally.count
  const policies = createMtaStsPolicies({
    store,
    resolver: policyResolver,
    fetchPolicy: createFetchPolicy({ get: house.get, clock }),
    clock,
    onFailure: (domain, { failure }) => countTls(domain, { policy: 'mta_sts', ...NO_HOST, failure }),
  })

  const workers = createWorkers({
    spawn: startDeliveryThread,
    count: delivery.workers,
    settings: {
      hostname: config.hostname,
      dnsServers: lookups.servers,
      trustedDnsServers: config.dns.trustedResolvers,
      deliveryPort: delivery.port,
      smarthost: delivery.smarthost,
      smarthostPins: delivery.smarthostCertificates,
      allowPrivateDestinations: delivery.allowPrivateDestinations,
      sourceAddress: delivery.sourceAddress || null,
      idleSessions: house.shares.idleSessions,
      longestWaitMs: delivery.longestWaitSeconds * 1000,
      taken: { folder: journalFolder(config.dataDir), worker: house.workerId },
    },
    clock,
    log,
    onResults: (results) => attempts.onResults(results),
    onLost: (jobs) => attempts.onLost(jobs),
    onEvent: pools.onEvent,
    computeMs: house.computeMs,
  })
  // Threads of their own: a request whose mail keeps one too long holds up no delivery.
  const composing = createThreadPool<ComposeJob, Uint8Array>({
    name: 'compose',
    start: threadRunner(startComposingThread),
    count: delivery.workers,
    perRunner: 16,
    ...COMPOSE_LIMITS,
    computeMs: house.computeMs ?? COMPOSE_LIMITS.computeMs,
    clock: clock.steady,
    log,
    onEvent: pools.onEvent,
  })
  pools.add('delivery', workers.state)
  pools.add('compose', composing.state)
  const attempts = createAttempts({
    submit: workers.submit,
    clock,
    mtaStsOf: ({ sandbox, recipient, route }) =>
      sandbox || delivery.smarthost !== null || leadsNowhere(route.mx) ? null : policies.find(domainOf(recipient)),
    onTls: (recipient, sessions) => {
      for (const session of sessions) countTls(domainOf(recipient), session)
    },
  })
  const loop = createOutboundLoop({
    ...house,
    attempt: attempts.attempt,
    written: workers.written,
    onPoisonous: () => pools.onEvent({ kind: 'poisonous_job', pool: 'delivery' }),
    onOrganizationWaits: () => pools.onEvent({ kind: 'owner_apart', pool: 'delivery' }),
    settings: {
      retryScheduleSeconds: delivery.retryScheduleSeconds,
      maxAgeSeconds: delivery.maxAgeSeconds,
      requireVerified: config.sending.requireVerifiedDomain,
      maxInFlight: house.shares.deliveries,
      maxPerDestination: delivery.maxPerDestination,
      sites: delivery.sites,
      smarthost: delivery.smarthost,
    },
    resolver: {
      mx: (domain) => {
        // Asked at the same time, so that the first mail to a domain waits for one answer of the DNS, not for two.
        Promise.resolve(policies.find(domain)).catch(() => {})
        return mxResolver.mx(domain)
      },
    },
  })

  const close = async (withinMs: number) => {
    await composing.stop()
    await workers.stop(withinMs)
    await tally.flush().catch((error) => log.warn('TLS sessions were not written', { error }))
    mxResolver.close()
    policyResolver.close()
  }
  await workers.ready.catch(async (error) => {
    await close(0)
    throw error
  })
  return {
    loop,
    compose: createComposer(composing),
    mtaStsOf: policies.find,
    refreshPolicies: (now) => {
      policies.refresh(now).catch((error) => log.error('MTA-STS policies were not refreshed', { error }))
    },
    flushTls: tally.flush,
    close,
  }
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1)
/** Mail whose MX cannot be known has no host to demand anything of. */
const leadsNowhere = (mx: AttemptJob['route']['mx']) => mx?.kind === 'temporary' || mx?.kind === 'nxdomain'
const NO_HOST = { host: null, address: null, source: null }
/** The largest mail is composed and signed in less than a second; several may be in a thread. */
const COMPOSE_LIMITS = { computeMs: 5_000, totalMs: 30_000, idleMs: 30_000 }
