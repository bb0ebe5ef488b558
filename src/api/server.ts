import { Elysia } from 'elysia'
import { type ApiKey, allows } from '../model/api-key.ts'
import type { Plan } from '../model/organization.ts'
import { Refusal } from '../model/refusal.ts'
import type { Session } from '../model/session.ts'
import type { Certificate } from '../platform/certificate.ts'
import type { ClientAddress } from '../platform/client-address.ts'
import type { WallClock } from '../platform/clock.ts'
import type { Supply } from '../platform/descriptors.ts'
import type { MintId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { ampleMemory, type Memory } from '../platform/memory.ts'
import type { Random } from '../platform/random.ts'
import type { Store } from '../storage/store.ts'
import { createOnce, type Once } from '../submission/once.ts'
import { VERSION } from '../version.ts'
import { JSON_TYPE, render } from './answer.ts'
import { createAudit, type Origin } from './audit.ts'
import { type Auth, createAuth } from './auth.ts'
import { documentPages } from './documents.ts'
import { headersOf, STATUS_OF, toBody, toRefusal, unavailable } from './errors.ts'
import { begin, type Exchange, send, withRequestId } from './exchange.ts'
import { healthPages } from './health.ts'
import { createIdempotency } from './idempotency.ts'
import type { ClearDoor } from './in-clear.ts'
import { createLargeAnswers, type LargeAnswer } from './large-answers.ts'
import { createLargeBodies } from './large-bodies.ts'
import { liftBase64 } from './lift-base64.ts'
import { createListener, type Listener } from './listener.ts'
import type { Call, MakeRemember, Operation } from './operation.ts'
import { isOperator, requireOperator } from './operator.ts'
import { perform } from './perform.ts'
import { createRateLimit, type RateLimit, writeRateHeaders } from './rate-limit.ts'
import { parseBody, parseQuery, readBytes, SMALL_BYTES } from './read.ts'
import { createRoutes, type Dialect, type Page, type Route } from './route-table.ts'
import { sessionPages } from './session-pages.ts'
import { createSessions } from './sessions.ts'
import type { Streams } from './streams.ts'

export interface ApiOptions {
  operations: Operation[]
  /** Answered without a key, outside /v1: documents, metrics, the dashboard. */
  pages?: Page[]
  /** Other services' APIs, answered by the same operations. */
  dialects?: Dialect[]
  store: Store
  clock: WallClock
  random: Random
  mintId: MintId
  plans: (name: string) => Plan | undefined
  limits: { bodyBytes: number }
  clientAddress: ClientAddress
  /** Only where all requests come through a proxy that speaks TLS. */
  clearDoor?: ClearDoor
  /** Whether the operator can sign in with a browser; yes unless said. */
  hasSessions?: boolean
  /** Whether browsers reach us by https; no unless said. */
  isSecure?: () => boolean
  log: Log
  /** How long browsers are to use HTTPS alone, said in answers by HTTPS; 0: not said. */
  hstsSeconds?: number
  /** Tells of file descriptors from time to time, until what it returns is called; while they are short no connections
   *  are taken. */
  watchDescriptors?: (tell: (supply: Supply) => void) => () => void
  /** What large bodies and answers ask for a place; while it is short, keys are not even looked at. Ample unless told. */
  memory?: Memory
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
  readonly once: Once
  /** Refuses new requests with 503, lets those under way finish for at most `withinMs`, then closes every connection. */
  stop(withinMs: number): Promise<void>
}

/** The HTTP API: THE FLOW of every request, in the contract's order of checks (§1).
 *
 *  Nothing of a request is read before its key is known to be valid, and its body not before the key may do what it
 *  asks for. A request that fails at any step leaves nothing behind; one that succeeded is durable before it is
 *  answered, so an answer that is lost on the way may be asked for again with its Idempotency-Key. */
export function createApi(options: ApiOptions): Api {
  const { store, clock, random, log, limits, memory = ampleMemory, hasSessions = true } = options
  const auth = createAuth(store.apiKeys)
  const sessions = createSessions(store)
  const rateLimit = createRateLimit({ organizations: store.organizations, plans: options.plans })
  const once = createOnce({ records: store.idempotency, clock: clock.steady })
  const idempotency = createIdempotency({ once, random })
  const largeBodies = createLargeBodies({ clock: clock.steady, memory })
  const largeAnswers = createLargeAnswers({ clock: clock.steady, memory })
  const audit = createAudit({ auditLog: store.auditLog, mintId: options.mintId, log })
  let isStopping = false
  let underWay = 0
  let onIdle = () => {}

  /** Of keys and of sessions. */
  const flushUses = async () => {
    await Promise.all([auth.flushUses(), sessions.flushSeen()])
  }

  async function serve(request: Request, params: Params, route: Route): Promise<Response> {
    const startedAt = clock.steady.now()
    const exchange = openExchange(request)
    underWay++
    const response = await flow(request, params, route, exchange, clock.now()).catch((thrown) => {
      return refuse(thrown, route, exchange, request)
    })
    underWay--
    if (underWay === 0) onIdle()
    const operation = exchange.operation?.id ?? route.path // never the path itself: it may hold an address
    const { status } = response
    const durationMs = clock.steady.now() - startedAt
    options.answered?.({ operation, status, durationMs })
    log.info('request', {
      request_id: exchange.requestId,
      method: request.method,
      operation,
      status,
      key_id: exchange.key?.id,
      duration_ms: durationMs,
    })
    return response
  }

  async function flow(request: Request, params: Params, route: Route, exchange: Exchange, now: number) {
    const away = options.clearDoor?.turnAway(request, peerOf(request), !route.guarded) ?? null
    if (away !== null) return withRequestId(away, exchange)
    if (!route.guarded) return answerPage(request, params, route, exchange)
    if (isStopping) throw stopping()
    if (memory.isShort()) throw unavailable('this server is short of memory, try again soon')

    const { key, session } = identify(request, now)
    exchange.key = key
    spendRate(key, session, exchange, now)
    const operation = requireMethod(route, route.operations.get(request.method))
    exchange.operation = operation
    const call = createCall(request, params, key, exchange.requestId, now, () => isLetIn(request))
    const answered = () => answer(request, operation, call, exchange)
    return audit(operation, call, () => originOf(request, key), answered)
  }

  /** Who asks; throws when that is nobody we know. */
  function identify(request: Request, now: number) {
    const session = hasSessions ? sessions.of(request, now) : null
    const { headers } = request
    const key = session === null ? auth.authenticate(headers.get('authorization'), now) : sessions.keyOf(request, now)
    return { key, session }
  }

  function isLetIn(request: Request): boolean {
    try {
      identify(request, clock.now())
      return true
    } catch {
      return false
    }
  }

  /** What follows once it is known who asks for what. */
  async function answer(request: Request, operation: Operation, call: Call, exchange: Exchange): Promise<Response> {
    requirePermission(call.key, operation)
    if (isOperator(call.key)) await sessions.requireTenant(call.key, operation)
    const held = largeBodies.open(request, call.key.id)
    const large = largeAnswers.open(request, call.key.id)
    call.enter = large.enter
    let bytes = NO_BYTES
    try {
      if (operation.body !== undefined) {
        bytes = await readBytes(request, limits.bodyBytes, clock.steady, held.enter)
        if (bytes.byteLength > SMALL_BYTES) await held.begin(bytes.byteLength)
      }
      return await answerTo(bytes, request, operation, call, exchange, large)
    } finally {
      held.leave(bytes.byteLength)
      large.leave()
    }
  }

  async function answerTo(
    bytes: Uint8Array,
    request: Request,
    operation: Operation,
    call: Call,
    exchange: Exchange,
    large: LargeAnswer,
  ) {
    const work = (remember: MakeRemember) =>
      perform(operation, call, {
        query: () => parseQuery(operation, request.url),
        body: () => bodyOf(bytes, request, operation),
        remember,
      })
    const idempotencyKey = operation.idempotent ? request.headers.get('idempotency-key') : null
    if (idempotencyKey === null) {
      const answered = await work(rememberNothing)
      const { body } = answered
      if (body instanceof ReadableStream) return begin({ ...answered, body }, request, exchange)
      const rendered = render(answered)
      const slices = large.slicesOf(rendered.body)
      return slices === null ? send(rendered, exchange) : begin({ ...rendered, body: slices }, request, exchange)
    }
    const { rendered, replayed } = await idempotency.run({ operation, call, idempotencyKey, body: bytes }, work)
    call.isReplayed = replayed
    if (replayed) exchange.headers['idempotent-replayed'] = 'true'
    return send(rendered, exchange)
  }

  /** What is large is read one after another, a piece in each turn, so that others have theirs. */
  function bodyOf(bytes: Uint8Array, request: Request, operation: Operation): unknown {
    const { base64At } = operation
    if (base64At === undefined || bytes.byteLength <= SMALL_BYTES) return parseBody(operation, request, bytes)
    return largeBodies.inTurn(async () => {
      const { json, put } = await liftBase64(bytes, base64At)
      return parseBody(operation, request, json, put)
    })
  }

  function originOf(request: Request, key: ApiKey): Origin {
    return {
      actor: isOperator(key)
        ? { type: 'operator', id: key.id, name: 'dashboard' }
        : { type: 'api_key', id: key.id, name: key.name },
      ipAddress: options.clientAddress(peerOf(request), request.headers.get('x-forwarded-for')) || null,
    }
  }

  const peerOf = (request: Request) => {
    const known = nameless.get(request) ?? request
    return listeners.reduce<string | null>((found, listener) => found ?? listener.addressOf(known), null)
  }

  async function answerPage(request: Request, params: Params, route: Route, exchange: Exchange) {
    const page = requireMethod(route, route.pages.get(request.method))
    if (isStopping && !page.whileStopping) throw stopping()
    return withRequestId(await page.handle(request, params, () => peerOf(request)), exchange)
  }

  function spendRate(key: ApiKey, session: Session | null, exchange: Exchange, now: number): void {
    const rate = session === null ? rateLimit.take(key, now) : rateLimit.takeOperator(session.id, now)
    writeRateHeaders(exchange.headers, rate)
    if (rate.allowed) return
    throw new Refusal('rate_limited', `more than ${rate.limit} requests a minute`, {
      retryAfterSeconds: rate.resetSeconds,
    })
  }

  function refuse(thrown: unknown, route: Route | null, exchange: Exchange, request: Request): Response {
    const refusal = toRefusal(thrown)
    if (refusal !== thrown) {
      const operation = exchange.operation?.id ?? route?.path
      log.error('request failed', { request_id: exchange.requestId, operation, error: thrown })
    }
    const headers = headersOf(refusal)
    if (refusal.reason === 'method_not_allowed' && route !== null) headers.allow = route.allow
    const own = { status: STATUS_OF[refusal.reason], body: toBody(refusal, exchange.requestId) }
    const { status, body } = route?.dialect?.refuse(refusal, request) ?? own
    return send({ status, body: JSON.stringify(body), contentType: JSON_TYPE, headers }, exchange)
  }

  /** The client's own request id if it is sane, so that its logs and ours meet; else a new one. */
  function openExchange(request: Request): Exchange {
    const given = request.headers.get('x-request-id')
    const requestId = given !== null && SANE_REQUEST_ID.test(given) ? given : options.mintId('req')
    return { requestId, operation: null, key: null, headers: { 'x-request-id': requestId } }
  }

  const app = new Elysia({
    systemRouter: false, // one router for sockets and for fetch()
    // Or every path is unknown to callers whose Host has fewer than four characters, like `api` in a closed network.
    handler: { standardHostname: false },
  })
  // HTTP/1.0 without a Host: the URL is a path alone, in which neither the router nor `new URL` finds its way.
  const nameless = new WeakMap<Request, Request>()
  app.wrap((answer) => (request: Request) => {
    if (!request.url.startsWith('/')) return answer(request)
    const named = new Request(`http://localhost${request.url}`, request)
    nameless.set(named, request)
    return answer(named)
  })
  // The last net, for what Elysia itself could not do with a request.
  app.onError(({ error, request }) => refuse(error, null, openExchange(request), request))
  const listeners: Listener[] = []
  const addListener = (answer: (request: Request) => Response | Promise<Response>) => {
    const listener = createListener({
      fetch: answer,
      // Bun's own 413 has no body; ours comes first for everything up to four times the limit.
      maxBodyBytes: limits.bodyBytes * 4 + 1_048_576,
      idleSeconds: 60, // slow uploads, and `Prefer: wait` of up to 30 s
      watch: options.watchDescriptors ?? (() => () => {}),
      onShut: () => {
        options.streams?.end()
        log.warn('file descriptors are short: no HTTP connections are taken for the moment')
      },
    })
    listeners.push(listener)
    return listener
  }
  const answerPlain = (request: Request) => app.fetch(request)
  const answerSecure = (request: Request) => {
    // The router looks for the path behind `http://` (standardHostname above), where `https://` has a slash more.
    Object.defineProperty(request, 'url', { value: request.url.replace(/^https:/, 'http:') })
    return app.fetch(request)
  }
  const answerStrictly = async (request: Request) => {
    const response = await answerSecure(request)
    response.headers.set('strict-transport-security', `max-age=${options.hstsSeconds}`)
    return response
  }
  const health = healthPages({ store, isReady: options.isReady, isStopping: () => isStopping })
  const documents = documentPages(options.operations, VERSION)
  const { isSecure = () => false } = options
  const signIn = hasSessions ? sessionPages({ ...options, sessions, isSecure }) : []
  const pages = [...health, ...documents, ...signIn, ...(options.pages ?? [])]
  for (const route of createRoutes(options.operations, pages, options.dialects)) {
    app.all(route.path, ({ request, params }) => serve(request, params ?? {}, route), { parse: 'none' })
  }

  return {
    async listen(at, certificate) {
      app.compile()
      const answer = certificate === undefined ? answerPlain : options.hstsSeconds ? answerStrictly : answerSecure
      return addListener(answer).open(at, certificate)
    },
    useCertificate: (certificate) => {
      for (const listener of listeners) listener.useCertificate(certificate)
    },
    fetch: async (request) => app.handle(request),
    underWay: () => underWay,
    auth: { ...auth, flushUses },
    rateLimit,
    once,
    async stop(withinMs) {
      isStopping = true
      const closed = Promise.all(listeners.map((listener) => listener.close()))
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve
        if (underWay === 0) resolve()
      })
      const nap = new AbortController()
      // A client that does not read would keep its stream open however it was ended.
      const hadStreams = options.streams?.close() ?? false
      const left = hadStreams ? Promise.race([closed, clock.sleep(STREAM_END_MS, nap.signal)]) : closed
      await Promise.race([Promise.all([idle, left]), clock.sleep(withinMs, nap.signal)])
      nap.abort()
      await Promise.all(listeners.map((listener) => listener.cut()))
      await flushUses()
    },
  }
}

