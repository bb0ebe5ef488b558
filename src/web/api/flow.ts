import { Refusal } from '../../model/refusal.ts'
import type { ClientAddress } from '../../net/client-address.ts'
import type { WallClock } from '../../os/clock.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import type { Memory } from '../../os/memory.ts'
import type { Random } from '../../os/random.ts'
import type { HeavyWork } from '../../sending/submission/heavy-work.ts'
import type { IdempotencyKeys } from '../../sending/submission/idempotency.ts'
import type { Store } from '../../storage/store.ts'
import { Audit } from './audit.ts'
import { type Auth, Authentication, type Caller } from './authentication.ts'
import { headersOf, STATUS_OF, toBody, toRefusal, unavailable } from './errors.ts'
import { type Exchange, openExchange, send, withRequestId } from './exchange.ts'
import { Idempotency } from './idempotency.ts'
import type { IncomingBodies } from './incoming-body.ts'
import { createLargeResponses } from './large-responses.ts'
import type { Makers } from './makers.ts'
import { OrganizationTurns } from './organization-turns.ts'
import { createCall } from './perform.ts'
import type { PlaintextGuard } from './plaintext-guard.ts'
import { type RateLimit, writeRateHeaders } from './rate-limit.ts'
import { createRefusalDelay, type RefusalDelay } from './refusal-delay.ts'
import { JSON_TYPE } from './rendered-response.ts'
import { createRequestBodies } from './request-body.ts'
import { Responder } from './respond.ts'
import { type Params, type Route, requireMethod } from './route-table.ts'
import { respondRpc } from './rpc.ts'
import type { DashboardSessions } from './sessions.ts'
import { WaitingLines } from './waiting-lines.ts'

export interface FlowOptions {
  store: Pick<Store, 'auditLog'>
  clock: WallClock
  random: Random
  mintId: MintId
  /** Maximum size of a request body. */
  limits: { bodyBytes: number }
  clientAddress: ClientAddress
  /** Remote address of a request's connection; null without a socket. */
  peerOf: (request: Request) => string | null
  plaintextGuard?: PlaintextGuard
  auth: Pick<Auth, 'authenticate'>
  makers: Makers
  sessions: DashboardSessions
  /** If false, session cookies are ignored. */
  hasSessions: boolean
  rateLimit: RateLimit
  idempotencyKeys: IdempotencyKeys
  incoming: IncomingBodies
  heavyWork: HeavyWork
  log: Log
  memory: Memory
  /** Called after every response. `operation` is the operation ID, or the path pattern if there is none. */
  answered?: (request: { operation: string; status: number; durationMs: number }) => void
}

/** A matched request: what the router found, and its response so far. */
interface Matched {
  request: Request
  params: Params
  route: Route
  exchange: Exchange
}

/** The request pipeline. Each request that the router has matched to a route passes these steps in order:
 *
 *  - in this file: authentication, rate limit, method;
 *  - in rpc.ts, for an RPC API: reading its message, which names the operation;
 *  - in respond.ts: audit log, permission, reading the body, idempotency key, the organization's turn;
 *  - in perform.ts: loading the resource, and after parsing query and body the operation.
 *
 *  Path, query and body are not used before the key is authenticated, and the body is not read before the permission is
 *  checked. A request that fails at any step changes nothing. A change is durable before its response is sent, so a
 *  client that does not receive the response can repeat the request with its Idempotency-Key. */
export class Flow {
  readonly #options: FlowOptions
  readonly #authentication: Authentication
  readonly #responder: Responder
  readonly #refusalDelay: RefusalDelay
  #isStopping = false
  #underWay = 0
  #onIdle = () => {}

