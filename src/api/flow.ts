import { type ApiKey, allows } from '../model/api-key.ts'
import { Refusal } from '../model/refusal.ts'
import type { Session } from '../model/session.ts'
import type { ClientAddress } from '../net/client-address.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { Memory } from '../os/memory.ts'
import type { Random } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import type { HeavyWork } from '../submission/heavy-work.ts'
import type { IdempotencyKeys } from '../submission/idempotency.ts'
import { createAudit, type Origin } from './audit.ts'
import type { Auth } from './auth.ts'
import { createCall } from './call.ts'
import { headersOf, STATUS_OF, toBody, toRefusal, unavailable } from './errors.ts'
import { begin, type Exchange, openExchange, send, withRequestId } from './exchange.ts'
import { extractBase64 } from './extract-base64.ts'
import { createIdempotency } from './idempotency.ts'
import { createLargeBodies } from './large-bodies.ts'
import { createLargeResponses, type LargeResponse } from './large-responses.ts'
import type { Call, MakeRemember, Operation } from './operation.ts'
import { isOperator, requireOperator } from './operator.ts'
import { perform } from './perform.ts'
import type { PlaintextGuard } from './plaintext-guard.ts'
import { type RateLimit, writeRateHeaders } from './rate-limit.ts'
import { parseBody, parseQuery, readBytes, SMALL_BYTES } from './read.ts'
import { JSON_TYPE, render } from './rendered-response.ts'
import { type Params, type Route, requireMethod } from './route-table.ts'
import type { OperatorSessions } from './sessions.ts'

export interface FlowOptions {
  store: Pick<Store, 'auditLog'>
  clock: WallClock
  random: Random
  mintId: MintId
  limits: { bodyBytes: number }
  clientAddress: ClientAddress
  /** The address at the other end of a request's connection; null without a socket. */
  peerOf: (request: Request) => string | null
  plaintextGuard?: PlaintextGuard
  auth: Pick<Auth, 'authenticate'>
  sessions: OperatorSessions
  /** True if the operator can sign in with a browser. */
  hasSessions: boolean
  rateLimit: RateLimit
  once: IdempotencyKeys
  heavyWork: HeavyWork
  log: Log
  memory: Memory
  answered?: (request: { operation: string; status: number; durationMs: number }) => void
}

export interface Flow {
  /** Never rejects. */
  serve(request: Request, params: Params, route: Route): Promise<Response>
  /** Error of a request that matched no route → its response. */
  fail(thrown: unknown, request: Request): Response
  /** Number of requests in progress. */
  underWay(): number
  isStopping(): boolean
  /** Rejects new requests with 503, except pages with `whileStopping`. Resolves when no request is in progress. */
  drain(): Promise<void>
}

/** The pipeline of every request.
 *
 *  The request is not read before its key is verified, and its body not before the key's permission is checked. A
 *  request that fails at any step leaves nothing behind. A successful one is durable before the response is sent, so
 *  after a lost response the caller can repeat it with its Idempotency-Key. */
