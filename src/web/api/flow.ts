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
import { createAudit } from './audit.ts'
import { type Auth, type Caller, createAuthentication } from './authentication.ts'
import { headersOf, STATUS_OF, toBody, toRefusal, unavailable } from './errors.ts'
import { type Exchange, openExchange, send, withRequestId } from './exchange.ts'
import { createIdempotency } from './idempotency.ts'
import type { IncomingBodies } from './incoming-body.ts'
import { createLargeResponses } from './large-responses.ts'
import type { Makers } from './makers.ts'
import { isAudited } from './operation.ts'
import { createOrganizationTurns } from './organization-turns.ts'
import { createCall } from './perform.ts'
import type { PlaintextGuard } from './plaintext-guard.ts'
import { type RateLimit, writeRateHeaders } from './rate-limit.ts'
import { createRefusalDelay, type RefusalDelay } from './refusal-delay.ts'
import { JSON_TYPE } from './rendered-response.ts'
import { createRequestBodies } from './request-body.ts'
import { type RespondDeps, respond, respondAudited } from './respond.ts'
import { type Params, type Route, requireMethod } from './route-table.ts'
import { respondRpc } from './rpc.ts'
import type { DashboardSessions } from './sessions.ts'
import { createWaitingLines } from './waiting-lines.ts'

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

/** Serves requests that the router has matched to a route. */
export interface Flow {
  /** Request, path parameters and route → response. Errors become error responses. Never rejects. */
  serve(request: Request, params: Params, route: Route): Promise<Response>
  /** Thrown value → the error response for a request that failed before it reached `serve`. Never throws. */
  fail(thrown: unknown, request: Request): Response
  /** Number of requests in progress. */
  underWay(): number
  /** True after `drain` was called. */
  isStopping(): boolean
  /** From now on, rejects new requests with 503, except for pages with `whileStopping`. Resolves when no request is in
   *  progress. */
  drain(): Promise<void>
}

/** Creates the request pipeline. Each request passes these steps in order:
 *
 *  - in this file: authentication, rate limit, method;
 *  - in rpc.ts, for an RPC API: reading its message, which names the operation;
 *  - in respond.ts: audit log, permission, reading the body, idempotency key;
 *  - in perform.ts: loading the resource, parsing query and body, the operation.
 *
 *  Path, query and body are not used before the key is authenticated, and the body is not read before the permission is
 *  checked. A request that fails at any step changes nothing. A change is durable before its response is sent, so a
 *  client that does not receive the response can repeat the request with its Idempotency-Key. */