  constructor(options: FlowOptions) {
    const { clock, memory, sessions, mintId, log } = options
    this.#options = options
    this.#authentication = new Authentication(options)
    this.#refusalDelay = createRefusalDelay(clock.steady)
    this.#responder = new Responder({
      authentication: this.#authentication,
      audit: new Audit({ auditLog: options.store.auditLog, mintId, log }),
      sessions,
      requestBodies: createRequestBodies({
        clock: clock.steady,
        memory,
        incoming: options.incoming,
        heavyWork: options.heavyWork,
        limitBytes: options.limits.bodyBytes,
      }),
      largeResponses: createLargeResponses({ clock: clock.steady, memory }),
      idempotency: new Idempotency(options.idempotencyKeys, options.random),
      turns: new OrganizationTurns(clock.steady.now),
      lines: new WaitingLines(),
    })
  }

  /** Request, path parameters and route → response. Errors become error responses. Never rejects. */
  async serve(request: Request, params: Params, route: Route): Promise<Response> {
    const { clock, log, mintId, answered } = this.#options
    const startedAt = clock.steady.now()
    const exchange = openExchange(request, mintId)
    this.#underWay++
    const response = await this.#handle({ request, params, route, exchange }).catch((thrown) =>
      refuse(thrown, request, { route, exchange, log }),
    )
    this.#underWay--
    if (this.#underWay === 0) this.#onIdle()
    // The path pattern, because the path itself may contain an email address.
    const operation = exchange.operation?.id ?? route.path
    const { status } = response
    const durationMs = clock.steady.now() - startedAt
    answered?.({ operation, status, durationMs })
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

  /** Thrown value → the error response for a request that failed before it reached `serve`. Never throws. */
  fail(thrown: unknown, request: Request): Response {
    const { mintId, log } = this.#options
    return refuse(thrown, request, { route: null, exchange: openExchange(request, mintId), log })
  }

  /** Number of requests in progress. */
  underWay(): number {
    return this.#underWay
  }

  /** True after `drain` was called. */
  isStopping(): boolean {
    return this.#isStopping
  }

  /** From now on, rejects new requests with 503, except for pages with `whileStopping`. Resolves when no request is in
   *  progress. */
  drain(): Promise<void> {
    this.#isStopping = true
    return new Promise((resolve) => {
      this.#onIdle = resolve
      if (this.#underWay === 0) resolve()
    })
  }

  async #handle(matched: Matched): Promise<Response> {
    const { request, params, route, exchange } = matched
    const { clock, memory, plaintextGuard, peerOf, log } = this.#options
    const redirect = plaintextGuard?.turnAway(request, peerOf(request), !route.guarded) ?? null
    if (redirect !== null) return withRequestId(redirect, exchange)
    if (!route.guarded) return this.#servePage(matched)
    if (this.#isStopping) throw stopping()
    if (memory.isShort()) throw unavailable('This server is short of memory. Try again in a few seconds.')

    const now = clock.now()
    const caller = await this.#authentication.authenticate(request, now)
    exchange.key = caller.key
    await this.#takeRate(matched, caller, now)
    const [responder, authentication] = [this.#responder, this.#authentication]
    if (route.rpcApi !== null) {
      const rpcApi = requireMethod(route, request.method === 'POST' ? route.rpcApi : undefined, request)
      return respondRpc({ request, caller, exchange, now }, rpcApi, { responder, authentication, log })
    }
    const operation = requireMethod(route, route.operations.get(request.method), request)
    exchange.operation = operation
    const { requestId } = exchange
    const call = createCall(request, params, { ...caller, requestId, now, sent: request }, authentication)
    return responder.respond({ request, sent: request, operation, call, exchange })
  }

  async #servePage({ request, params, route, exchange }: Matched): Promise<Response> {
    const { incoming, peerOf } = this.#options
    const page = requireMethod(route, route.pages.get(request.method), request)
    if (this.#isStopping && !page.whileStopping) throw stopping()
    const readBody = (limit: number) => incoming.readOnce(request, limit, null)
    return withRequestId(await page.handle(request, params, () => peerOf(request), readBody), exchange)
  }

  /** Counts the request and sets the `RateLimit-*` headers. Throws `rate_limited` above the limit, with a delay if the key
   *  does not respect it. */
  async #takeRate({ request, exchange }: Matched, { key, session }: Caller, now: number): Promise<void> {
    const { rateLimit } = this.#options
    const rate = session === null ? rateLimit.take(key, now) : rateLimit.takeOperator(session.id, now)
    writeRateHeaders(exchange.headers, rate)
    if (rate.allowed) return
    if (session === null) {
      await this.#refusalDelay.wait({ key, refused: rate.refused, sizeBytes: announcedBytes(request) })
    }
    throw new Refusal(
      'rate_limited',
      `More than ${rate.limit} requests per minute. Retry after ${rate.resetSeconds} s.`,
      { retryAfterSeconds: rate.resetSeconds },
    )
  }
}

/** Size of the body; Infinity if the request does not say it in digits. */
function announcedBytes({ headers, body }: Request): number {
  if (body === null) return 0
  const announced = headers.get('content-length') ?? ''
  return /^\d{1,15}$/.test(announced) ? Number(announced) : Number.POSITIVE_INFINITY
}

/** Thrown value → error response. Logs it unless it is a Refusal. */
function refuse(
  thrown: unknown,
  request: Request,
  { route, exchange, log }: { route: Route | null; exchange: Exchange; log: Log },
): Response {
  const refusal = toRefusal(thrown)
  if (refusal !== thrown) {
    const operation = exchange.operation?.id ?? route?.path
    log.error('request failed', { request_id: exchange.requestId, operation, error: thrown })
  }
  const headers = headersOf(refusal)
  if (refusal.reason === 'method_not_allowed' && route !== null) headers.allow = route.allow
  const own = { status: STATUS_OF[refusal.reason], body: toBody(refusal, exchange.requestId) }
  const { status, body } = (route?.compatApi ?? route?.rpcApi)?.refuse(refusal, request) ?? own
  return send({ status, body: JSON.stringify(body), contentType: JSON_TYPE, headers }, exchange)
}

function stopping(): Refusal {
  return unavailable('This server is shutting down. Try again in a few seconds.')
}
