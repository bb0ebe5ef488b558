import type { Api } from '../api/server.ts'
import type { Streams } from '../api/streams.ts'
import type { Config } from '../config/load.ts'
import { createHealthWatch, type HealthWatch } from '../health/watch.ts'
import type { NetworkLimits } from '../inbound/network-limits.ts'
import { createMaintenance } from '../maintenance/loop.ts'
import { chores } from '../maintenance/tasks.ts'
import { createTlsReports } from '../maintenance/tls-reports.ts'
import type { Engines as Gauges } from '../metrics/engines.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { Loop } from '../os/loop.ts'
import type { Random } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import type { Submission } from '../submission/accept.ts'
import type { Identity } from './certificates.ts'
import type { Engines } from './engines.ts'
import type { Doors } from './listeners.ts'
import { mtaStsOfHouse } from './operations.ts'
import type { Ground } from './resources.ts'

/** Config and store → who looks whether all is well. */
export function watchHealth(
  config: Config,
  { store, clock, random, log }: { store: Store; clock: WallClock; random: Random; log: Log },
): HealthWatch {
  return createHealthWatch({
    run: async () => {
      // Loaded when it is needed: the start does not wait for it.
      const { runCheckup } = await import('../checkup/run.ts')
      const server = { pid: process.pid, ports: [] }
      return (await runCheckup(config, { clock, random, store, held: null, server })).checks
    },
    now: clock.now,
    log,
  })
}

/** Config and the house → the chores that nobody waits for, not begun yet. */
export function openMaintenance(
  config: Config,
  house: Ground & {
    engines: Engines
    submission: Submission
    api: Api
    health: HealthWatch
    identity: Identity | null
    clock: WallClock
    mintId: MintId
    log: Log
  },
): Loop {
  const { store, engines, api, health, identity, clock, log } = house
  const { dispatch, outbound, webhooks } = engines
  const { from, contact, organization } = config.reports
  const reports = createTlsReports({
    store,
    resolver: house.resolver,
    submit: house.submission.submit,
    post: engines.postAbroad,
    reporter: { organization: organization || config.hostname, contact: contact || from, submitter: config.hostname },
    from,
    log,
  })
  return createMaintenance({
    clock,
    log,
    tasks: chores({
      store,
      clock: clock.steady,
      mintId: house.mintId,
      log,
      plans: (name) => config.plans[name],
      resolver: house.freshResolver,
      hostname: config.hostname,
      mtaSts: mtaStsOfHouse(config),
      quality: config.quality,
      tellTls: async (now) => {
        await dispatch.flushTls()
        void reports.send(now)
      },
      flushUses: api.auth.flushUses,
      refreshPolicies: dispatch.refreshPolicies,
      lookAtHealth: () => {
        health.look().catch((error) => log.warn('health was not looked at', { error }))
      },
      tendCertificate: () => {
        identity?.tend().catch((error) => log.error('the certificate was not tended', { error }))
      },
      wakeWebhooks: webhooks.wake,
      isBusy: () => api.underWay() > 0 || outbound.underWay() > 0,
    }),
  })
}

/** What the metrics ask for when they are read. */
export function gaugesOf({
  outbound,
  webhooks,
  inbound,
  api,
  streams,
  doors,
  networkLimits,
}: Pick<Engines, 'outbound' | 'webhooks' | 'inbound'> & {
  api: Api
  streams: Streams
  doors: Doors
  networkLimits: NetworkLimits
}): Gauges {
  return {
    deliveries: outbound.underWay,
    webhookPosts: webhooks.inFlight,
    inboundPosts: inbound.inFlight,
    httpRequests: api.underWay,
    eventStreams: streams,
    smtpConnections: doors.connections,
    networkRefusals: networkLimits.refusals,
    sites: outbound.sites,
  }
}