export function createFlow(options: FlowOptions): Flow {
  const { clock, log, mintId } = options
  const state = { isStopping: false, underWay: 0, onIdle: () => {} }
  const steps = createSteps(options, () => state.isStopping)

  async function serve(request: Request, params: Params, route: Route): Promise<Response> {
    const startedAt = clock.steady.now()
    const exchange = openExchange(request, mintId)
    state.underWay++
    const response = await handle(request, params, { route, exchange, steps }).catch((thrown) =>
      refuse(thrown, request, { route, exchange, log }),
    )
    state.underWay--
    if (state.underWay === 0) state.onIdle()
    // The path pattern, because the path itself may contain an email address.
    const operation = exchange.operation?.id ?? route.path
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

  return {
    serve,
    fail: (thrown, request) => refuse(thrown, request, { route: null, exchange: openExchange(request, mintId), log }),
    underWay: () => state.underWay,
    isStopping: () => state.isStopping,
    drain: () => {
      state.isStopping = true
      return new Promise((resolve) => {
        state.onIdle = resolve
        if (state.underWay === 0) resolve()
      })
    },
  }
}

/** Dependencies of the pipeline steps. */
interface Steps
  extends RespondDeps,
    Pick<FlowOptions, 'clock' | 'memory' | 'incoming' | 'peerOf' | 'plaintextGuard' | 'rateLimit' | 'log'> {
  isStopping: () => boolean
  refusalDelay: RefusalDelay
}

function createSteps(options: FlowOptions, isStopping: () => boolean): Steps {
  const { clock, memory, peerOf, sessions, mintId, log } = options
  return {
    clock,
    memory,
    incoming: options.incoming,
    peerOf,
    plaintextGuard: options.plaintextGuard,
    rateLimit: options.rateLimit,
    log,
    refusalDelay: createRefusalDelay(clock.steady),
    sessions,
    isStopping,
    authentication: createAuthentication({
      auth: options.auth,
      makers: options.makers,
      sessions,
      hasSessions: options.hasSessions,
      clientAddress: options.clientAddress,
      peerOf,
      clock,
    }),
    audit: createAudit({ auditLog: options.store.auditLog, mintId, log }),
    idempotency: createIdempotency({ idempotencyKeys: options.idempotencyKeys, random: options.random }),
    requestBodies: createRequestBodies({
      clock: clock.steady,
      memory,
      incoming: options.incoming,
      heavyWork: options.heavyWork,
      limitBytes: options.limits.bodyBytes,
    }),
    largeResponses: createLargeResponses({ clock: clock.steady, memory }),
    turns: createOrganizationTurns(clock.steady.now),
    lines: createWaitingLines(),
  }
}

async function handle(
  request: Request,
  params: Params,
  { route, exchange, steps }: { route: Route; exchange: Exchange; steps: Steps },
): Promise<Response> {
  const redirect = steps.plaintextGuard?.turnAway(request, steps.peerOf(request), !route.guarded) ?? null
  if (redirect !== null) return withRequestId(redirect, exchange)
  if (!route.guarded) return servePage(request, params, { route, exchange, steps })
  if (steps.isStopping()) throw stopping()
  if (steps.memory.isShort()) throw unavailable('This server is short of memory. Try again in a few seconds.')

  const now = steps.clock.now()
  const caller = await steps.authentication.authenticate(request, now)
  exchange.key = caller.key
  await takeRate(request, caller, { now, exchange, steps })
  if (route.rpcApi !== null) {
    const rpcApi = requireMethod(route, request.method === 'POST' ? route.rpcApi : undefined)
    return respondRpc({ request, caller, exchange, now }, rpcApi, steps)
  }
  const operation = requireMethod(route, route.operations.get(request.method))
  exchange.operation = operation
  const { requestId } = exchange
  const call = createCall(request, params, { ...caller, requestId, now }, steps.authentication)
  const asked = { request, operation, call, exchange }
  return isAudited(operation) ? respondAudited(asked, steps) : respond(asked, steps)
}

async function servePage(
  request: Request,
  params: Params,
  {
    route,
    exchange,
    steps,
  }: { route: Route; exchange: Exchange; steps: Pick<Steps, 'isStopping' | 'incoming' | 'peerOf'> },
): Promise<Response> {
  const page = requireMethod(route, route.pages.get(request.method))
  if (steps.isStopping() && !page.whileStopping) throw stopping()
  const readBody = (limit: number) => steps.incoming.readOnce(request, limit, null)
  return withRequestId(await page.handle(request, params, () => steps.peerOf(request), readBody), exchange)
}

/** Counts the request and sets the `RateLimit-*` headers. Throws `rate_limited` above the limit, with a delay if the key
 *  does not respect it. */
async function takeRate(
  request: Request,
  { key, session }: Caller,
  { now, exchange, steps }: { now: number; exchange: Exchange; steps: Pick<Steps, 'rateLimit' | 'refusalDelay'> },
): Promise<void> {
  const { rateLimit, refusalDelay } = steps
  const rate = session === null ? rateLimit.take(key, now) : rateLimit.takeOperator(session.id, now)
  writeRateHeaders(exchange.headers, rate)
  if (rate.allowed) return
  if (session === null) await refusalDelay.wait({ key, refused: rate.refused, sizeBytes: announcedBytes(request) })
  throw new Refusal(
    'rate_limited',
    `More than ${rate.limit} requests per minute. Retry after ${rate.resetSeconds} s.`,
    { retryAfterSeconds: rate.resetSeconds },
  )
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