export function createFlow(options: FlowOptions): Flow {
  const { clock, log, limits, mintId, memory } = options
  const { auth, sessions, hasSessions, rateLimit, once, heavyWork, peerOf } = options
  const idempotency = createIdempotency({ once, random: options.random })
  const largeBodies = createLargeBodies({ clock: clock.steady, memory })
  const largeResponses = createLargeResponses({ clock: clock.steady, memory })
  const audit = createAudit({ auditLog: options.store.auditLog, mintId, log })
  let isStopping = false
  let underWay = 0
  let onIdle = () => {}

  async function serve(request: Request, params: Params, route: Route): Promise<Response> {
    const startedAt = clock.steady.now()
    const exchange = openExchange(request, mintId)
    underWay++
    const response = await flow(request, params, route, exchange, clock.now()).catch((thrown) => {
      return refuse(thrown, route, exchange, request)
    })
    underWay--
    if (underWay === 0) onIdle()
    const operation = exchange.operation?.id ?? route.path // not the path: it may contain an address
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
    const away = options.plaintextGuard?.turnAway(request, peerOf(request), !route.guarded) ?? null
    if (away !== null) return withRequestId(away, exchange)
    if (!route.guarded) return answerPage(request, params, route, exchange)
    if (isStopping) throw stopping()
    if (memory.isShort()) throw unavailable('This server is short of memory. Try again in a few seconds.')

    const { key, session } = identify(request, now)
    exchange.key = key
    spendRate(key, session, exchange, now)
    const operation = requireMethod(route, route.operations.get(request.method))
    exchange.operation = operation
    const call = createCall(request, params, key, exchange.requestId, now, () => isAllowed(request))
    const answered = () => answer(request, operation, call, exchange)
    return audit(operation, call, () => originOf(request, key), answered)
  }

  /** Identifies the caller; throws for unknown callers. */
  function identify(request: Request, now: number) {
    const session = hasSessions ? sessions.of(request, now) : null
    const { headers } = request
    const addressOf = () => options.clientAddress(peerOf(request), headers.get('x-forwarded-for'))
    const key =
      session === null ? auth.authenticate(headers.get('authorization'), now, addressOf) : sessions.keyOf(request, now)
    return { key, session }
  }

  function isAllowed(request: Request): boolean {
    try {
      identify(request, clock.now())
      return true
    } catch (thrown) {
      if (thrown instanceof Refusal) return false
      throw thrown // an unreadable store says nothing about the key
    }
  }

  /** The steps after caller and operation are known. */
  async function answer(request: Request, operation: Operation, call: Call, exchange: Exchange): Promise<Response> {
    requirePermission(call.key, operation)
    if (isOperator(call.key)) await sessions.requireTenant(call.key, operation)
    const held = largeBodies.open(request, call.organizationId)
    const large = largeResponses.open(request, call.organizationId)
    call.enter = large.enter
    let bytes = NO_BYTES
    try {
      if (operation.body !== undefined) {
        bytes = await readBytes(request, limits.bodyBytes, clock.steady, held.enter)
        call.bodyBytes = heldBy(bytes, request, limits.bodyBytes)
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
    large: LargeResponse,
  ) {
    const work = (remember: MakeRemember) =>
      perform(operation, call, {
        query: () => parseQuery(operation, request.url),
        body: () => bodyOf(bytes, request, operation, call.organizationId),
        remember,
      })
    const idempotencyKey = operation.idempotent ? request.headers.get('idempotency-key') : null
    if (idempotencyKey === null) {
      call.parts = null
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

  /** Large bodies are read one after another, a piece per turn of the event loop, and limited per organization. */
  function bodyOf(bytes: Uint8Array, request: Request, operation: Operation, organizationId: string): unknown {
    const { base64At } = operation
    if (bytes.byteLength <= SMALL_BYTES) return parseBody(operation, request, bytes)
    if (base64At === undefined) return heavyWork.run(organizationId, async () => parseBody(operation, request, bytes))
    return heavyWork.run(organizationId, () =>
      largeBodies.inTurn(async () => {
        const { json, put } = await extractBase64(bytes, base64At)
        return parseBody(operation, request, json, put)
      }),
    )
  }

  function originOf(request: Request, key: ApiKey): Origin {
    return {
      actor: isOperator(key)
        ? { type: 'operator', id: key.id, name: 'dashboard' }
        : { type: 'api_key', id: key.id, name: key.name },
      ipAddress: options.clientAddress(peerOf(request), request.headers.get('x-forwarded-for')) || null,
    }
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
    throw new Refusal(
      'rate_limited',
      `More than ${rate.limit} requests per minute. Retry after ${rate.resetSeconds} s.`,
      {
        retryAfterSeconds: rate.resetSeconds,
      },
    )
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
    const { status, body } = route?.compatApi?.refuse(refusal, request) ?? own
    return send({ status, body: JSON.stringify(body), contentType: JSON_TYPE, headers }, exchange)
  }

  return {
    serve,
    fail: (thrown, request) => refuse(thrown, null, openExchange(request, mintId), request),
    underWay: () => underWay,
    isStopping: () => isStopping,
    drain: () => {
      isStopping = true
      return new Promise((resolve) => {
        onIdle = resolve
        if (underWay === 0) resolve()
      })
    },
  }
}

/** A large body of unknown size reserves memory for the largest (read.ts). */
function heldBy({ byteLength }: Uint8Array, { headers }: Request, limit: number): number {
  return byteLength > SMALL_BYTES && !headers.has('content-length') ? limit : byteLength
}

const NO_BYTES: Uint8Array = new Uint8Array(0)
const rememberNothing: MakeRemember = () => undefined

function stopping(): Refusal {
  return unavailable('This server is shutting down. Try again in a few seconds.')
}

function requirePermission(key: ApiKey, operation: Operation): void {
  requireOperator(key, operation)
  if (!allows(key.permissions, operation.permission)) {
    throw new Refusal('forbidden', `This key lacks the permission ${operation.permission}.`, {
      details: { required: operation.permission, held: key.permissions },
    })
  }
  if (operation.testKey === 'refused' && key.mode === 'test' && !isOperator(key)) {
    throw new Refusal('forbidden', 'Test keys cannot do this because it affects live mail. Use a live key.', {
      details: { required_mode: 'live', mode: key.mode },
    })
  }
}
