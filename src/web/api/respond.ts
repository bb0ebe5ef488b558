import type { Audit } from './audit.ts'
import type { Authentication } from './authentication.ts'
import { compressed } from './compression.ts'
import { begin, type Exchange, send } from './exchange.ts'
import type { Idempotency } from './idempotency.ts'
import type { LargeResponse, LargeResponses } from './large-responses.ts'
import type { ApiResponse, Call, MakeRemember, Operation } from './operation.ts'
import { isPerson } from './operator.ts'
import type { OrganizationTurns } from './organization-turns.ts'
import { perform } from './perform.ts'
import { parseQuery } from './read.ts'
import { render } from './rendered-response.ts'
import type { RequestBodies, RequestBody } from './request-body.ts'
import { requireRight } from './rights.ts'
import type { DashboardSessions } from './sessions.ts'
import type { WaitingLines } from './waiting-lines.ts'

/** An authenticated request and its operation. */
export interface OperationRequest {
  request: Request
  operation: Operation
  call: Call
  exchange: Exchange
}

export interface RespondDeps {
  authentication: Authentication
  audit: Audit
  sessions: Pick<DashboardSessions, 'requireTenant'>
  requestBodies: RequestBodies
  largeResponses: LargeResponses
  idempotency: Idempotency
  turns: OrganizationTurns
  lines: WaitingLines
}

/** Checks the permission, reads the body and runs the operation, once for all requests with the same Idempotency-Key.
 *  Resolves with the response. Rejects with a Refusal or the error of the store. */
export async function respond(asked: OperationRequest, deps: RespondDeps): Promise<Response> {
  const { request, operation, call } = asked
  requireRight(call, operation.access)
  if (isPerson(call.key)) await deps.sessions.requireTenant(call.key, operation)
  const body = deps.requestBodies.open(request, { id: call.key.id, organizationId: call.organizationId })
  const large = deps.largeResponses.open(request, call.organizationId)
  call.enter = large.enter
  try {
    if (operation.body !== undefined) {
      await body.receive()
      call.bodyBytes = body.heldBytes()
    } else if (request.method !== 'GET') {
      void request.body?.cancel() // Bun would keep a megabyte of it until the response ends
    }
    const idempotencyKey = operation.idempotent ? request.headers.get('idempotency-key') : null
    return idempotencyKey === null
      ? await runOperation(asked, body, large, deps)
      : await runOnce(asked, body, idempotencyKey, deps)
  } finally {
    body.release()
    large.leave()
  }
}

/** Like respond, for an operation that the audit log records. */
export function respondAudited(asked: OperationRequest, deps: RespondDeps): Promise<Response> {
  const { request, operation, call } = asked
  const origin = () => deps.authentication.originOf(request, call)
  return deps.audit(operation, call, origin, () => respond(asked, deps))
}

async function runOperation(
  asked: OperationRequest,
  body: RequestBody,
  large: LargeResponse,
  deps: RespondDeps,
): Promise<Response> {
  const { request, call, exchange } = asked
  call.parts = null
  const response = await performRequest(asked, body, rememberNothing, deps)
  if (response.body instanceof ReadableStream) return begin({ ...response, body: response.body }, request, exchange)
  const rendered = render(response)
  const slices = large.slicesOf(rendered.body)
  if (slices !== null) return begin({ ...rendered, body: slices }, request, exchange)
  return send(await compressed(rendered, request), exchange)
}

async function runOnce(
  asked: OperationRequest,
  body: RequestBody,
  idempotencyKey: string,
  deps: RespondDeps,
): Promise<Response> {
  const { operation, call, exchange } = asked
  const keyed = { operation, call, idempotencyKey, body: body.bytes() }
  const { rendered, replayed } = await deps.idempotency.run(keyed, (remember) =>
    performRequest(asked, body, remember, deps),
  )
  call.isReplayed = replayed
  if (replayed) exchange.headers['idempotent-replayed'] = 'true'
  return send(rendered, exchange)
}

function performRequest(
  { request, operation, call }: OperationRequest,
  body: RequestBody,
  remember: MakeRemember,
  { turns, lines }: RespondDeps,
): Promise<ApiResponse> {
  const work = () =>
    perform(operation, call, {
      query: () => parseQuery(operation, request.url),
      body: () => body.parse(operation),
      remember,
    })
  const { atOnce } = operation
  if (atOnce !== undefined) return lines.run(`${operation.id} ${call.organizationId}`, atOnce, work)
  // Reading stored mail may wait for memory, and has limits of its own.
  if (operation.takesNoTurn === true || operation.reads !== undefined) return work()
  return turns.run(call.organizationId, call.bodyBytes ?? 0, (endTurn) => {
    call.endTurn = endTurn
    return work()
  })
}

const rememberNothing: MakeRemember = () => undefined
