import type { ParsedResponse } from './call.ts'
import { errorOf, type Failure } from './errors.ts'
import type { ApiRequest } from './wire.ts'

/** Response and the bytes of its body → parsed data: JSON, or with `isRaw` also other types, as text or bytes. Throws
 *  the PostriderError of an error response, and an `UnexpectedAnswerError` if it is not a response of Postrider. */
export function parseResponse<T>(
  response: Response,
  bytes: Uint8Array,
  { isRaw, idempotencyKey = null }: Pick<ApiRequest, 'isRaw' | 'idempotencyKey'>,
): ParsedResponse<T> {
  const { status, headers } = response
  const requestId = headers.get('x-request-id')
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  const unexpected = (what: string) =>
    errorOf({
      code: 'unexpected_answer',
      message: `Unexpected response ${status} with ${what}. Is baseUrl a Postrider server?`,
      status,
      requestId,
      retryAfterSeconds: retryAfterOf(headers),
      idempotencyKey,
    })
  if (status >= 300 && status < 400) throw unexpected('a redirect, which is not followed')
  if (response.ok && isRaw && type !== '' && type !== 'application/json') {
    return { data: (type.startsWith('text/') ? new TextDecoder().decode(bytes) : bytes) as T, requestId }
  }
  if (type !== 'application/json') throw unexpected(type || 'no content type')
  const body = parsed(bytes)
  if (body === undefined) throw unexpected('invalid JSON')
  if (response.ok) return { data: body as T, requestId }
  const failure = failureIn(body)
  if (failure === null) throw unexpected('an unknown error format')
  throw errorOf({
    ...failure,
    status,
    requestId: requestId ?? (failure.details?.request_id as string | undefined) ?? null,
    retryAfterSeconds: failure.retryAfterSeconds ?? retryAfterOf(headers),
    idempotencyKey,
  })
}

/** Body `{"error": {…}}` → its failure; null for any other body. */
function failureIn(body: unknown): Failure | null {
  const error = (body as { error?: Record<string, unknown> } | null)?.error
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return null
  const { code, message, field, details, errors, retry_after } = error
  return {
    code,
    message,
    field: typeof field === 'string' ? field : null,
    details: typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {},
    errors: Array.isArray(errors) ? errors.filter((each) => typeof each?.message === 'string') : [],
    retryAfterSeconds: typeof retry_after === 'number' ? retry_after : null,
  }
}

/** `Retry-After` in seconds; null if missing. Ignores dates, which Postrider never sends (RFC 9110 §10.2.3). */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after')
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null
}

/** Parsed JSON; undefined if it is invalid. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}
