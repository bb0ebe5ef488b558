import type { ParsedResponse } from './call.ts'
import { errorOf, PostriderError } from './errors.ts'
import { type Limit, limited } from './limit.ts'
import { parseResponse } from './response.ts'
import { canRetry, pauseMs } from './retry.ts'
import { VERSION } from './routes.ts'
import type { ApiRequest, Wire } from './wire.ts'

/** Sends a request, retries it if that is safe, and resolves with the parsed response. All attempts and pauses together
 *  take at most `timeoutMs`; a pause that would exceed it is not started. Rejects with the PostriderError of the last
 *  attempt. A request with an idempotency key takes effect at most once. */
export async function exchange<T>(wire: Wire, request: ApiRequest): Promise<ParsedResponse<T>> {
  const { clock } = wire
  const endsAt = clock.now() + request.timeoutMs
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptOnce<T>(wire, request, endsAt - clock.now())
    } catch (error) {
      if (!(error instanceof PostriderError) || attempt >= request.maxRetries || !canRetry(error, request.isRepeatable))
        throw error
      const waitMs = pauseMs(error, attempt, clock.random())
      if (clock.now() + waitMs >= endsAt) throw error
      await clock.sleep(waitMs, request.signal ?? NEVER)
      if (request.signal?.aborted) throw aborted(request)
    }
  }
}

/** A signal that is never aborted. */
export const NEVER = new AbortController().signal

async function attemptOnce<T>(wire: Wire, request: ApiRequest, leftMs: number): Promise<ParsedResponse<T>> {
  const limit = limited(wire.clock, leftMs, request.signal)
  try {
    const response = await respond(wire, request, limit)
    // Reading the body counts towards the timeout.
    return parseResponse<T>(response, new Uint8Array(await response.arrayBuffer()), request)
  } catch (error) {
    throw failureOf(error, wire, request, limit)
  } finally {
    limit.end()
  }
}

/** Sends a request once. Resolves with the response, of any status, before its body is read. Throws an `AbortError` if
 *  the signal of the request is aborted already. Rejects with the error of `fetch`. */
export function respond(wire: Wire, request: ApiRequest, limit: Limit): Promise<Response> {
  if (request.signal?.aborted) throw aborted(request)
  return wire.fetch(wire.baseUrl + request.path, {
    method: request.method,
    headers: headersOf(wire, request),
    redirect: 'manual', // following a redirect could send the key to another server
    signal: limit.signal,
    ...(request.body === undefined ? {} : { body: request.body }),
  })
}

/** Thrown value → the PostriderError to throw: the same one, or one for an aborted call, a timeout or a failed
 *  connection. */
export function failureOf(error: unknown, wire: Wire, request: ApiRequest, limit: Limit): PostriderError {
  if (error instanceof PostriderError) return error
  if (request.signal?.aborted) return aborted(request)
  const of = { idempotencyKey: request.idempotencyKey ?? null }
  if (limit.isOver())
    return errorOf({ ...of, code: 'timed_out', message: `No response within ${request.timeoutMs} ms.` })
  return errorOf({ ...of, code: 'connection_failed', message: `No response from ${originOf(wire)}.`, cause: error })
}

function headersOf({ apiKey }: Wire, { body, headers, idempotencyKey }: ApiRequest): Record<string, string> {
  return {
    accept: 'application/json',
    authorization: `Bearer ${apiKey}`,
    'user-agent': `postrider-client/${VERSION}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
    ...headers,
  }
}

/** The `AbortError` of a request whose signal is aborted. */
export function aborted(request: ApiRequest): PostriderError {
  const message = 'The call was aborted by its signal.'
  return errorOf({
    code: 'aborted',
    message,
    cause: request.signal?.reason,
    idempotencyKey: request.idempotencyKey ?? null,
  })
}

const originOf = ({ baseUrl }: Wire) => new URL(baseUrl).origin
