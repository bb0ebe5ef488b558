import { type Config, formatEndpoint, planNamed } from '../config/load.ts'
import { allDomains } from '../domains/all.ts'
import { createPlainPages, type PlainPages } from '../domains/certificates/plain-pages.ts'
import type { NameServer } from '../domains/name-server/name-server.ts'
import { parseMailbox } from '../mail/address.ts'
import { downloadBy } from '../net/https/download.ts'
import { postBy } from '../net/https/requests.ts'
import { createNetworks } from '../net/ip.ts'
import type { WallClock } from '../os/clock.ts'
import { createNetworkLimits, type NetworkLimits } from '../receiving/inbound/network-limits.ts'
import { createReplyOf } from '../receiving/inbound/reply-of.ts'
import { createInboundHandler } from '../receiving/inbound/smtp-handler.ts'
import { createSubmissionHandler } from '../receiving/smtp-submission/smtp-handler.ts'
import { createHeavyWork, type HeavyWork } from '../sending/submission/heavy-work.ts'
import { lockDataDir } from '../storage/sqlite/lock.ts'
import type { Store } from '../storage/store.ts'
import type { Operation } from '../web/api/operation.ts'
import { alertChannels, openAlerts } from './alerts.ts'
import { type Rollback, runRollback, type StartOptions } from './base.ts'
import { lateAfterMs, type OpenCanaries, openCanaries } from './canary.ts'
import { type Certificates, openCertificates } from './certificates.ts'
import { type Core, openCore } from './core.ts'
import { WORKERS_MS } from './engines.ts'
import { createWeb, type Web } from './http.ts'
import { openSmtpListeners, type SmtpListeners } from './listeners.ts'
import { gaugesOf, openMaintenance } from './maintenance.ts'
import { type MetricsListener, openMetricsListener } from './metrics-listener.ts'
import { listeningText, openZoneListener } from './name-server.ts'
import { createOperations, type OperationContext, type Services } from './operations.ts'
import { createManage, type Manage } from './operator-commands.ts'
import { createSmtpLogin } from './smtp-login.ts'
import { openCanaryMail, openForwarding, openRemoteAttachments, openSubmission, openUserMail } from './submission.ts'

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
  const { metrics, engines, clock, publicUrl } = core
  const { store } = core.resources
  const application = createApplication(config, core)
  const { canaries, alerts } = application
  rollback.push(() => canaries?.stop())
  const readiness = { whyNot: (): string | null => 'this server is starting' }
  const plainPages = createPlainPages(publicUrl, store.certificates)
  const web = createWeb(config, core, { ...application, plainPages, isReady: () => readiness.whyNot() })
  const shown = { present: () => {} }
  const certificates = await openServerCertificates(config, core, { plainPages, onChange: () => shown.present() })
  rollback.push(() => certificates?.stop())
  const maintenance = openMaintenance(config, core, { ...application, api: web.api, certificates })
  const listeners = await openListeners(config, core, { application, web, certificates })
  metrics.certificates(() => certificates?.terms() ?? [])
  metrics.alerts(alerts?.firing ?? null)
  metrics.canaries(canaries?.latest ?? (() => []))
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
    publicUrl: publicUrl(),
    reloadFiles: async () => {
      engines.delivery.logins.refresh()
      await certificates?.reload()
      shown.present()
    },
    manage: createManage({ store, clock, mintId: core.mintId, log: core.log }),
    stop: () => stopServer({ core, canaries, certificates, web, listeners, maintenance, unlock }),
  }
}

/** What HTTP and SMTP requests do: accept messages, forward mail, run operations. */
interface Application extends Services {
  heavyWork: HeavyWork
  operations: Operation[]
  alerts: ReturnType<typeof openAlerts>
  canaries: OpenCanaries | null
}

