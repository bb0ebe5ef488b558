import type { Plan } from '../../model/organization.ts'
import type { ClientAddress } from '../../net/client-address.ts'
import { networkOf } from '../../net/ip.ts'
import type { Certificate } from '../../net/tls/certificate.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Supply } from '../../os/descriptors.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import { ampleMemory, type Memory } from '../../os/memory.ts'
import type { Random } from '../../os/random.ts'
import { within } from '../../os/within.ts'
import { createHeavyWork, type HeavyWork } from '../../sending/submission/heavy-work.ts'
import { IdempotencyKeys } from '../../sending/submission/idempotency.ts'
import type { UserMail } from '../../sending/submission/user-mail.ts'
import type { Store } from '../../storage/store.ts'
import { VERSION } from '../../version.ts'
import { type Auth, createAuth } from './authentication.ts'
import { documentPages } from './documents.ts'
import { Flow } from './flow.ts'
import { healthPages } from './health.ts'
import { createIncomingBodies } from './incoming-body.ts'
import { createMakers, type Makers } from './makers.ts'
import { createMcp } from './mcp/mcp.ts'
import type { Operation } from './operation.ts'
import { createOwnOrigin, LOOPBACK_ORIGIN, type OriginOptions } from './own-origin.ts'
import type { PlaintextGuard } from './plaintext-guard.ts'
import { createRateLimit, type RateLimit } from './rate-limit.ts'
import { type CompatApi, createRoutes, type Page } from './route-table.ts'
import { createSessions } from './sessions.ts'
import { sessionPages } from './sign-in/pages.ts'
import type { SingleSignOnOptions } from './sign-in/single-sign-on/settings.ts'
import { createSockets } from './sockets.ts'
import type { Streams } from './streams.ts'

export interface ApiOptions {
  operations: Operation[]
  /** Pages outside /v1 that need no API key, such as metrics and the dashboard. Health checks, documentation and
   *  sign-in are added to them. */
  pages?: Page[]
  /** Compatible APIs of other services. */
  compatApis?: CompatApi[]
  store: Store
  clock: WallClock
  random: Random
  mintId: MintId
  plans: (name: string) => Plan | undefined
  /** Maximum size of a request body. */
  limits: { bodyBytes: number }
  clientAddress: ClientAddress
  /** Whether many clients may share an address: a proxy, or this machine. Default: no. */
  isShared?: (ip: string) => boolean
  /** Set if all requests come through a TLS proxy. */
  plaintextGuard?: PlaintextGuard
  /** True if the operator can sign in to the dashboard. Default: true. */
  hasSessions?: boolean
  /** True to serve /mcp. Default: true. */
  hasMcp?: boolean
  /** Password links and notices for users who sign in to the dashboard. */
  userMail: UserMail
  /** Sign-in to the dashboard with an OpenID Connect provider. */
  singleSignOn?: SingleSignOnOptions | undefined
  /** How browsers reach this server. Default: on loopback only. */
  origin?: OriginOptions
  log: Log
  /** max-age of the `Strict-Transport-Security` header in seconds (RFC 6797), for HTTPS. Not sent if 0 or absent. */
  hstsSeconds?: number
  /** Reports the file descriptor supply until the returned function is called. While it is short, no connections are
   *  accepted. Default: never short. */
  watchDescriptors?: (onSupply: (supply: Supply) => void) => () => void
  /** Memory for large bodies and responses. While it is short, API requests get 503 before their key is looked up.
   *  Default: unlimited. */
  memory?: Memory
  /** Schedules large requests. Share it with sending/submission/submission.ts, which schedules large messages. Default:
   *  a separate one. */
  heavyWork?: HeavyWork
  /** Called after every response. `operation` is the operation ID, or the path pattern if there is none. */
  answered?: (request: { operation: string; status: number; durationMs: number }) => void
  /** The open event streams. `stop` and a shortage of file descriptors end them. */
  streams?: Pick<Streams, 'end' | 'close'>
  /** Returns null if the process can serve requests, otherwise the reason why not, for /readyz. */
  isReady: () => string | null
}

