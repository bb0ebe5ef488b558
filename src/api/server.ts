import type { Plan } from '../model/organization.ts'
import type { ClientAddress } from '../net/client-address.ts'
import type { Certificate } from '../net/tls/certificate.ts'
import type { WallClock } from '../os/clock.ts'
import type { Supply } from '../os/descriptors.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import { ampleMemory, type Memory } from '../os/memory.ts'
import type { Random } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import { createHeavyWork, type HeavyWork } from '../submission/heavy-work.ts'
import { createIdempotencyKeys, type IdempotencyKeys } from '../submission/idempotency.ts'
import { VERSION } from '../version.ts'
import { type Auth, createAuth } from './auth.ts'
import { documentPages } from './documents.ts'
import { createFlow } from './flow.ts'
import { healthPages } from './health.ts'
import type { Operation } from './operation.ts'
import { createOwnSite, LOOPBACK_SITE, type SiteOptions } from './own-site.ts'
import type { PlaintextGuard } from './plaintext-guard.ts'
import { createRateLimit, type RateLimit } from './rate-limit.ts'
import { type CompatApi, createRoutes, type Page } from './route-table.ts'
import { sessionPages } from './session-endpoints.ts'
import { createSessions } from './sessions.ts'
import { createSockets } from './sockets.ts'
import type { Streams } from './streams.ts'

export interface ApiOptions {
  operations: Operation[]
  /** Answered without a key, outside /v1: documents, metrics, the dashboard. */
  pages?: Page[]
  /** Other services' APIs, answered by the same operations. */
  compatApis?: CompatApi[]
  store: Store
  clock: WallClock
  random: Random
  mintId: MintId
  plans: (name: string) => Plan | undefined
  limits: { bodyBytes: number }
  clientAddress: ClientAddress
  /** Only where all requests come through a proxy that speaks TLS. */
  plaintextGuard?: PlaintextGuard
  /** Whether the operator can sign in with a browser; yes unless said. */
  hasSessions?: boolean
  /** How browsers reach us; by no name unless said. */
  site?: SiteOptions
  log: Log
  /** How long browsers are to use HTTPS alone, said in answers by HTTPS; 0: not said. */
  hstsSeconds?: number
  /** Tells of file descriptors from time to time, until what it returns is called; while they are short no connections
   *  are taken. */
  watchDescriptors?: (tell: (supply: Supply) => void) => () => void
  /** What large bodies and answers ask for a place; while it is short, keys are not even looked at. Ample unless told. */
  memory?: Memory
  /** Paces large requests together with large mail (submission/accept.ts); of its own unless given. */
  heavyWork?: HeavyWork
  /** Hears of every answer; `operation` is its name, or the pattern of the path. */
  answered?: (request: { operation: string; status: number; durationMs: number }) => void
  /** Answers that go on until they are ended. */
  streams?: Pick<Streams, 'end' | 'close'>
  /** Why the process should get no requests at present (for /readyz); null when all is well. */
  isReady: () => string | null
}

export interface Api {
  /** Binds, port 0 included, and answers with what was bound; with a certificate for HTTPS. Once for each of the two.
   *  Rejects when the address is taken. */
  listen(address: { host: string; port: number }, certificate?: Certificate): Promise<{ host: string; port: number }>
  /** For HTTPS connections from now on. */
  useCertificate(certificate: Certificate): void
  /** The same requests without a socket. */
  fetch(request: Request): Promise<Response>
  /** Requests not answered yet. */
  underWay(): number
  /** Who a key value belongs to, what its plan has left, and which idempotency keys are under way: the same for whoever
   *  comes through another door. */
  readonly auth: Auth
  readonly rateLimit: RateLimit
  readonly once: IdempotencyKeys
  /** Refuses new requests with 503, lets those under way finish for at most `withinMs`, then closes every connection. */
  stop(withinMs: number): Promise<void>
}

/** The HTTP API put together: what a request passes (flow.ts), and how it gets here (sockets.ts). */
export function createApi(options: ApiOptions): Api {
  const { store, clock, memory = ampleMemory, hasSessions = true, heavyWork = createHeavyWork(clock.steady) } = options
  const auth = createAuth(store.apiKeys)
  const connection = {
    peerOf: (request: Request) => sockets.peerOf(request),
    isTls: (request: Request) => sockets.isTls(request),
  }
  const site = createOwnSite(options.site ?? LOOPBACK_SITE, connection)
  const sessions = createSessions(store, site)
  const rateLimit = createRateLimit({ organizations: store.organizations, plans: options.plans })
  const once = createIdempotencyKeys({ records: store.idempotency, clock: clock.steady })
  const { peerOf } = connection
  const flow = createFlow({ ...options, memory, auth, sessions, hasSessions, rateLimit, once, heavyWork, peerOf })

  const pages = [
    ...healthPages({ store, isReady: options.isReady, isStopping: flow.isStopping }),
    ...documentPages(options.operations, VERSION),
    ...(hasSessions ? sessionPages({ ...options, sessions, site }) : []),
    ...(options.pages ?? []),
  ]
  const routes = createRoutes(options.operations, pages, options.compatApis)
  const sockets = createSockets({ ...options, ...flow, routes, endStreams: () => options.streams?.end() })

  /** Of keys and of sessions. */
  const flushUses = async () => {
    await Promise.all([auth.flushUses(), sessions.flushSeen()])
  }

  return {
    listen: sockets.listen,
    useCertificate: sockets.useCertificate,
    fetch: sockets.fetch,
    underWay: flow.underWay,
    auth: { ...auth, flushUses },
    rateLimit,
    once,
    async stop(withinMs) {
      const idle = flow.drain()
      const closed = sockets.close()
      const sleep = new AbortController()
      // A client that does not read would keep its stream open however it was ended.
      const hadStreams = options.streams?.close() ?? false
      const left = hadStreams ? Promise.race([closed, clock.sleep(STREAM_END_MS, sleep.signal)]) : closed
      await Promise.race([Promise.all([idle, left]), clock.sleep(withinMs, sleep.signal)])
      sleep.abort()
      await sockets.cut()
      await flushUses()
    },
  }
}

/** Enough for the last bytes of a stream to get out. */
const STREAM_END_MS = 500