function createApplication(config: Config, core: Core): Application {
  const { resources, engines, notifier, clock } = core
  const { store, freshResolver: resolver, recipientParts, forwardLinks, eventStream } = resources
  const { delivery } = engines
  const heavyWork = createHeavyWork(clock.steady)
  const context: OperationContext = {
    ...engines.parsing,
    config,
    settings: core.settings,
    store,
    clock,
    random: core.random,
    mintId: core.mintId,
    mailLog: core.mailLog,
    publicUrl: core.publicUrl,
    streams: core.streams,
    health: core.health,
    resolver,
    compose: delivery.compose,
    remoteAttachments: openRemoteAttachments(config, {
      download: downloadBy(core.https.files, clock.steady.now),
      memory: core.memory,
      clock: clock.steady,
    }),
    heavyWork,
    recipientParts: () => recipientParts,
    forwardLinks: () => forwardLinks,
    eventStream,
    postAlert: postBy(core.https.alerts, clock.steady),
    wait: notifier.wait,
    notify: notifier.notify,
    delivery,
    inboundAttachment: engines.readers.attachment,
  }
  const submission = openSubmission(context)
  const canaries = openCanaries(config, {
    ...context,
    userMail: openCanaryMail(context, submission),
    log: core.log,
    looks: { clock: clock.steady, metrics: core.metrics },
  })
  const userMail = openUserMail(context, submission)
  const services = { submission, forwarding: openForwarding(context, submission), userMail, canaries }
  const operations = createOperations(context, services)
  const alerts = openAlerts(config, core, alertChannels(config, { ...context, userMail }))
  return { ...services, heavyWork, operations, alerts }
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
  { application, web, certificates }: { application: Application; web: Web; certificates: Certificates | null },
): Promise<Listeners> {
  const { metrics, clock, resources, rollback } = core
  rollback.push(() => web.api.stop(0))
  rollback.push(() => web.plain.cut())
  rollback.push(web.stopWatching)
  const bound = await web.open(certificates)
  core.setListening({ listen: bound.http, listenTls: bound.https })
  const networkLimits = createServerNetworkLimits(config, clock)
  const smtp = await openSmtpListeners(config, {
    maxConnections: core.limits.smtpConnections,
    certificate: certificates?.smtp() ?? null,
    inbound: await inboundHandler(config, core, { application, networkLimits }),
    submission: createSubmissionHandler({
      submission: application.submission,
      readAuthor: core.engines.parsing.readAuthor,
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
  const { onEvent } = metrics.pools
  const names = await openZoneListener(config, { store: resources.store, log: core.log, onEvent })
  rollback.push(() => names?.stop())
  if (names !== null) core.notifier.on('domains', () => names.changed())
  const gauges = gaugesOf(core, { api: web.api, smtpListeners: smtp, networkLimits, names })
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

async function inboundHandler(
  config: Config,
  { resources, engines, clock, mintId, mailLog, notifier }: Core,
  { application, networkLimits }: { application: Application; networkLimits: NetworkLimits },
) {
  const canaryWords = await application.canaries?.words()
  return createInboundHandler({
    store: resources.store,
    feedback: engines.feedback,
    forwarding: application.forwarding,
    forwardLinks: resources.forwardLinks,
    readers: engines.readers,
    networkLimits,
    clock,
    mintId,
    mailLog,
    loopTag: resources.loopTag,
    hostname: config.hostname,
    requireVerified: config.sending.requireVerifiedDomain,
    userMailSender: parseMailbox(config.users.mailFrom),
    canaryOf: canaryWords?.decode ?? null,
    replyOf: createReplyOf({
      addresses: resources.replyAddresses,
      snapshot: resources.store.snapshot,
      plans: planNamed(config),
      days: config.inbound.replyAddressDays,
      clock,
    }),
    canaryLateAfterMs: lateAfterMs(config.canary),
    notify: notifier.notify,
  })
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

/** Other nodes take over at once; then this stops in this order: listeners first, then maintenance, engines and clients,
 *  and the store last. */
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
