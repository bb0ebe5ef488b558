import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createAudit } from './api/audit.ts'
import { createClearDoor } from './api/in-clear.ts'
import { createListener } from './api/listener.ts'
import { createApi } from './api/server.ts'
import { createStreams } from './api/streams.ts'
import { createPlainPages } from './certificates/plain-pages.ts'
import { resendBody } from './compat/resend/events.ts'
import { resend } from './compat/resend/resend.ts'
import { type Config, type Endpoint, formatEndpoint, publicUrlAt, type Setting } from './config.ts'
import { dashboardFiles } from './dashboard/files.ts'
import { dashboardPages } from './dashboard/pages.ts'
import { createDialect } from './dialect.ts'
import { openDispatch } from './dispatch.ts'
import { allDomains } from './domains/all.ts'
import { mtaStsPage } from './domains/mta-sts.ts'
import { type Doors, ListenFailure, openDoors } from './doors.ts'
import { createFeedback } from './feedback/feedback.ts'
import { createHealthWatch } from './health/watch.ts'
import { openIdentity } from './identity.ts'
import { createInboundDoor } from './inbound/door.ts'
import { createReaders } from './inbound/readers.ts'
import { createFeed, type Feed } from './live/feed.ts'
import { createOwnParts } from './mail/own-parts.ts'
import { createVerp } from './mail/verp.ts'
import { chores } from './maintenance/chores.ts'
import { createMaintenance } from './maintenance/loop.ts'
import { createTlsReports } from './maintenance/tls-reports.ts'
import { createMetrics } from './metrics/metrics.ts'
import { openMetricsDoor } from './metrics-door.ts'
import { createOperations, mtaStsOfHouse, openSubmission } from './operations.ts'
import { lateBounce } from './outbound/outcome.ts'
import { createBells } from './platform/bells.ts'
import { createClientAddress } from './platform/client-address.ts'
import { systemClock, type WallClock } from './platform/clock.ts'
import { systemDescriptors, watchDescriptors } from './platform/descriptors.ts'
import { createGet, createPost } from './platform/fetch-public.ts'
import { createMintId } from './platform/ids.ts'
import { createAddressGuard, createNetworks } from './platform/ip.ts'
import type { Log } from './platform/log.ts'
import { stuckEngine } from './platform/loop.ts'
import { createMailLog } from './platform/maillog.ts'
import { type Random, systemRandom } from './platform/random.ts'
import { createResolver, systemServers } from './platform/resolver.ts'
import { createRelayDoor } from './relay/door.ts'
import { sharesOf } from './shares.ts'
import { lockDataDir } from './storage/sqlite/lock.ts'
import { openStore } from './storage/sqlite/open.ts'
import type { Store } from './storage/store.ts'
import { trackingPages } from './tracking/pages.ts'
import { VERSION } from './version.ts'
import { createInboundLoop } from './webhooks/inbound-loop.ts'
import { createWebhookLoop } from './webhooks/loop.ts'

/** The running appliance. */
export interface House {
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
  /** What the operator does to the running house, by a signal: done, and told of in the audit log. `fields` names what
   *  may change. */
  manage(action: string, fields: object, work: () => Promise<void>): Promise<void>
  /** Stops accepting, finishes what is in flight (at most 30 s in all), writes what is to be written. */
  stop(): Promise<void>
}

/** Another process serves this data directory (exit code 3, contract §6). */
export class DataDirInUse extends Error {}

/** contract §6, Signals: what is in flight may take 30 s to finish. */
const STOP_MS = 30_000
/** Of which for requests and SMTP transactions; mail and webhooks go on meanwhile. */
const STOP_DOORS_MS = 20_000
/** And at the end, for workers to say QUIT and for the last records. */
const STOP_WORKERS_MS = 3_000
/** SPF, DKIM, DMARC and ARC of one mail, all together; a sender waits ten minutes for the reply behind the dot. */
const AUTHENTICATION_MS = 15_000
/** Inbound mail with its attachments on its way to endpoints, at once. */
const INBOUND_BODY_ROOM_BYTES = 64 * 2 ** 20

/** Events of other processes, such as a test mail sent on the command line, come to those who follow after so long. */
const FEED_LOOK_MS = 1_000

/** Config → a house with its engines running and its listeners bound. Rejects with DataDirInUse, with what the store
 *  throws, or with what binding throws; nothing is left running then. */
