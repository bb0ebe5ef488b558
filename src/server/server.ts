import { createStreams } from '../api/streams.ts'
import { createPlainPages } from '../certificates/plain-pages.ts'
import { type Config, formatEndpoint, publicUrlAt, type Setting } from '../config/load.ts'
import { allDomains } from '../domains/all.ts'
import { createNetworkLimits } from '../inbound/network-limits.ts'
import { createInboundHandler } from '../inbound/smtp-handler.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { createNetworks } from '../net/ip.ts'
import { systemClock, type WallClock } from '../os/clock.ts'
import { systemDescriptors } from '../os/descriptors.ts'
import { createMintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import { createMailLog } from '../os/mail-log.ts'
import { createMemory } from '../os/memory.ts'
import { memoryLimit } from '../os/memory-limit.ts'
import { createBells } from '../os/notifier.ts'
import { type Random, systemRandom } from '../os/random.ts'
import { createSubmissionHandler } from '../smtp-submission/smtp-handler.ts'
import { lockDataDir } from '../storage/sqlite/lock.ts'
import type { Store } from '../storage/store.ts'
import { createHeavyWork } from '../submission/heavy-work.ts'
import { VERSION } from '../version.ts'
import { openIdentity } from './certificates.ts'
import { openEngines, WORKERS_MS } from './engines.ts'
import { createWeb } from './http.ts'
import { openHttps } from './https-clients.ts'
import { sharesOf } from './limits.ts'
import { type Doors, openDoors } from './listeners.ts'
import { gaugesOf, openMaintenance, watchHealth } from './maintenance.ts'
import { openMetricsDoor } from './metrics-listener.ts'
import { createOperations, openForwarding, openSubmission } from './operations.ts'
import { createManage, type Manage } from './operator-commands.ts'
import { openGround } from './resources.ts'

/** The running appliance. */
export interface Server {
  store: Store
  /** What was bound; null = off. */
  listening: {
    metrics: string | null
    http: string | null
    https: string | null
    httpRedirect: string | null
  } & Doors['listening']
  publicUrl: string
  /** Reads the certificate files again; rejects when they cannot be used, and the ones before stay. */
  reloadCertificate(): Promise<void>
  /** By a signal. */
  manage: Manage
  /** Stops accepting, finishes what is in flight (at most 30 s in all), writes what is to be written. */
  stop(): Promise<void>
}

/** Another process serves this data directory (exit code 3, contract §6). */
export class DataDirInUse extends Error {}

/** contract §6, Signals: what is in flight may take 30 s to finish. */
const STOP_MS = 30_000
/** Of which for requests and SMTP transactions; mail and webhooks go on meanwhile. */
const STOP_DOORS_MS = 20_000

/** What is there before it. */
interface Outside {
  log: Log
  /** What the config is made of, for the operator to read. */
  settings: () => readonly Setting[]
  clock: WallClock
  random: Random
  /** The longest a job may keep its thread, where it is to be less than usual. */
  computeMs?: number
}

/** Config → a server with its engines running and its listeners bound. Rejects with DataDirInUse, with what the store
 *  throws, or with what binding throws; nothing is left running then. */
export async function startServer(
  config: Config,
  {
    settings = () => [],
    clock = systemClock,
    random = systemRandom,
    ...given
  }: Pick<Outside, 'log'> & Partial<Outside>,
): Promise<Server> {
  const lock = lockDataDir(config.dataDir)
  if (lock === null) throw new DataDirInUse(`another Postrider serves ${config.dataDir}`)
  const undo: (() => unknown)[] = [lock.release]
  try {
    return await furnish(config, { ...given, settings, clock, random }, undo)
  } catch (error) {
    for (const step of undo.reverse()) await step()
    throw error
  }
}

async function furnish(config: Config, outside: Outside, undo: (() => unknown)[]): Promise<Server> {
  const { log, settings, clock, random } = outside
  const { steady } = clock
  const mintId = createMintId(clock, random)
  const userAgent = `Postrider/${VERSION}`
  const memory = createMemory({
    limitBytes: config.limits.memoryBytes || memoryLimit(),
    largestMailBytes: config.limits.messageBytes,
    clock: steady,
  })
  const metrics = createMetrics({ ...config.metrics, dataDir: config.dataDir, startedAt: clock.now(), memory })
  const mailLog = metrics.mail(createMailLog(log))
  const descriptors = systemDescriptors()
  const shares = sharesOf(config, descriptors.limit)
  let where = config.http.publicUrl
  const publicUrl = () => where
  const machine = { ...outside, mintId, userAgent, metrics, mailLog, descriptors, memory, shares, publicUrl }

  const ground = await openGround(config, machine, undo)
  const { store, resolver, freshResolver } = ground
  const https = openHttps(config, { ...machine, ...ground, clock: systemClock, onEvent: metrics.pools.onEvent })
  metrics.pools.add('https', https.state)
  undo.push(https.stop)
  const bells = createBells(clock.sleep)
  const streams = createStreams({ clock: steady })
  const engines = await openEngines(config, { ...machine, ...ground, https, onChange: bells.ring }, undo)
  const { dispatch, outbound, webhooks, inbound } = engines
  const health = watchHealth(config, { ...outside, store })
  const around = {
    ...machine,
    ...ground,
    config,
    settings,
    compose: dispatch.compose,
    heavyWork: createHeavyWork(steady),
    parsing: engines.parsing,
    ownParts: () => ground.ownParts,
    forwardLinks: () => ground.forwardLinks,
    streams,
    health,
    watch: bells.wait,
    wakeOutbound: outbound.wake,
    wakeWebhooks: webhooks.wake,
    wakeInbound: inbound.wake,
    mtaStsOf: dispatch.mtaStsOf,
    stateOfSite: outbound.stateOf,
  }
  const submission = openSubmission(around)
  const forwarding = openForwarding(around, submission)
  const operations = createOperations(around, submission, forwarding)
  const plainPages = createPlainPages(publicUrl)
  let whyNotReady: () => string | null = () => 'this server is starting'
  const web = createWeb(config, { ...around, operations, plainPages, isReady: () => whyNotReady() })
  const { api } = web
  let showCertificates = () => {}
  const identity = await openIdentity(config, {
    ...machine,
    https,
    pages: plainPages,
    secret: store.secret,
    domains: () => allDomains(store),
    resolver: freshResolver,
    onChange: () => showCertificates(),
  })
  const maintenance = openMaintenance(config, { ...machine, ...ground, engines, submission, api, health, identity })

  undo.push(() => api.stop(0))
  undo.push(() => web.plain.cut())
  undo.push(web.stopWatching)
  const bound = await web.open(identity)
  where = publicUrlAt(config, { listen: bound.http, listenTls: bound.https })
  const networkLimits = createNetworkLimits(
    {
      connectionsPerMinute: config.smtp.inbound.connectionsPerMinutePerNetwork,
      mailsPerMinute: config.smtp.inbound.mailsPerMinutePerNetwork,
      unknownRecipientsPerHour: config.smtp.inbound.unknownRecipientsPerHourPerNetwork,
      isUnlimited: createNetworks(config.smtp.inbound.unlimitedNetworks),
    },
    steady.now,
  )
  const doors = await openDoors(config, {
    maxConnections: shares.smtpConnections,
    certificate: identity?.smtp() ?? null,
    inbound: createInboundHandler({
      ...around,
      ...engines,
      networkLimits,
      forwarding,
      hostname: config.hostname,
      requireVerified: config.sending.requireVerifiedDomain,
    }),
    submission: createSubmissionHandler({
      submission,
      readAuthor: engines.parsing.readAuthor,
      once: api.once,
      clock,
      login: (password, now, address) => api.auth.authenticate(`Bearer ${password}`, now, () => address),
      takeRate: api.rateLimit.take,
    }),
    clock,
    log,
    mailLog,
    memory,
  })
  metrics.watch(gaugesOf({ ...engines, api, streams, doors, networkLimits }), store, health, clock.now)
  metrics.certificates(() => identity?.terms() ?? [])
  undo.push(metrics.stop)
  showCertificates = () => {
    if (identity === null) return
    api.useCertificate(identity.https())
    doors.useCertificate(identity.smtp())
  }
  const metricsDoor = openMetricsDoor(config.metrics.listen, { pages: web.metricsPages, watch: web.watch })
  undo.push(() => metricsDoor?.stop())
  engines.start()
  maintenance.start()
  whyNotReady = engines.whyStuck

  return {
    store,
    listening: {
      http: bound.http && formatEndpoint(bound.http),
      https: bound.https && formatEndpoint(bound.https),
      httpRedirect: bound.httpRedirect && formatEndpoint(bound.httpRedirect),
      ...doors.listening,
      metrics: metricsDoor && formatEndpoint(metricsDoor.listening),
    },
    publicUrl: where,
    reloadCertificate: async () => {
      await identity?.reload()
      showCertificates()
    },
    manage: createManage({ ...machine, store }),
    stop: async () => {
      metrics.stop()
      const endsAt = steady.now() + STOP_MS - WORKERS_MS
      await identity?.stop()
      await web.plain.cut()
      web.stopWatching()
      await Promise.all([api.stop(STOP_DOORS_MS), doors.stop(STOP_DOORS_MS)])
      await maintenance.stop()
      await engines.stop(() => Math.max(0, endsAt - steady.now()))
      https.stop()
      await api.auth.flushUses()
      resolver.close()
      freshResolver.close()
      await metricsDoor?.stop()
      await store.close()
      undo[0]!() // the lock on the data directory, last
    },
  }
}
