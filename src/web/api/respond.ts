import type { Audit } from './audit.ts'
import type { Authentication } from './authentication.ts'
import { begin, type Exchange, send } from './exchange.ts'
import type { Idempotency } from './idempotency.ts'
import type { LargeResponse, LargeResponses } from './large-responses.ts'
import { type ApiResponse, type Call, isAudited, type MakeRemember, type Operation } from './operation.ts'
import { isPerson } from './operator.ts'
import type { OrganizationTurns } from './organization-turns.ts'
import { loadResource, runHandler } from './perform.ts'
import { parseQuery } from './read.ts'
import { compressed, renderInTurns } from './rendered-response.ts'
import type { RequestBodies, RequestBody } from './request-body.ts'
import { requireRight } from './rights.ts'
import type { DashboardSessions } from './sessions.ts'
import type { WaitingLines } from './waiting-lines.ts'

/** An authenticated request and its operation. */
export interface OperationRequest {
  request: Request
  /** The request that the client sent (CallOrigin). */
  sent: Request
  operation: Operation
  call: Call
  exchange: Exchange
}

export interface ResponderParts {
  authentication: Authentication
  audit: Audit
  sessions: Pick<DashboardSessions, 'requireTenant'>
  requestBodies: RequestBodies
  largeResponses: LargeResponses
  idempotency: Idempotency
  turns: OrganizationTurns
  lines: WaitingLines
}

/** Runs the operations of authenticated requests. */
export class Responder {
  readonly #parts: ResponderParts

  constructor(parts: ResponderParts) {
    this.#parts = parts
  }

  /** Checks the permission, reads the body and runs the operation, once for all requests with the same Idempotency-Key.
   *  The audit log gets an entry if the operation is audited. Resolves with the response. Rejects with a Refusal or the
   *  error of the store. */
  respond(asked: OperationRequest): Promise<Response> {
    const { sent, operation, call } = asked
    if (!isAudited(operation)) return this.#answer(asked)
    const { audit, authentication } = this.#parts
    return audit.record(operation, call, authentication.originOf(sent, call), () => this.#answer(asked))
  }

  async #answer(asked: OperationRequest): Promise<Response> {
    const { sessions, requestBodies, largeResponses } = this.#parts
    const { request, operation, call } = asked
    requireRight(call, operation.access)
    if (isPerson(call.key)) await sessions.requireTenant(call.key, operation)
    const body = requestBodies.open(request, { id: call.key.id, organizationId: call.organizationId })
    const large = largeResponses.open(request, call.organizationId)
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
        ? await this.#runOperation(asked, body, large)
        : await this.#runOnce(asked, body, idempotencyKey)
    } finally {
      body.release()
      large.leave()
    }
  }

  async #runOperation(asked: OperationRequest, body: RequestBody, large: LargeResponse): Promise<Response> {
    const { request, call, exchange } = asked
    call.parts = null
    const response = await this.#performInTurn(asked, body, rememberNothing)
    if (response.body instanceof ReadableStream) return begin({ ...response, body: response.body }, request, exchange)
    const rendered = await renderInTurns(response)
    const slices = large.slicesOf(rendered.body)
    if (slices !== null) return begin({ ...rendered, body: slices }, request, exchange)
    return send(await compressed(rendered, request), exchange)
  }

  async #runOnce(asked: OperationRequest, body: RequestBody, idempotencyKey: string): Promise<Response> {
    const { operation, call, exchange } = asked
    const keyed = { operation, call, idempotencyKey, body: body.bytes() }
    const { rendered, replayed } = await this.#parts.idempotency.run(keyed, (remember) =>
      this.#performInTurn(asked, body, remember),
    )
    call.isReplayed = replayed
    if (replayed) exchange.headers['idempotent-replayed'] = 'true'
    return send(rendered, exchange)
  }

  /** Waits for the organization's turn, if the operation takes one. */
  async #performInTurn(asked: OperationRequest, body: RequestBody, remember: MakeRemember): Promise<ApiResponse> {
    const { operation, call } = asked
    const { turns, lines } = this.#parts
    if (operation.atOnce !== undefined) {
      const line = `${operation.id} ${call.organizationId}`
      await lines.enter(line, operation.atOnce)
      return perform(asked, body, remember).finally(() => lines.leave(line))
    }
    // Reading stored mail may wait for memory, and has limits of its own.
    const takesNone = operation.takesNoTurn === true || operation.reads !== undefined
    const turn = takesNone ? null : turns.enter(call.organizationId, call.bodyBytes ?? 0)
    if (turn === null) return perform(asked, body, remember)
    const endTurn = await turn
    call.endTurn = endTurn
    return perform(asked, body, remember).finally(endTurn)
  }
}

async function perform(
  { request, operation, call }: OperationRequest,
  body: RequestBody,
  remember: MakeRemember,
): Promise<ApiResponse> {
  await loadResource(operation, call)
  const query = parseQuery(operation, request.url)
  return runHandler(operation, call, { query, body: await body.parse(operation) }, remember)
}

const rememberNothing: MakeRemember = () => undefined
