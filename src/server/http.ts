import { createListener, type Listener } from '../api/listener.ts'
import type { Operation } from '../api/operation.ts'
import { createPlaintextGuard } from '../api/plaintext-guard.ts'
import { type Api, createApi } from '../api/server.ts'
import type { PlainPages } from '../certificates/plain-pages.ts'
import { resend } from '../compat/resend/resend.ts'
import type { Config, Endpoint } from '../config/load.ts'
import { dashboardFiles } from '../dashboard/files.ts'
import { dashboardPages } from '../dashboard/pages.ts'
import { mtaStsPage } from '../domains/mta-sts.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { MetricsPage } from '../metrics/page.ts'
import { createClientAddress } from '../net/client-address.ts'
import { watchClientConnections } from '../net/client-connections.ts'
import { createKnownHosts } from '../net/host-header.ts'
import { createNetworks } from '../net/ip.ts'
import { createRequestHost } from '../net/request-host.ts'
import { type Descriptors, type Supply, watchDescriptors } from '../os/descriptors.ts'
import type { Log } from '../os/log.ts'
import type { Memory } from '../os/memory.ts'
import { forwardPages } from '../tracking/forward-pages.ts'
import { trackingPages } from '../tracking/pages.ts'
import type { Identity } from './certificates.ts'
import { createCompatApi } from './external-api.ts'
import { ListenFailure } from './listeners.ts'
import { type Around, mtaStsOfHouse, serverNamesOf } from './operations.ts'

/** Whoever runs on this machine needs no connections to disturb it; a proxy may. */
const isLoopback = createNetworks(['127.0.0.0/8', '::1/128'])

/** What is answered by HTTP: the API with its pages and dialects, and what is in clear where HTTPS is spoken. */
export interface Web {
  api: Api
  plain: Listener
  /** For the listener that Prometheus may have. */
  metricsPages: MetricsPage[]
  watch: (tell: (supply: Supply) => void) => () => void
  /** No longer looks at what single clients have open. */
  stopWatching(): void
  /** Binds what the config asks for → what was bound; null = off. Rejects with a ListenFailure that names the config key. */
  open(identity: Identity | null): Promise<WebListening>
}

export type WebListening = Record<'http' | 'https' | 'httpRedirect', Endpoint | null>

/** Config and what is asked for → the Web, not open yet. */
export function createWeb(
  config: Config,
  house: Around & {
    operations: Operation[]
    metrics: Metrics
    plainPages: PlainPages
    trackingSecret: Uint8Array
    descriptors: Descriptors
    memory: Memory
    publicUrl: () => string
    isReady: () => string | null
    log: Log
  },
): Web {
  const { operations, store, metrics, publicUrl } = house
  const { http } = config
  const isTrusted = createNetworks(http.trustedProxies)
  const clientAddress = createClientAddress(isTrusted)
  const watch = (tell: (supply: Supply) => void) => watchDescriptors(house.descriptors, tell)
  const mtaSts = mtaStsOfHouse(config)
  const hostNames = [config.hostname, ...http.allowedHosts]
  const isKnownHost = createKnownHosts(() => [...hostNames, URL.parse(publicUrl())?.hostname ?? ''])
  const metricsPages = metrics.pages({ clientAddress, isKnownHost })

  let stopWatching = () => {}

  const api = createApi({
    ...house,
    compatApis: [createCompatApi(resend, operations)],
    pages: [
      ...trackingPages({
        ...house,
        secret: house.trackingSecret,
        serverNames: serverNamesOf(config),
        hostOf: createRequestHost(isTrusted),
        clientAddress,
      }),
      ...forwardPages({ ...house, links: house.forwardLinks }),
      ...(config.metrics.listen === null ? metricsPages : []),
      ...(http.dashboard ? dashboardPages(dashboardFiles, isKnownHost) : []),
      ...(mtaSts === null
        ? []
        : [mtaStsPage(mtaSts, config.hostname, store.domains, config.sending.requireVerifiedDomain)]),
    ],
    plans: (name) => config.plans[name],
    // A body of base64 attachments is a third larger than the mail it becomes.
    limits: { bodyBytes: Math.ceil(config.limits.messageBytes * 1.5) },
    clientAddress,
    ...(http.behindProxy && { plaintextGuard: createPlaintextGuard({ isTrusted, publicUrl }) }),
    hasSessions: http.dashboard,
    site: { hostNames, publicUrl, isBehindProxy: http.behindProxy, isTrusted },
    hstsSeconds: http.hstsSeconds,
    watchDescriptors: watch,
    answered: metrics.answered,
  })
  const plain = createListener({
    fetch: house.plainPages.fetch,
    maxBodyBytes: 65_536,
    idleSeconds: 10,
    watch,
    onShut: () => {},
  })

  return {
    api,
    plain,
    metricsPages,
    watch,
    stopWatching: () => stopWatching(),
    open: async (identity) => {
      const listening = {
        httpRedirect: await bound(async (at) => plain.open(at), 'http.listen_redirect', http.listenRedirect),
        http: await bound(api.listen, 'http.listen', http.listen),
        https: await bound((at) => api.listen(at, identity?.https()), 'http.listen_tls', http.listenTls),
      }
      const ports = Object.values(listening).flatMap((at) => (at === null ? [] : [at.port]))
      stopWatching = watchClientConnections({
        descriptors: house.descriptors,
        ports: () => ports,
        isExempt: (ip) => isLoopback(ip) || isTrusted(ip),
        onClosed: (client, connections) =>
          house.log.warn('connections closed beyond the limit', { client, connections }),
      })
      return listening
    },
  }
}

async function bound(bind: (at: Endpoint) => Promise<Endpoint>, key: string, at: Endpoint | null) {
  if (at === null) return null
  return bind(at).catch((cause: unknown) => {
    throw new ListenFailure(key, at, cause)
  })
}
