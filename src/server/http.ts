import type { Config, Endpoint } from '../config/load.ts'
import type { PlainPages } from '../domains/certificates/plain-pages.ts'
import { mtaStsPage, publishedMtaSts } from '../domains/mta-sts.ts'
import { serverNamesOf } from '../domains/server-names.ts'
import { type ClientAddress, createClientAddress } from '../net/client-address.ts'
import { watchClientConnections } from '../net/client-connections.ts'
import { createKnownHosts } from '../net/host-header.ts'
import { askBy } from '../net/https/requests.ts'
import { createNetworks } from '../net/ip.ts'
import { createRequestHost } from '../net/request-host.ts'
import type { MetricsPage } from '../operating/metrics/page.ts'
import { type Descriptors, type Supply, watchDescriptors } from '../os/descriptors.ts'
import type { Log } from '../os/log.ts'
import type { HeavyWork } from '../sending/submission/heavy-work.ts'
import type { UserMail } from '../sending/submission/user-mail.ts'
import { downloadPages } from '../web/api/download-pages.ts'
import { createLargeResponses } from '../web/api/large-responses.ts'
import { createListener, type Listener } from '../web/api/listener.ts'
import type { Operation } from '../web/api/operation.ts'
import { createPlaintextGuard } from '../web/api/plaintext-guard.ts'
import type { Page } from '../web/api/route-table.ts'
import { type Api, createApi } from '../web/api/server.ts'
import { resend } from '../web/compat/resend/resend.ts'
import { dashboardFiles } from '../web/dashboard/files.ts'
import { dashboardPages } from '../web/dashboard/pages.ts'
import { manualFiles } from '../web/manual/files.ts'
import { manualPages } from '../web/manual/pages.ts'
import { forwardPages } from '../web/tracking/forward-pages.ts'
import { trackingPages } from '../web/tracking/pages.ts'
import type { Certificates } from './certificates.ts'
import type { Core } from './core.ts'
import { createCompatApi } from './external-api.ts'
import { ListenFailure } from './listeners.ts'
import { singleSignOnOptions } from './single-sign-on.ts'

/** Programs on this machine are exempt from connection limits per client, and so are trusted proxies. */
const isLoopback = createNetworks(['127.0.0.0/8', '::1/128'])

/** Everything served over HTTP: the API with its pages and compatible APIs, and the plain listener that redirects to
 *  HTTPS. */
export interface Web {
  api: Api
  plain: Listener
  /** For the metrics listener. */
  metricsPages: MetricsPage[]
  watchDescriptors: (onSupply: (supply: Supply) => void) => () => void
  /** Stops enforcing the limit of connections per client. */
  stopWatching(): void
  /** Binds the enabled listeners and returns their addresses; null = disabled. Rejects with a ListenFailure that names the
   *  config key. */
  open(certificates: Certificates | null): Promise<WebListening>
}

export type WebListening = Record<'http' | 'https' | 'httpRedirect', Endpoint | null>

/** What the Web serves beside the core. */
export interface WebParts {
  operations: Operation[]
  userMail: UserMail
  heavyWork: HeavyWork
  plainPages: PlainPages
  isReady: () => string | null
}