export async function openHouse(
  config: Config,
  {
    log,
    settings = () => [],
    clock = systemClock,
    random = systemRandom,
  }: {
    log: Log
    /** What the config is made of, for the operator to read. */
    settings?: () => readonly Setting[]
    clock?: WallClock
    random?: Random
  },
): Promise<House> {
  const lock = lockDataDir(config.dataDir)
  if (lock === null) throw new DataDirInUse(`another Postrider serves ${config.dataDir}`)
  const undo: (() => unknown)[] = [lock.release]
  try {
    return await furnish(config, { log, settings, clock, random }, undo)
  } catch (error) {
    for (const step of undo.reverse()) await step()
    throw error
  }
}

async function furnish(
  config: Config,
  { log, settings, clock, random }: { log: Log; settings: () => readonly Setting[]; clock: WallClock; random: Random },
  undo: (() => unknown)[],
): Promise<House> {
  const mintId = createMintId(clock, random)
  const { dataDir } = config
  const { steady } = clock
  const metrics = createMetrics({ ...config.metrics, dataDir, startedAt: clock.now() })
  const mailLog = metrics.mail(createMailLog(log))
  const workerId = randomUUID()
  const userAgent = `Postrider/${VERSION}`
  const descriptors = systemDescriptors()
  const shares = sharesOf(config, descriptors.limit)

  let feed: Feed | null = null
  const store = await openStore({
    dataDir,
    now: clock.now(),
    told: { ...metrics, happened: (organizationIds) => organizationIds.forEach((id) => void feed?.ring(id)) },
    minFreeBytes: config.storage.minFreeBytes,
    onTorn: (bytes) => log.warn('the log of the database ended in an unfinished change, which was left out', { bytes }),
  })
  undo.push(() => store.close())
  await tellHeld(store, log)
  await store.deliveries.endForeignLeases(workerId, clock.now())
  await store.webhookDeliveries.endForeignLeases(workerId, clock.now())
  await store.inboundDeliveries.endForeignLeases(workerId, clock.now())
  await store.deliveries.waitAtMostUntil(clock.now() + longestMs(config.delivery.retryScheduleSeconds))
  await store.webhookDeliveries.waitAtMostUntil(clock.now() + longestMs(config.webhooks.retryScheduleSeconds))
  await store.inboundDeliveries.waitAtMostUntil(clock.now() + longestMs(config.inbound.retryScheduleSeconds))
  const verp = createVerp(await store.secret('verp', random.bytes(32)))
  const trackingSecret = await store.secret('tracking', random.bytes(32))
  let publicUrl = config.http.publicUrl
  const ownParts = createOwnParts({ verp, secret: trackingSecret, publicUrl: () => publicUrl })
  const loopTag = Buffer.from(await store.secret('loop', random.bytes(16))).toString('hex')

  const dnsServers = config.dns.servers.length > 0 ? [...config.dns.servers] : systemServers()
  const lookups = { servers: dnsServers, trustedServers: config.dns.trustedResolvers, clock: steady, random }
  const resolver = createResolver(lookups)
  // Whoever asks to look again has just changed something; the shared cache would show what was there before.
  const freshResolver = createResolver({ ...lookups, maxCacheEntries: 0 })
  undo.push(() => {
    resolver.close()
    freshResolver.close()
  })
  const mayConnect = createAddressGuard([...config.webhooks.allowedPrivateNetworks])
  const ca = config.webhooks.caFile === null ? undefined : readFileSync(config.webhooks.caFile, 'utf8')
  const post = createPost({ resolver, mayConnect, ca, clock: steady, userAgent })

  // Where a domain of the world sends us: never into the operator's own network, whatever webhooks may reach.
  const abroad = {
    resolver,
    mayConnect: config.delivery.allowPrivateDestinations ? () => true : createAddressGuard([]),
    clock: steady,
    userAgent,
  }

  feed = createFeed({ events: store.events, clock: steady, lookMs: FEED_LOOK_MS })
  const streams = createStreams({ clock: steady })
  const bells = createBells(clock.sleep)
  const webhooks = createWebhookLoop({
    store,
    post: metrics.posts('webhook', post),
    clock,
    random,
    log,
    settings: {
      ladderSeconds: config.webhooks.retryScheduleSeconds,
      timeoutMs: config.webhooks.timeoutSeconds * 1000,
      maxInFlight: shares.posts,
      maxPerWebhook: config.webhooks.maxPerWebhook,
    },
    workerId,
    userAgent,
    shapes: {
      resend: async ({ body, messageId }) =>
        resendBody(body, messageId === null ? null : await store.messages.get(messageId)),
    },
  })
  const dispatch = await openDispatch(config, {
    store,
    clock,
    random,
    mintId,
    verp,
    ownParts,
    workerId,
    lookups,
    shares,
    get: createGet(abroad),
    wakeWebhooks: webhooks.wake,
    onChange: bells.ring,
    log,
    mailLog,
  })
  undo.push(() => dispatch.close(0))
  const outbound = dispatch.loop
  const readers = createReaders({
    spawn: () => new Worker(new URL('./inbound/worker.ts', import.meta.url).href, { smol: true }),
    count: 1,
    settings: { hostname: config.hostname, dnsServers, authenticationMs: AUTHENTICATION_MS },
    clock: steady,
    log,
  })
  undo.push(() => readers.stop())
  const inbound = createInboundLoop({
    store,
    post: metrics.posts('inbound', post),
    attachments: readers.attachments,
    clock,
    random,
    log,
    settings: {
      ladderSeconds: config.inbound.retryScheduleSeconds,
      timeoutMs: config.webhooks.timeoutSeconds * 1000,
      maxInFlight: shares.posts,
      maxPerRoute: config.webhooks.maxPerWebhook,
      bodyRoomBytes: INBOUND_BODY_ROOM_BYTES,
    },
    workerId,
    userAgent,
  })
  const feedback = createFeedback({
    store,
    verp,
    mintId,
    judge: lateBounce,
    log,
    mailLog,
    wakeWebhooks: webhooks.wake,
    onChange: bells.ring,
  })
  const health = createHealthWatch({
    run: async () => {
      // Loaded when it is needed: the start does not wait for it.
      const { runCheckup } = await import('./checkup.ts')
      const server = { pid: process.pid, ports: [] }
      return (await runCheckup(config, { clock, random, store, held: null, server })).checks
    },
    now: clock.now,
    log,
  })
  const around = {
    config,
    settings,
    store,
    clock,
    random,
    mintId,
    freshResolver,
    compose: dispatch.compose,
    ownParts: () => ownParts,
    feed,
    streams,
    health,
    watch: bells.wait,
    wakeOutbound: outbound.wake,
    wakeWebhooks: webhooks.wake,
    wakeInbound: inbound.wake,
    mtaStsOf: dispatch.mtaStsOf,
    stateOfSite: outbound.stateOf,
  }
  const mtaSts = mtaStsOfHouse(config)
  let whyNotReady: () => string | null = () => 'this server is starting'
  const isTrusted = createNetworks(config.http.trustedProxies)
  const clientAddress = createClientAddress(isTrusted)
  const submission = openSubmission({ ...around, mailLog })
  const operations = createOperations(around, submission)
  const api = createApi({
    operations,
    dialects: [createDialect(resend, operations)],
    pages: [
      ...trackingPages({ ...around, secret: trackingSecret, log, clientAddress }),
      ...(config.metrics.listen === null ? metrics.pages(clientAddress) : []),
      ...(config.http.dashboard ? dashboardPages(dashboardFiles) : []),
      ...(mtaSts === null ? [] : [mtaStsPage(mtaSts, config.hostname, store.domains)]),
    ],
    store,
    clock,
    random,
    mintId,
    plans: (name) => config.plans[name],
    // A body of base64 attachments is a third larger than the mail it becomes.
    limits: { bodyBytes: Math.ceil(config.limits.messageBytes * 1.5) },
    clientAddress,
    ...(config.http.behindProxy && { clearDoor: createClearDoor({ isTrusted, publicUrl: () => publicUrl }) }),
    hasSessions: config.http.dashboard,
    isSecure: () => publicUrl.startsWith('https:'),
    log,
    hstsSeconds: config.http.hstsSeconds,
    watchDescriptors: (tell) => watchDescriptors(descriptors, tell),
    answered: metrics.answered,
    streams,
    isReady: () => whyNotReady(),
  })

  const audit = createAudit({ auditLog: store.auditLog, mintId, log })
  const { from, contact, organization } = config.reports
  const reports = createTlsReports({
    store,
    resolver,
    submit: submission.submit,
    post: createPost(abroad),
    reporter: { organization: organization || config.hostname, contact: contact || from, submitter: config.hostname },
    from,
    log,
  })
  const plainPages = createPlainPages(() => publicUrl)
  let showCertificates = () => {}
  const identity = await openIdentity(config, {
    pages: plainPages,
    secret: store.secret,
    domains: () => allDomains(store),
    resolver: freshResolver,
    clock,
    random,
    log,
    userAgent,
    onChange: () => showCertificates(),
  })
  const maintenance = createMaintenance({
    clock,
    log,
    tasks: chores({
      store,
      clock: steady,
      mintId,
      plans: (name) => config.plans[name],
      resolver: freshResolver,
      hostname: config.hostname,
      mtaSts,
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

  undo.push(() => api.stop(0))
  const plain = createListener({
    fetch: plainPages.fetch,
    maxBodyBytes: 65_536,
    idleSeconds: 10,
    watch: (tell) => watchDescriptors(descriptors, tell),
    onShut: () => {},
  })
  undo.push(() => plain.cut())
  const redirect = await listen(async (at) => plain.open(at), 'http.listen_redirect', config.http.listenRedirect)
  const http = await listen(api.listen, 'http.listen', config.http.listen)
  const https = await listen((at) => api.listen(at, identity?.https()), 'http.listen_tls', config.http.listenTls)
  publicUrl = publicUrlAt(config, { listen: http, listenTls: https })
  const doors = await openDoors(config, {
    maxConnections: shares.smtpConnections,
    certificate: identity?.smtp() ?? null,
    inbound: createInboundDoor({ ...around, feedback, readers, mailLog, loopTag }),
    submission: createRelayDoor({
      submission,
      once: api.once,
      clock,
      login: (password, now) => api.auth.authenticate(`Bearer ${password}`, now),
      takeRate: api.rateLimit.take,
    }),
    clock,
    log,
    mailLog,
  })
  const engines = {
    deliveries: outbound.underWay,
    webhookPosts: webhooks.inFlight,
    inboundPosts: inbound.inFlight,
    httpRequests: api.underWay,
    eventStreams: streams,
    smtpConnections: doors.connections,
    sites: outbound.sites,
  }
  metrics.watch(engines, store, health, clock.now)
  metrics.certificates(() => identity?.terms() ?? [])
  showCertificates = () => {
    if (identity === null) return
    api.useCertificate(identity.https())
    doors.useCertificate(identity.smtp())
  }
  undo.push(metrics.stop)
  const metricsDoor = openMetricsDoor(config.metrics.listen, {
    pages: metrics.pages(clientAddress),
    watch: (tell) => watchDescriptors(descriptors, tell),
  })
  undo.push(() => metricsDoor?.stop())
  outbound.start()
  webhooks.start()
  inbound.start()
  maintenance.start()
  whyNotReady = () => stuckEngine({ delivery: outbound, webhook: webhooks, inbound })

  return {
    store,
    listening: {
      http: http && formatEndpoint(http),
      https: https && formatEndpoint(https),
      httpRedirect: redirect && formatEndpoint(redirect),
      ...doors.listening,
      metrics: metricsDoor && formatEndpoint(metricsDoor.listening),
    },
    publicUrl,
    reloadCertificate: async () => {
      await identity?.reload()
      showCertificates()
    },
    manage: (action, body, work) => {
      const call = { organizationId: null, now: clock.now(), requestId: mintId('req'), params: {}, body }
      const actor = { type: 'operator' as const, id: 'operator', name: 'signal' }
      return audit({ id: action, method: 'POST' }, call, () => ({ actor, ipAddress: null }), work)
    },
    stop: async () => {
      metrics.stop()
      const endsAt = steady.now() + STOP_MS - STOP_WORKERS_MS
      const left = () => Math.max(0, endsAt - steady.now())
      await identity?.stop()
      await plain.cut()
      await Promise.all([api.stop(STOP_DOORS_MS), doors.stop(STOP_DOORS_MS)])
      await maintenance.stop()
      await outbound.stop(left())
      await webhooks.stop(left())
      await inbound.stop(left())
      await readers.stop()
      await dispatch.close(STOP_WORKERS_MS)
      await api.auth.flushUses()
      resolver.close()
      freshResolver.close()
      await metricsDoor?.stop()
      await store.close()
      undo[0]!() // the lock on the data directory, last
    },
  }
}

/** After a restore nothing of what waited goes by itself, and somebody should know. */
async function tellHeld(store: Store, log: Log): Promise<void> {
  if ((await store.held.restored()) === null) return
  const { deliveries, webhookDeliveries, inboundDeliveries } = await store.held.count()
  if (deliveries + webhookDeliveries + inboundDeliveries === 0) return
  const counts = { deliveries, webhook_deliveries: webhookDeliveries, inbound_deliveries: inboundDeliveries }
  log.warn('held since a restore, until `postrider restore release`', counts)
}

/** No wait of this ladder is longer, nor one that an endpoint asked for. */
const longestMs = (ladderSeconds: readonly number[]) =>
  Math.max(DAY_SECONDS, ...ladderSeconds.map((s) => s * 1.25)) * 1000
const DAY_SECONDS = 86_400

type Listen = (at: Endpoint) => Promise<Endpoint>

async function listen(bind: Listen, key: string, at: Endpoint | null): Promise<Endpoint | null> {
  if (at === null) return null
  return bind(at).catch((cause: unknown) => {
    throw new ListenFailure(key, at, cause)
  })
}
