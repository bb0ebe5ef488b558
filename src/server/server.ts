import type { Operation } from '../api/operation.ts'
import { createPlainPages, type PlainPages } from '../certificates/plain-pages.ts'
import { type Config, formatEndpoint, publicUrlAt } from '../config/load.ts'
import { allDomains } from '../domains/all.ts'
import { createNetworkLimits } from '../inbound/network-limits.ts'
import { createInboundHandler } from '../inbound/smtp-handler.ts'
import { parseMailbox } from '../mail/address.ts'
import type { NameServer } from '../name-server/name-server.ts'
import { downloadBy } from '../net/https/download.ts'
import { postBy } from '../net/https/requests.ts'
import { createNetworks } from '../net/ip.ts'
import type { WallClock } from '../os/clock.ts'
import { createSubmissionHandler } from '../smtp-submission/smtp-handler.ts'
import { lockDataDir } from '../storage/sqlite/lock.ts'
import type { Store } from '../storage/store.ts'
import type { Submission } from '../submission/accept.ts'
import type { Forwarding } from '../submission/forwarding.ts'
import { createHeavyWork, type HeavyWork } from '../submission/heavy-work.ts'
import type { UserMail } from '../submission/user-mail.ts'
import { openAlerts } from './alerts.ts'
import { lateAfterMs, type OpenCanaries, openCanaries } from './canary.ts'
import { type Certificates, openCertificates } from './certificates.ts'
import { type Core, openCore, type StartOptions } from './core.ts'
import { WORKERS_MS } from './engines.ts'
import { createWeb, type Web } from './http.ts'
import { openSmtpListeners, type SmtpListeners } from './listeners.ts'
import { gaugesOf, openMaintenance } from './maintenance.ts'
import { type MetricsListener, openMetricsListener } from './metrics-listener.ts'
import { listeningText, openZoneListener } from './name-server.ts'
import {
  alertChannelsOf,
  createOperations,
  openCanaryMail,
  openForwarding,
  openRemoteAttachments,
  openSubmission,
  openUserMail,
} from './operations.ts'
import { createManage, type Manage } from './operator-commands.ts'
import { type Rollback, runRollback } from './rollback.ts'
import { createSmtpLogin } from './smtp-login.ts'

/** The running server. */
export interface Server {
  store: Store
  /** Bound addresses; null = disabled. */
  listening: {
    metrics: string | null
    http: string | null
    https: string | null
    httpRedirect: string | null
    /** Several, separated by spaces. */
    dns: string | null
  } & SmtpListeners['listening']
  publicUrl: string
  /** Reads the files of certificates and relay passwords again. Rejects if those of certificates are unusable. What cannot be
   *  read stays as it was. */
  reloadFiles(): Promise<void>
  /** Runs an action that a signal started. */
  manage: Manage
  /** Stops accepting requests and mail, finishes work in flight (at most 30 s in all) and stores pending records. */
  stop(): Promise<void>
}

/** Another process uses this data directory (exit code 3). */
export class DataDirInUse extends Error {}

const inUse = (dataDir: string) =>
  `another Postrider server uses ${dataDir}. Stop it first, or set another data_dir. If none runs, the file system has no locks: use a local disk`

/** Total time for work in flight to finish after a signal. */
const STOP_MS = 30_000
/** The part of it for HTTP requests and SMTP transactions; deliveries and webhooks continue meanwhile. */
const STOP_LISTENERS_MS = 20_000

/** Starts the server: opens the store, starts the engines and binds the listeners. Rejects with DataDirInUse, with the
 *  store's error, or with a ListenFailure; everything opened so far is closed then. */
export async function startServer(config: Config, options: StartOptions): Promise<Server> {
  const lock = lockDataDir(config.dataDir)
  if (lock === null) throw new DataDirInUse(inUse(config.dataDir))
  const rollback: Rollback = [lock.release]
  try {
    return await assemble(config, { options, rollback, unlock: lock.release })
  } catch (error) {
    await runRollback(rollback)
    throw error
  }
}

async function assemble(
  config: Config,
  { options, rollback, unlock }: { options: StartOptions; rollback: Rollback; unlock: () => void },
): Promise<Server> {
  const core = await openCore(config, options, rollback)
  const { metrics, resources, engines, clock, publicUrl } = core
  const { store } = resources
  const application = createApplication(config, core)
  rollback.push(() => application.canaries?.stop())
  const readiness = { whyNot: (): string | null => 'this server is starting' }
  const plainPages = createPlainPages(publicUrl.current, store.certificates)
  const web = createServerWeb(config, core, { application, plainPages, isReady: () => readiness.whyNot() })
  const shown = { present: () => {} }
  const certificates = await openServerCertificates(config, core, { plainPages, onChange: () => shown.present() })
  rollback.push(() => certificates?.stop())
  const maintenance = openMaintenance(config, {
    resources,
    engines,
    submission: application.submission,
    api: web.api,
    health: core.health,
    alerts: application.alerts,
    canaries: application.canaries,
    certificates,
    clock,
    random: core.random,
    mintId: core.mintId,
    log: core.log,
    notify: core.notifier.notify,
  })
  const listeners = await openListeners(config, core, { application, web, certificates, rollback })
  metrics.certificates(() => certificates?.terms() ?? [])
  metrics.alerts(application.alerts?.firing ?? null)
  metrics.canaries(application.canaries?.latest ?? (() => []))
  shown.present = () => {
    if (certificates === null) return
    web.api.useCertificate(certificates.https())
    listeners.smtp.useCertificate(certificates.smtp())
  }
  engines.start()
  maintenance.start()
  readiness.whyNot = () => engines.whyStuck() ?? store.nodes.whyNotReady()

  return {
    store,
    listening: listeners.listening,
    publicUrl: publicUrl.current(),
    reloadFiles: async () => {
      engines.delivery.refreshLogins()
      await certificates?.reload()
      shown.present()
    },
    manage: createManage({ store, clock, mintId: core.mintId, log: core.log }),
    stop: () => stopServer({ core, canaries: application.canaries, certificates, web, listeners, maintenance, unlock }),
  }
}

