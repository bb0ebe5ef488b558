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
import { type Auth, createAuth } from './authentication.ts'
import { documentPages } from './documents.ts'
import { createFlow } from './flow.ts'
import { healthPages } from './health.ts'
import type { Operation } from './operation.ts'
import { createOwnOrigin, LOOPBACK_ORIGIN, type OriginOptions } from './own-origin.ts'
import type { PlaintextGuard } from './plaintext-guard.ts'
import { createRateLimit, type RateLimit } from './rate-limit.ts'
import { type CompatApi, createRoutes, type Page } from './route-table.ts'
import { sessionPages } from './session-endpoints.ts'
import { createSessions } from './sessions.ts'
import { createSockets } from './sockets.ts'
import type { Streams } from './streams.ts'

export interface ApiOptions {
  operations: Operation[]
  /** Served without a key, outside /v1: documents, metrics, the dashboard. */
  pages?: Page[]
  /** Other services' APIs on top of the same operations. */
  compatApis?: CompatApi[]
  store: Store
  clock: WallClock
  random: Random
  mintId: MintId
  plans: (name: string) => Plan | undefined
  limits: { bodyBytes: number }
  clientAddress: ClientAddress
  /** Set if all requests come through a TLS proxy. */
  plaintextGuard?: PlaintextGuard
  /** True if the operator can sign in with a browser; the default. */
  hasSessions?: boolean
  /** Host names for browsers; none by default. */
  origin?: OriginOptions
  log: Log
  /** HSTS max-age in seconds for HTTPS responses; 0: not sent. */
  hstsSeconds?: number
  /** Reports the file descriptor supply until the returned function is called; while it is short, no connections are
   *  accepted. */
  watchDescriptors?: (onSupply: (supply: Supply) => void) => () => void
  /** Memory budget for large bodies and responses; while it is short, keys are not even looked up. Unlimited by
   *  default. */
  memory?: Memory
  /** Schedules large requests together with large mail (submission/accept.ts); separate by default. */
  heavyWork?: HeavyWork
  /** Called for every response; `operation` is its ID, or the pattern of the path. */
  answered?: (request: { operation: string; status: number; durationMs: number }) => void
  /** Streaming responses. */
  streams?: Pick<Streams, 'end' | 'close'>
  /** Why the process should get no requests (for /readyz); null if it can. */
  isReady: () => string | null
}

export interface Api {
  /** Binds (port 0 allowed) and returns the bound address; with a certificate for HTTPS. Call it idempotencyKeys for each.
   *  Rejects if the address is in use. */
  listen(address: { host: string; port: number }, certificate?: Certificate): Promise<{ host: string; port: number }>
  /** Applies to new HTTPS connections. */
  useCertificate(certificate: Certificate): void
  /** Handles a request without a socket. */
  fetch(request: Request): Promise<Response>
  /** Number of requests in progress. */
  underWay(): number
  /** Key lookup, rate limits and idempotency keys, shared with SMTP submission. */
  readonly auth: Auth
  readonly rateLimit: RateLimit
  readonly idempotencyKeys: IdempotencyKeys
  /** Rejects new requests with 503, lets those in progress finish for at most `withinMs`, then closes all connections. */
  stop(withinMs: number): Promise<void>
}

/** Assembles the HTTP API: pipeline (flow.ts) and sockets (sockets.ts). */
export function createApi(options: ApiOptions): Api {
  const { store, clock, memory = ampleMemory, hasSessions = true, heavyWork = createHeavyWork(clock.steady) } = options
  const auth = createAuth(store)
  const connection = {
    peerOf: (request: Request) => sockets.peerOf(request),
    isTls: (request: Request) => sockets.isTls(request),
  }
  const origin = createOwnOrigin(options.origin ?? LOOPBACK_ORIGIN, connection)
  const sessions = createSessions(store, origin)
  const rateLimit = createRateLimit({ snapshot: store.snapshot, plans: options.plans })
  const idempotencyKeys = createIdempotencyKeys({ records: store.idempotency, clock: clock.steady })
  const { peerOf } = connection
  const flow = createFlow({
    ...options,
    memory,
    auth,
    sessions,
    hasSessions,
    rateLimit,
    idempotencyKeys,
    heavyWork,
    peerOf,
  })

  const pages = [
    ...healthPages({ store, isReady: options.isReady, isStopping: flow.isStopping }),
    ...documentPages(options.operations, VERSION),
    ...(hasSessions ? sessionPages({ ...options, sessions, ownOrigin: origin }) : []),
    ...(options.pages ?? []),
  ]
  const routes = createRoutes(options.operations, pages, options.compatApis)
  const sockets = createSockets({ ...options, ...flow, routes, endStreams: () => options.streams?.end() })

  /** For keys and sessions. */
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
    idempotencyKeys,
    async stop(withinMs) {
      const idle = flow.drain()
      const closed = sockets.close()
      const sleep = new AbortController()
      // A client that does not read would keep its stream open indefinitely.
      const hadStreams = options.streams?.close() ?? false
      const left = hadStreams ? Promise.race([closed, clock.sleep(STREAM_END_MS, sleep.signal)]) : closed
      await Promise.race([Promise.all([idle, left]), clock.sleep(withinMs, sleep.signal)])
      sleep.abort()
      await sockets.cut()
      await flushUses()
    },
  }
}

/** Enough time to send the last bytes of a stream. */
const STREAM_END_MS = 500
