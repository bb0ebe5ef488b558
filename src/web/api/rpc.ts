import type { Log } from '../../os/log.ts'
import { type Authentication, type Caller, unauthorized } from './authentication.ts'
import { toBody, toRefusal } from './errors.ts'
import { type Exchange, send } from './exchange.ts'
import { createCall } from './perform.ts'
import type { Responder } from './respond.ts'
import type { RpcApi, RpcCall } from './route-table.ts'

/** An authenticated request to an RPC API. */
interface RpcRequest {
  request: Request
  caller: Caller
  exchange: Exchange
  /** Time of the request in ms UTC. */
  now: number
}

/** What an RPC request uses of the pipeline. */
interface RpcParts {
  responder: Responder
  authentication: Authentication
  log: Log
}

/** Reads which operation the request calls and runs it as a request to /v1 does: permission, idempotency key, audit log
 *  and limits are those of respond.ts. Resolves with the response, also if the operation refuses. Rejects with a Refusal
 *  if the request calls no operation or comes from a dashboard session. */
export async function respondRpc(
  { request, caller, exchange, now }: RpcRequest,
  api: RpcApi,
  parts: RpcParts,
): Promise<Response> {
  // A browser sends the cookie of a session by itself, but never a key.
  if (caller.session !== null) throw unauthorized()
  const read = await api.read(request, caller)
  if (!('operation' in read)) return send(read, exchange)
  const { operation } = read
  exchange.operation = operation
  try {
    return send(read.answer(await resultOf(read, { request, caller, exchange, now }, parts)), exchange)
  } catch (thrown) {
    const refusal = toRefusal(thrown)
    const { requestId } = exchange
    if (refusal !== thrown) {
      parts.log.error('request failed', { request_id: requestId, operation: operation.id, error: thrown })
    }
    return send(read.refuse(toBody(refusal, requestId)), exchange)
  }
}

/** Runs the operation and resolves with the JSON body of its response. Rejects as Responder.respond does. */
async function resultOf(
  { operation, open }: RpcCall,
  { request, caller, exchange, now }: RpcRequest,
  { responder, authentication }: RpcParts,
): Promise<unknown> {
  const { params, request: made } = open()
  const origin = { ...caller, requestId: exchange.requestId, now, sent: request }
  const call = createCall(made, params, origin, authentication)
  const own = { ...exchange, headers: {} }
  const response = await responder.respond({ request: made, sent: request, operation, call, exchange: own })
  // A replay runs no handler; its response is the stored text.
  if (call.answer === undefined) return response.json()
  await response.body?.cancel()
  return call.answer.body
}
