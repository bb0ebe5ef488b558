import { createClearDoor } from './api/in-clear.ts'
import { createListener, type Listener } from './api/listener.ts'
import type { Operation } from './api/operation.ts'
import { type Api, createApi } from './api/server.ts'
import type { PlainPages } from './certificates/plain-pages.ts'
import { resend } from './compat/resend/resend.ts'
import type { Config, Endpoint } from './config.ts'
import { dashboardFiles } from './dashboard/files.ts'
import { dashboardPages } from './dashboard/pages.ts'
import { createDialect } from './dialect.ts'
import { mtaStsPage } from './domains/mta-sts.ts'
import { ListenFailure } from './doors.ts'
import type { Identity } from './identity.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { MetricsPage } from './metrics/page.ts'
import { type Around, mtaStsOfHouse } from './operations.ts'
import { createClientAddress } from './platform/client-address.ts'
import { type Descriptors, type Supply, watchDescriptors } from './platform/descriptors.ts'
import { createNetworks } from './platform/ip.ts'
import type { Log } from './platform/log.ts'
import type { Memory } from './platform/memory.ts'
import { trackingPages } from './tracking/pages.ts'

/** What is answered by HTTP: the API with its pages and dialects, and what is in clear where HTTPS is spoken. */
export interface Web {
  api: Api
  plain: Listener
  /** For the listener that Prometheus may have. */
  metricsPages: MetricsPage[]
  watch: (tell: (supply: Supply) => void) => () => void
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
  const metricsPages = metrics.pages(clientAddress)

  const api = createApi({
    ...house,
    dialects: [createDialect(resend, operations)],
    pages: [
      ...trackingPages({ ...house, secret: house.trackingSecret, clientAddress }),
      ...(config.metrics.listen === null ? metricsPages : []),
      ...(http.dashboard ? dashboardPages(dashboardFiles) : []),
      ...(mtaSts === null ? [] : [mtaStsPage(mtaSts, config.hostname, store.domains)]),
    ],
    plans: (name) => config.plans[name],
    // A body of base64 attachments is a third larger than the mail it becomes.
    limits: { bodyBytes: Math.ceil(config.limits.messageBytes * 1.5) },
    clientAddress,
    ...(http.behindProxy && { clearDoor: createClearDoor({ isTrusted, publicUrl }) }),
    hasSessions: http.dashboard,
    isSecure: () => publicUrl().startsWith('https:'),
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
    open: async (identity) => ({
      httpRedirect: await bound(async (at) => plain.open(at), 'http.listen_redirect', http.listenRedirect),
      http: await bound(api.listen, 'http.listen', http.listen),
      https: await bound((at) => api.listen(at, identity?.https()), 'http.listen_tls', http.listenTls),
    }),
  }
}

async function bound(bind: (at: Endpoint) => Promise<Endpoint>, key: string, at: Endpoint | null) {
  if (at === null) return null
  return bind(at).catch((cause: unknown) => {
    throw new ListenFailure(key, at, cause)
  })
}
