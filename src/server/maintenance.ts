import type { Config } from '../config/load.ts'
import type { NameServer } from '../domains/name-server/name-server.ts'
import { createChangeKeys } from '../domains/provider/keys.ts'
import { ownServerOf } from '../domains/records.ts'
import { surveyOf } from '../domains/survey.ts'
import { createMaintenance } from '../operating/maintenance/loop.ts'
import { createProviderKeys } from '../operating/maintenance/provider-keys.ts'
import { maintenanceTasks } from '../operating/maintenance/tasks.ts'
import { createTlsReports } from '../operating/maintenance/tls-reports.ts'
import type { Engines as Gauges } from '../operating/metrics/engines.ts'
import type { Loop } from '../os/loop.ts'
import type { NetworkLimits } from '../receiving/inbound/network-limits.ts'
import type { Submission } from '../sending/submission/submission.ts'
import type { Api } from '../web/api/server.ts'
import type { Certificates } from './certificates.ts'
import type { Core } from './core.ts'
import { dedicatedIn } from './dedicated-addresses.ts'
import type { SmtpListeners } from './listeners.ts'

/** What runs beside the core and has maintenance tasks. */
export interface MaintainedParts extends Pick<Parameters<typeof maintenanceTasks>[0], 'alerts' | 'canaries'> {
  submission: Pick<Submission, 'submit'>
  api: Pick<Api, 'auth' | 'underWay'>
  certificates: Certificates | null
}

/** Creates the loop of maintenance tasks (operating/maintenance/tasks.ts); it is not started yet. */
export function openMaintenance(config: Config, core: Core, parts: MaintainedParts): Loop {
  const { clock, log, random, engines, health } = core
  const { api, certificates } = parts
  const { store, ownAddresses, resolver, freshResolver } = core.resources
  const { delivery, queue } = engines
  const { from, contact, organization } = config.reports
  const reports = createTlsReports({
    store,
    resolver,
    submission: parts.submission,
    post: engines.postReport,
    reporter: { organization: organization || config.hostname, contact: contact || from, submitter: config.hostname },
    from,
    log,
  })
  const publishKeys = createProviderKeys({
    store,
    now: clock.now,
    leads: store.leases.leads,
    change: createChangeKeys(config, freshResolver, process.env),
    maxAgeMs: 1000 * config.delivery.maxAgeSeconds,
    log,
    onKeys: () => core.notifier.notify('domains'),
  })
  return createMaintenance({
    clock,
    log,
    leads: store.leases.leads,
    tasks: maintenanceTasks({
      store,
      clock: clock.steady,
      mintId: core.mintId,
      log,
      plans: (name) => config.plans[name],
      domainCare: {
        server: ownServerOf(config),
        resolver: freshResolver,
        publishKeys,
        survey: surveyOf(config, { resolver: freshResolver, clock: clock.steady, random }),
        rotateEveryMs: config.dkim.rotateEveryDays * DAY_MS,
        maxAgeMs: 1000 * config.delivery.maxAgeSeconds,
        random,
      },
      quality: config.quality,
      flushTls: delivery.tlsCounters.flush,
      flushRelays: delivery.relayCounters.flush,
      flushAddresses: delivery.addressCounters.flush,
      sendTlsReports: reports.send,
      flushUses: api.auth.flushUses,
      refreshPolicies: (now) => {
        delivery.policies.refresh(now).catch((error) => log.error('MTA-STS policies not refreshed', { error }))
      },
      runHealthChecks: () => {
        health.look().catch((error) => log.warn('health checks failed to run', { error }))
      },
      renewCertificateIfDue: () => {
        certificates?.renewIfDue().catch((error) => log.error('certificate maintenance failed', { error }))
      },
      alerts: parts.alerts,
      canaries: parts.canaries,
      dedicated: { addresses: dedicatedIn(config), refresh: () => ownAddresses.refresh(store) },
      notify: core.notifier.notify,
      isBusy: () => api.underWay() > 0 || queue.underWay() > 0,
    }),
  })
}

const DAY_MS = 86_400_000

/** The current values that the metrics page shows. */
export function gaugesOf(
  { engines, streams }: Core,
  parts: {
    api: Pick<Api, 'underWay'>
    smtpListeners: SmtpListeners
    networkLimits: NetworkLimits
    names: NameServer | null
  },
): Gauges {
  const { queue, webhooks, inbound } = engines
  return {
    deliveries: () => queue.underWay(),
    webhookPosts: () => webhooks.inFlight(),
    inboundPosts: () => inbound.inFlight(),
    httpRequests: parts.api.underWay,
    eventStreams: streams,
    smtpConnections: parts.smtpListeners.connections,
    networkRefusals: parts.networkLimits.refusals,
    destinations: () => queue.destinations(),
    addresses: () => queue.addresses(),
    warmups: () => queue.warmups(),
    ...(parts.names === null ? {} : { dnsQueries: parts.names.counts }),
  }
}
