import type { Api } from '../api/server.ts'
import type { Streams } from '../api/streams.ts'
import type { Config } from '../config/load.ts'
import { publishedMtaSts } from '../domains/mta-sts.ts'
import { createHealthWatch, type HealthWatch } from '../health/watch.ts'
import type { NetworkLimits } from '../inbound/network-limits.ts'
import { createMaintenance } from '../maintenance/loop.ts'
import { maintenanceTasks } from '../maintenance/tasks.ts'
import { createTlsReports } from '../maintenance/tls-reports.ts'
import type { Engines as Gauges } from '../metrics/engines.ts'
import type { NameServer } from '../name-server/name-server.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { Loop } from '../os/loop.ts'
import type { Notify } from '../os/notifier.ts'
import type { Random } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import type { Submission } from '../submission/accept.ts'
import type { Certificates } from './certificates.ts'
import { dedicatedIn } from './dedicated-addresses.ts'
import type { Engines } from './engines.ts'
import type { SmtpListeners } from './listeners.ts'
import type { Resources } from './resources.ts'
import { surveyOf } from './survey.ts'

/** The health checks of the running server. */
export function watchHealth(
  config: Config,
  { store, clock, random, log }: { store: Store; clock: WallClock; random: Random; log: Log },
): HealthWatch {
  return createHealthWatch({
    run: async () => {
      // Imported on first use, so that the start does not wait for it.
      const { runCheckup } = await import('../checkup/run.ts')
      const server = { pid: process.pid, ports: [] }
      return (await runCheckup(config, { clock, random, store, held: null, server })).checks
    },
    now: clock.now,
    log,
  })
}

export interface MaintenanceDeps {
  resources: Pick<Resources, 'store' | 'ownAddresses' | 'resolver' | 'freshResolver'>
  engines: Pick<Engines, 'delivery' | 'outbound' | 'postReport'>
  submission: Pick<Submission, 'submit'>
  api: Pick<Api, 'auth' | 'underWay'>
  health: HealthWatch
  alerts: Parameters<typeof maintenanceTasks>[0]['alerts']
  canaries: Parameters<typeof maintenanceTasks>[0]['canaries']
  certificates: Certificates | null
  clock: WallClock
  random: Random
  mintId: MintId
  log: Log
  notify: Notify
}

/** Creates the loop of maintenance tasks (maintenance/tasks.ts); it is not started yet. */
export function openMaintenance(config: Config, deps: MaintenanceDeps): Loop {
  const { engines, api, health, certificates, clock, mintId, log } = deps
  const { store, ownAddresses, resolver, freshResolver } = deps.resources
  const { delivery, outbound } = engines
  const { from, contact, organization } = config.reports
  const reports = createTlsReports({
    store,
    resolver,
    submit: deps.submission.submit,
    post: engines.postReport,
    reporter: { organization: organization || config.hostname, contact: contact || from, submitter: config.hostname },
    from,
    log,
  })
  return createMaintenance({
    clock,
    log,
    leads: store.leases.leads,
    tasks: maintenanceTasks({
      store,
      clock: clock.steady,
      mintId,
      log,
      plans: (name) => config.plans[name],
      resolver: freshResolver,
      hostname: config.hostname,
      mtaSts: publishedMtaSts(config),
      zone: config.dns.zone,
      survey: surveyOf(config, { resolver: freshResolver, clock: clock.steady, random: deps.random }),
      rotateEveryMs: config.dkim.rotateEveryDays * DAY_MS,
      maxAgeMs: 1000 * config.delivery.maxAgeSeconds,
      random: deps.random,
      sendingAddresses: config.sending.addresses.map(({ address }) => address),
      quality: config.quality,
      flushTls: delivery.flushTls,
      flushRelays: delivery.relays.flush,
      sendTlsReports: reports.send,
      flushUses: api.auth.flushUses,
      refreshPolicies: delivery.refreshPolicies,
      runHealthChecks: () => {
        health.look().catch((error) => log.warn('health checks failed to run', { error }))
      },
      renewCertificateIfDue: () => {
        certificates?.renewIfDue().catch((error) => log.error('certificate maintenance failed', { error }))
      },
      alerts: deps.alerts,
      canaries: deps.canaries,
      dedicated: { addresses: dedicatedIn(config), refresh: () => ownAddresses.refresh(store) },
      notify: deps.notify,
      isBusy: () => api.underWay() > 0 || outbound.underWay() > 0,
    }),
  })
}

const DAY_MS = 86_400_000

/** The current values that the metrics page shows. */
export function gaugesOf(deps: {
  engines: Pick<Engines, 'outbound' | 'webhooks' | 'inbound'>
  api: Pick<Api, 'underWay'>
  streams: Streams
  smtpListeners: SmtpListeners
  networkLimits: NetworkLimits
  names: NameServer | null
}): Gauges {
  const { outbound, webhooks, inbound } = deps.engines
  return {
    deliveries: () => outbound.underWay(),
    webhookPosts: webhooks.inFlight,
    inboundPosts: inbound.inFlight,
    httpRequests: deps.api.underWay,
    eventStreams: deps.streams,
    smtpConnections: deps.smtpListeners.connections,
    networkRefusals: deps.networkLimits.refusals,
    destinations: () => outbound.destinations(),
    addresses: () => outbound.addresses(),
    warmups: () => outbound.warmups(),
    ...(deps.names === null ? {} : { dnsQueries: deps.names.counts }),
  }
}