/** Creates the Web; `open` binds its listeners. */
export function createWeb(config: Config, core: Core, parts: WebParts): Web {
  const { metrics, publicUrl, descriptors, clock, random, mintId, memory, streams, log } = core
  const { store, downloadLinks } = core.resources
  const { operations, userMail, heavyWork, isReady } = parts
  const { http } = config
  const isTrusted = createNetworks(http.trustedProxies)
  const clientAddress = createClientAddress(isTrusted)
  const watch = (onSupply: (supply: Supply) => void) => watchDescriptors(descriptors, onSupply)
  const hostNames = [config.hostname, ...http.allowedHosts]
  const isKnownHost = createKnownHosts(() => [...hostNames, URL.parse(publicUrl())?.hostname ?? ''])
  // A separate listener for metrics is not behind the proxy.
  const isProxied = http.behindProxy && config.metrics.listen === null
  const isProxy = (peer: string | null) => isProxied && peer !== null && isTrusted(peer)
  const metricsPages = metrics.pages({ clientAddress, isKnownHost, isProxy })

  const api = createApi({
    operations,
    compatApis: [
      createCompatApi(resend, operations, {
        downloadUrl: (download, until) => publicUrl() + downloadLinks.make(download, until),
        signingSecret: async (id) => (await store.webhooks.secrets(id))?.secret ?? null,
      }),
    ],
    pages: publicPages(config, core, { isTrusted, clientAddress, isKnownHost, metricsPages }),
    store,
    clock,
    random,
    mintId,
    plans: (name) => config.plans[name],
    // A body of base64 attachments is a third larger than the message it becomes.
    limits: { bodyBytes: Math.ceil(config.limits.messageBytes * 1.5) },
    clientAddress,
    isShared: (ip) => isLoopback(ip) || isTrusted(ip),
    ...(http.behindProxy && { plaintextGuard: createPlaintextGuard({ isTrusted, publicUrl }) }),
    hasSessions: http.dashboard,
    hasMcp: http.mcp,
    userMail,
    singleSignOn: singleSignOnOptions(config, askBy(core.https.signOn), publicUrl),
    origin: { hostNames, publicUrl, isBehindProxy: http.behindProxy, isTrusted },
    log,
    hstsSeconds: http.hstsSeconds,
    watchDescriptors: watch,
    memory,
    heavyWork,
    answered: metrics.answered,
    streams,
    isReady,
  })
  const plain = createListener({
    fetch: parts.plainPages.fetch,
    maxBodyBytes: 65_536,
    idleSeconds: 10,
    watch,
    onShut: () => {},
  })
  let stopWatching = () => {}
  return {
    api,
    plain,
    metricsPages,
    watchDescriptors: watch,
    stopWatching: () => stopWatching(),
    open: async (certificates) => {
      const listening = await bindAll(config, { api, plain, certificates })
      stopWatching = limitConnections(listening, { descriptors, isTrusted, log })
      return listening
    },
  }
}

/** Pages outside /v1 that need no API key. */
function publicPages(
  config: Config,
  core: Core,
  options: {
    isTrusted: (ip: string) => boolean
    clientAddress: ClientAddress
    isKnownHost: (header: string | null) => boolean
    metricsPages: MetricsPage[]
  },
): Page[] {
  const { clock, mintId, log, publicUrl, notifier, memory } = core
  const { store, trackingSecret, forwardLinks, downloadLinks } = core.resources
  const { isTrusted, clientAddress, isKnownHost, metricsPages } = options
  const mtaSts = publishedMtaSts(config)
  return [
    ...trackingPages({
      store,
      secret: trackingSecret,
      publicUrl,
      serverNames: serverNamesOf(config),
      hostOf: createRequestHost(isTrusted),
      clock,
      mintId,
      log,
      notify: notifier.notify,
      clientAddress,
    }),
    ...forwardPages({ store, clock, links: () => forwardLinks }),
    ...downloadPages({
      store,
      clock,
      links: () => downloadLinks,
      attachment: core.engines.readers.attachment,
      large: createLargeResponses({ clock, memory }),
    }),
    ...(config.metrics.listen === null ? metricsPages : []),
    ...(config.http.dashboard ? dashboardPages(dashboardFiles, isKnownHost) : []),
    ...manualPages(async () => manualFiles(await core.manual()), dashboardFiles),
    ...(mtaSts === null
      ? []
      : [mtaStsPage(mtaSts, config.hostname, store.domains, config.sending.requireVerifiedDomain)]),
  ]
}

async function bindAll(
  { http }: Config,
  { api, plain, certificates }: { api: Api; plain: Listener; certificates: Certificates | null },
): Promise<WebListening> {
  return {
    httpRedirect: await bound(async (at) => plain.open(at), 'http.listen_redirect', http.listenRedirect),
    http: await bound(api.listen, 'http.listen', http.listen),
    https: await bound((at) => api.listen(at, certificates?.https()), 'http.listen_tls', http.listenTls),
  }
}

/** Closes connections of a client that holds too many; returns what stops it. */
function limitConnections(
  listening: WebListening,
  { descriptors, isTrusted, log }: { descriptors: Descriptors; isTrusted: (ip: string) => boolean; log: Log },
): () => void {
  const ports = Object.values(listening).flatMap((at) => (at === null ? [] : [at.port]))
  return watchClientConnections({
    descriptors,
    ports: () => ports,
    isExempt: (ip) => isLoopback(ip) || isTrusted(ip),
    onClosed: (client, connections) => log.warn('connections closed, limit exceeded', { client, connections }),
  })
}

async function bound(bind: (at: Endpoint) => Promise<Endpoint>, key: string, at: Endpoint | null) {
  if (at === null) return null
  return bind(at).catch((cause: unknown) => {
    throw new ListenFailure(key, at, cause)
  })
}