/** The HTTP API. */
export interface Api {
  /** Binds the address and resolves with the bound one; port 0 selects a free port. With a certificate it serves HTTPS.
   *  Call it once for each listener. Rejects if the address is in use. */
  listen(address: { host: string; port: number }, certificate?: Certificate): Promise<{ host: string; port: number }>
  /** Uses the certificate for new HTTPS connections (listener.ts). */
  useCertificate(certificate: Certificate): void
  /** Serves a request without a socket. */
  fetch(request: Request): Promise<Response>
  /** Number of requests in progress. */
  underWay(): number
  /** Key lookup, rate limits and idempotency keys, shared with SMTP submission. */
  readonly auth: Auth
  readonly makers: Makers
  readonly rateLimit: RateLimit
  readonly idempotencyKeys: IdempotencyKeys
  /** Stops the API: rejects new requests with 503, waits at most `withinMs` for those in progress, then closes all
   *  connections. */
  stop(withinMs: number): Promise<void>
}

/** Creates the HTTP API from pipeline (flow.ts) and sockets (sockets.ts). It serves no connections until `listen`. */
export function createApi(options: ApiOptions): Api {
  const { store, clock, memory = ampleMemory, hasSessions = true, heavyWork = createHeavyWork(clock.steady) } = options
  const auth = createAuth(store)
  const makers = createMakers(store.users, clock.steady.now)
  const connection = {
    peerOf: (request: Request) => sockets.peerOf(request),
    isTls: (request: Request) => sockets.isTls(request),
  }
  const origin = createOwnOrigin(options.origin ?? LOOPBACK_ORIGIN, connection)
  const sessions = createSessions(store, origin)
  const rateLimit = createRateLimit({ snapshot: store.snapshot, plans: options.plans, rates: store.rates })
  const idempotencyKeys = new IdempotencyKeys(store.idempotency, clock.steady)
  const { peerOf } = connection
  const { clientAddress, isShared = () => false } = options
  const incoming = createIncomingBodies({
    clock: clock.steady,
    memory,
    networkOf: (request) => {
      const address = clientAddress(peerOf(request), request.headers.get('x-forwarded-for'))
      return address === '' || isShared(address) ? null : networkOf(address)
    },
  })
  const flow = new Flow({
    ...options,
    memory,
    auth,
    makers,
    sessions,
    hasSessions,
    rateLimit,
    idempotencyKeys,
    incoming,
    heavyWork,
    peerOf,
  })

  const pages = [
    ...healthPages({ store, isReady: options.isReady, isStopping: () => flow.isStopping() }),
    ...documentPages(options.operations, VERSION),
    ...(hasSessions ? sessionPages({ ...options, sessions, incoming, ownOrigin: origin }) : []),
    ...(options.pages ?? []),
  ]
  const mcp = createMcp({
    operations: options.operations,
    ownOrigin: origin,
    incoming,
    random: options.random,
  })
  const routes = createRoutes(options.operations, pages, options.compatApis, options.hasMcp === false ? [] : [mcp])
  const sockets = createSockets({ ...options, flow, routes, endStreams: () => options.streams?.end() })

  /** Stores the last use of API keys and sessions. */
  const flushUses = async () => {
    await Promise.all([auth.flushUses(), sessions.flushSeen()])
  }

  return {
    listen: sockets.listen,
    useCertificate: sockets.useCertificate,
    fetch: sockets.fetch,
    underWay: () => flow.underWay(),
    auth: { ...auth, flushUses },
    makers,
    rateLimit,
    idempotencyKeys,
    async stop(withinMs) {
      const idle = flow.drain()
      const closed = sockets.close()
      // A client that does not read keeps its stream open, so waiting for `closed` alone could take all of `withinMs`.
      const hadStreams = options.streams?.close() ?? false
      const left = hadStreams ? within(clock, STREAM_END_MS, closed) : closed
      await within(clock, withinMs, Promise.all([idle, left]))
      await sockets.cut()
      await flushUses()
    },
  }
}

/** Time to send the last bytes of event streams. */
const STREAM_END_MS = 500
