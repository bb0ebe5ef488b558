import type { Answered } from './call.ts'
import type { Clock } from './clock.ts'
import { errorOf, type Failure, PostriderError } from './errors.ts'
import { mayGoAgain, pauseMs } from './retry.ts'
import { VERSION } from './routes.ts'

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Where requests go, and how patient we are. */
export interface Wire {
  /** Without a slash at its end. */
  baseUrl: string
  apiKey: string
  fetch: Fetch
  clock: Clock
}

/** One thing to ask. */
export interface Ask {
  method: string
  /** With its query: `/v1/messages?limit=5` */
  path: string
  /** JSON; undefined = no body. */
  body?: string | undefined
  headers?: Record<string, string>
  idempotencyKey?: string | null
  isRepeatable: boolean
  /** An answer that is not JSON is one, too: text as text, all else as bytes. */
  isRaw: boolean
  timeoutMs: number
  maxRetries: number
  signal?: AbortSignal | undefined
}

/** A request and its repetitions → the answer. Throws a PostriderError: the last attempt's. All of it, waits included,
 *  takes at most `timeoutMs`; a wait that would go beyond is not begun. What was asked for is done once, or, after a
 *  TimeoutError or ConnectionError, once or not at all. */
export async function exchange<T>(wire: Wire, ask: Ask): Promise<Answered<T>> {
  const { clock } = wire
  const endsAt = clock.now() + ask.timeoutMs
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptOnce<T>(wire, ask, endsAt - clock.now())
    } catch (error) {
      if (!(error instanceof PostriderError)) throw error
      if (attempt >= ask.maxRetries || !mayGoAgain(error, ask.isRepeatable)) throw error
      const waitMs = pauseMs(error, attempt, clock.random())
      if (clock.now() + waitMs >= endsAt) throw error
      await clock.sleep(waitMs, ask.signal ?? NEVER)
      if (ask.signal?.aborted) throw aborted(ask)
    }
  }
}

/** For whoever waits without a signal. */
export const NEVER = new AbortController().signal

async function attemptOnce<T>(wire: Wire, ask: Ask, leftMs: number): Promise<Answered<T>> {
  const limit = limited(wire.clock, leftMs, ask.signal)
  try {
    const response = await respond(wire, ask, limit)
    // Read whole within the limit, too.
    return answerOf<T>(response, new Uint8Array(await response.arrayBuffer()), ask)
  } catch (error) {
    throw failureOf(error, wire, ask, limit)
  } finally {
    limit.end()
  }
}

/** A request → the head of its answer, whatever that says. */
export function respond(wire: Wire, ask: Ask, limit: Limit): Promise<Response> {
  if (ask.signal?.aborted) throw aborted(ask)
  return wire.fetch(wire.baseUrl + ask.path, {
    method: ask.method,
    headers: headersOf(wire, ask),
    redirect: 'manual', // the key is for this server alone
    signal: limit.signal,
    ...(ask.body === undefined ? {} : { body: ask.body }),
  })
}

/** What was thrown while asking → the error to throw: why it was ended, or that nothing came. */
export function failureOf(error: unknown, wire: Wire, ask: Ask, limit: Limit): PostriderError {
  if (error instanceof PostriderError) return error
  if (ask.signal?.aborted) return aborted(ask)
  const of = { idempotencyKey: ask.idempotencyKey ?? null }
  if (limit.isOver()) return errorOf({ ...of, code: 'timed_out', message: `no answer within ${ask.timeoutMs} ms` })
  return errorOf({ ...of, code: 'connection_failed', message: `no answer from ${originOf(wire)}`, cause: error })
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

/** A signal that ends with the caller's, or when the time is up. */
export interface Limit {
  signal: AbortSignal
  isOver(): boolean
  /** So much is given from now on. */
  restart(ms: number): void
  /** No limit, until `restart`. */
  pause(): void
  end(): void
}

export function limited(clock: Clock, ms: number, outer: AbortSignal | undefined): Limit {
  const inner = new AbortController()
  let timer = new AbortController()
  let isOver = false
  const stop = () => inner.abort(outer?.reason)
  outer?.addEventListener('abort', stop)
  const start = async (givenMs: number, { signal }: AbortController) => {
    await clock.sleep(Math.max(0, givenMs), signal)
    if (signal.aborted) return
    isOver = true
    inner.abort()
  }
  void start(ms, timer)
  return {
    signal: inner.signal,
    isOver: () => isOver,
    restart: (again) => {
      timer.abort()
      timer = new AbortController()
      void start(again, timer)
    },
    pause: () => timer.abort(),
    end: () => {
      timer.abort()
      outer?.removeEventListener('abort', stop)
    },
  }
}

/** The answer as a value; throws when it is an error, or none of Postrider's. */
export function answerOf<T>(response: Response, bytes: Uint8Array, ask: Ask): Answered<T> {
  const { status, headers } = response
  const requestId = headers.get('x-request-id')
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  const unexpected = (what: string) =>
    errorOf({
      code: 'unexpected_answer',
      message: `${status} with ${what}: not an answer of Postrider`,
      status,
      requestId,
      retryAfterSeconds: retryAfterOf(headers),
      idempotencyKey: ask.idempotencyKey ?? null,
    })
  if (status >= 300 && status < 400) throw unexpected('a redirect, which is not followed')
  if (response.ok && ask.isRaw && type !== '' && type !== 'application/json') {
    return { data: (type.startsWith('text/') ? new TextDecoder().decode(bytes) : bytes) as T, requestId }
  }
  if (type !== 'application/json') throw unexpected(type || 'no content type')
  const body = parsed(bytes)
  if (body === undefined) throw unexpected('broken JSON')
  if (response.ok) return { data: body as T, requestId }
  const failure = failureIn(body)
  if (failure === null) throw unexpected('another error')
  throw errorOf({
    ...failure,
    status,
    requestId: requestId ?? (failure.details?.request_id as string | undefined) ?? null,
    retryAfterSeconds: failure.retryAfterSeconds ?? retryAfterOf(headers),
    idempotencyKey: ask.idempotencyKey ?? null,
  })
}

/** `{"error": {…}}` (interface.md "Errors") → what it says; null for anything else. */
function failureIn(body: unknown): Failure | null {
  const error = (body as { error?: Record<string, unknown> } | null)?.error
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return null
  const { code, message, field, details, errors, retry_after } = error
  return {
    code,
    message,
    field: typeof field === 'string' ? field : null,
    details: typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {},
    errors: Array.isArray(errors) ? errors : [],
    retryAfterSeconds: typeof retry_after === 'number' ? retry_after : null,
  }
}

/** Seconds; a date is not what Postrider answers, and counts as nothing said (RFC 9110 §10.2.3). */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after')
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

export function aborted(ask: Ask): PostriderError {
  const message = 'the call was ended by its signal'
  return errorOf({ code: 'aborted', message, cause: ask.signal?.reason, idempotencyKey: ask.idempotencyKey ?? null })
}

const originOf = ({ baseUrl }: Wire) => new URL(baseUrl).origin