/** What HTTP and SMTP requests do: accept messages, forward mail, run operations. */
interface Application {
  heavyWork: HeavyWork
  submission: Submission
  forwarding: Forwarding
  userMail: UserMail
  operations: Operation[]
  alerts: ReturnType<typeof openAlerts>
  canaries: OpenCanaries | null
}

function createApplication(config: Config, core: Core): Application {
  const { resources, engines, notifier, clock, random, mintId, publicUrl } = core
  const { store, freshResolver, recipientParts, forwardLinks, eventStream } = resources
  const { delivery, outbound, parsing } = engines
  const heavyWork = createHeavyWork(clock.steady)
  const deps = {
    config,
    settings: core.settings,
    publicUrl: publicUrl.current,
    store,
    clock,
    random,
    mintId,
    freshResolver,
    compose: delivery.compose,
    remoteAttachments: openRemoteAttachments(config, {
      download: downloadBy(core.https.files, clock.steady.now),
      memory: core.memory,
      clock: clock.steady,
    }),
    heavyWork,
    mailLog: core.mailLog,
    parsing,
    recipientParts: () => recipientParts,
    forwardLinks: () => forwardLinks,
    eventStream,
    streams: core.streams,
    health: core.health,
    postAlert: postBy(core.https.alerts, clock.steady),
    wait: notifier.wait,
    notify: notifier.notify,
    mtaStsOf: delivery.mtaStsOf,
    destinationState: (destination: string, queue: string) => outbound.stateOf(destination, queue),
    addressStates: () => outbound.addresses(),
    chosenRoute: (queue: string, destination: string | null) => outbound.chosen(queue, destination),
    flushRelays: core.engines.delivery.relays.flush,
  }
  const submission = openSubmission(deps)
  const forwarding = openForwarding(deps, submission)
  const userMail = openUserMail(deps, submission)
  const canaries = openCanaries(config, {
    store,
    userMail: openCanaryMail(deps, submission),
    random,
    mintId,
    publicUrl: publicUrl.current,
    log: core.log,
    looks: { clock: clock.steady, metrics: core.metrics },
  })
  const operations = createOperations({ ...deps, runCanaries: canaries?.run ?? null }, submission, forwarding, userMail)
  const alerts = openAlerts(config, {
    store,
    channels: alertChannelsOf(deps, userMail),
    health: core.health,
    deaths: core.metrics.pools.deaths,
    outbound,
    resolver: freshResolver,
    clock,
    random,
    mintId,
    log: core.log,
  })
  return { heavyWork, submission, forwarding, userMail, operations, alerts, canaries }
}

function createServerWeb(
  config: Config,
  core: Core,
  options: { application: Application; plainPages: PlainPages; isReady: () => string | null },
): Web {
  const { resources, metrics, clock, random, mintId, publicUrl } = core
  const { operations, heavyWork, userMail } = options.application
  return createWeb(config, {
    operations,
    userMail,
    metrics,
    plainPages: options.plainPages,
    trackingSecret: resources.trackingSecret,
    forwardLinks: () => resources.forwardLinks,
    downloadLinks: resources.downloadLinks,
    attachments: core.engines.readers.attachments,
    descriptors: core.descriptors,
    memory: core.memory,
    https: core.https,
    manual: core.manual,
    publicUrl: publicUrl.current,
    isReady: options.isReady,
    log: core.log,
    store: resources.store,
    clock,
    random,
    mintId,
    heavyWork,
    streams: core.streams,
    notify: core.notifier.notify,
  })
}

function openServerCertificates(
  config: Config,
  { https, resources, clock, random, log }: Core,
  { plainPages, onChange }: { plainPages: PlainPages; onChange: () => void },
): Promise<Certificates | null> {
  return openCertificates(config, {
    https,
    pages: plainPages,
    secret: resources.store.secret,
    domains: () => allDomains(resources.store),
    hostnames: async () => (await resources.store.nodes.list()).flatMap(({ hostname }) => hostname || []),
    leases: resources.store.leases,
    shared: resources.store.certificates,
    resolver: resources.freshResolver,
    clock,
    random,
    log,
    onChange,
  })
}

