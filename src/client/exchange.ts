import type { ParsedResponse } from './call.ts'
import { errorOf, PostriderError } from './errors.ts'
import { type Limit, limited } from './limit.ts'
import { parseResponse } from './response.ts'
import { mayGoAgain, pauseMs } from './retry.ts'
import { VERSION } from './routes.ts'
import type { Ask, Wire } from './wire.ts'

/** Request with retries → response. Throws the PostriderError of the last attempt. Everything, including pauses, takes
 *  at most `timeoutMs`; a pause that would exceed it is not started. Requests with an idempotency key take effect
 *  once, or, if no response says otherwise, at most once. */
export async function exchange<T>(wire: Wire, ask: Ask): Promise<ParsedResponse<T>> {
  const { clock } = wire
  const endsAt = clock.now() + ask.timeoutMs
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptOnce<T>(wire, ask, endsAt - clock.now())
    } catch (error) {
      if (!(error instanceof PostriderError) || attempt >= ask.maxRetries || !mayGoAgain(error, ask.isRepeatable))
        throw error
      const waitMs = pauseMs(error, attempt, clock.random())
      if (clock.now() + waitMs >= endsAt) throw error
      await clock.sleep(waitMs, ask.signal ?? NEVER)
      if (ask.signal?.aborted) throw aborted(ask)
    }
  }
}

/** For callers without a signal. */
export const NEVER = new AbortController().signal

async function attemptOnce<T>(wire: Wire, ask: Ask, leftMs: number): Promise<ParsedResponse<T>> {
  const limit = limited(wire.clock, leftMs, ask.signal)
  try {
    const response = await respond(wire, ask, limit)
    // The body is read within the limit, too.
    return parseResponse<T>(response, new Uint8Array(await response.arrayBuffer()), ask)
  } catch (error) {
    throw failureOf(error, wire, ask, limit)
  } finally {
    limit.end()
  }
}

/** Request → response head, whatever its status. */
export function respond(wire: Wire, ask: Ask, limit: Limit): Promise<Response> {
  if (ask.signal?.aborted) throw aborted(ask)
  return wire.fetch(wire.baseUrl + ask.path, {
    method: ask.method,
    headers: headersOf(wire, ask),
    redirect: 'manual', // the key is meant for this server only
    signal: limit.signal,
    ...(ask.body === undefined ? {} : { body: ask.body }),
  })
}

/** Thrown value → the error to throw: why the call was aborted, or that there is no response. */
export function failureOf(error: unknown, wire: Wire, ask: Ask, limit: Limit): PostriderError {
  if (error instanceof PostriderError) return error
  if (ask.signal?.aborted) return aborted(ask)
  const of = { idempotencyKey: ask.idempotencyKey ?? null }
  if (limit.isOver()) return errorOf({ ...of, code: 'timed_out', message: `No response within ${ask.timeoutMs} ms.` })
  return errorOf({ ...of, code: 'connection_failed', message: `No response from ${originOf(wire)}.`, cause: error })
}

function headersOf({ apiKey }: Wire, { body, headers, idempotencyKey }: Ask): Record<string, string> {
  return {
    accept: 'application/json',
    authorization: `Bearer ${apiKey}`,
    'user-agent': `postrider-client/${VERSION}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
    ...headers,
  }
}

export function aborted(ask: Ask): PostriderError {
  const message = 'The call was aborted by its signal.'
  return errorOf({ code: 'aborted', message, cause: ask.signal?.reason, idempotencyKey: ask.idempotencyKey ?? null })
}

const originOf = ({ baseUrl }: Wire) => new URL(baseUrl).origin