type Params = Record<string, string>

/** Enough for the last bytes of a stream to get out. */
const STREAM_END_MS = 500
const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/
const NO_BYTES: Uint8Array = new Uint8Array(0)
const rememberNothing: MakeRemember = () => undefined

function stopping(): Refusal {
  return unavailable('this server is shutting down')
}

/** What stands for the request's method; 404 where there is nothing at all, 405 where there is something else. */
function requireMethod<T>(route: Route, found: T | undefined): T {
  if (found !== undefined) return found
  if (route.allow === '') throw new Refusal('not_found', 'there is nothing at this path')
  throw new Refusal('method_not_allowed', `this path takes ${route.allow}`)
}

function requirePermission(key: ApiKey, operation: Operation): void {
  requireOperator(key, operation)
  if (allows(key.permissions, operation.permission)) return
  throw new Refusal('forbidden', `this key lacks the permission ${operation.permission}`, {
    details: { required: operation.permission, held: key.permissions },
  })
}

function createCall(
  request: Request,
  params: Params,
  key: ApiKey,
  requestId: string,
  now: number,
  holds: () => boolean,
): Call {
  // A segment that is not decodable comes as null; it names nothing.
  for (const name in params) params[name] ??= ''
  return {
    key,
    organizationId: key.organizationId,
    requestId,
    now,
    params,
    headers: request.headers,
    get signal() {
      return request.signal
    },
    holds,
  }
}