interface Listeners {
  smtp: SmtpListeners
  metrics: MetricsListener | null
  names: NameServer | null
  listening: Server['listening']
}

/** Binds HTTP, then SMTP, DNS and metrics. */
async function openListeners(
  config: Config,
  core: Core,
  options: { application: Application; web: Web; certificates: Certificates | null; rollback: Rollback },
): Promise<Listeners> {
  const { metrics, clock, resources, engines } = core
  const { application, web, certificates, rollback } = options
  rollback.push(() => web.api.stop(0))
  rollback.push(() => web.plain.cut())
  rollback.push(web.stopWatching)
  const bound = await web.open(certificates)
  core.publicUrl.set(publicUrlAt(config, { listen: bound.http, listenTls: bound.https }))
  const networkLimits = createServerNetworkLimits(config, clock)
  const canaryWords = await application.canaries?.words()
  const smtp = await openSmtpListeners(config, {
    maxConnections: core.limits.smtpConnections,
    certificate: certificates?.smtp() ?? null,
    inbound: createInboundHandler({
      store: resources.store,
      feedback: engines.feedback,
      forwarding: application.forwarding,
      forwardLinks: resources.forwardLinks,
      readers: engines.readers,
      networkLimits,
      clock,
      mintId: core.mintId,
      mailLog: core.mailLog,
      loopTag: resources.loopTag,
      hostname: config.hostname,
      requireVerified: config.sending.requireVerifiedDomain,
      userMailSender: parseMailbox(config.users.mailFrom),
      canaryOf: canaryWords?.decode ?? null,
      canaryLateAfterMs: lateAfterMs(config.canary),
      notify: core.notifier.notify,
    }),
    submission: createSubmissionHandler({
      submission: application.submission,
      readAuthor: engines.parsing.readAuthor,
      idempotencyKeys: web.api.idempotencyKeys,
      clock,
      login: createSmtpLogin(web.api),
      takeRate: web.api.rateLimit.take,
    }),
    clock,
    log: core.log,
    mailLog: core.mailLog,
    memory: core.memory,
  })
  rollback.push(() => smtp.stop(0))
  const names = await openZoneListener(config, {
    store: resources.store,
    log: core.log,
    onEvent: metrics.pools.onEvent,
  })
  rollback.push(() => names?.stop())
  if (names !== null) core.notifier.on('domains', () => names.changed())
  const gauges = gaugesOf({
    engines,
    api: web.api,
    streams: core.streams,
    smtpListeners: smtp,
    networkLimits,
    names,
  })
  metrics.watch(gauges, resources.store, core.health, clock.now)
  rollback.push(metrics.stop)
  const { metricsPages: pages, watchDescriptors } = web
  const metricsListener = openMetricsListener(config.metrics.listen, { pages, watchDescriptors })
  rollback.push(() => metricsListener?.stop())
  return {
    smtp,
    metrics: metricsListener,
    names,
    listening: {
      http: bound.http && formatEndpoint(bound.http),
      https: bound.https && formatEndpoint(bound.https),
      httpRedirect: bound.httpRedirect && formatEndpoint(bound.httpRedirect),
      ...smtp.listening,
      dns: listeningText(names),
      metrics: metricsListener && formatEndpoint(metricsListener.listening),
    },
  }
}

function createServerNetworkLimits({ smtp: { inbound } }: Config, clock: WallClock) {
  return createNetworkLimits(
    {
      connectionsPerMinute: inbound.connectionsPerMinutePerNetwork,
      mailsPerMinute: inbound.mailsPerMinutePerNetwork,
      unknownRecipientsPerHour: inbound.unknownRecipientsPerHourPerNetwork,
      isUnlimited: createNetworks(inbound.unlimitedNetworks),
    },
    clock.steady.now,
  )
}

/** Other nodes take over at once; then this stops in this order: listeners first, then maintenance, engines and clients, and the store last. */
async function stopServer(parts: {
  core: Core
  canaries: OpenCanaries | null
  certificates: Certificates | null
  web: Web
  listeners: Listeners
  maintenance: { stop(): Promise<void> }
  unlock: () => void
}): Promise<void> {
  const { core, certificates, web, listeners, maintenance } = parts
  const { metrics, engines, https, resources, clock } = core
  metrics.stop()
  resources.store.nodes.leave().catch(() => {}) // without the database, others take over after its time
  const endsAt = clock.steady.now() + STOP_MS - WORKERS_MS
  await certificates?.stop()
  await web.plain.cut()
  web.stopWatching()
  await Promise.all([web.api.stop(STOP_LISTENERS_MS), listeners.smtp.stop(STOP_LISTENERS_MS)])
  await maintenance.stop()
  await parts.canaries?.stop()
  await engines.stop(() => Math.max(0, endsAt - clock.steady.now()))
  listeners.names?.stop()
  https.stop()
  await web.api.auth.flushUses()
  resources.resolver.close()
  resources.freshResolver.close()
  await listeners.metrics?.stop()
  await resources.store.close()
  parts.unlock()
}
