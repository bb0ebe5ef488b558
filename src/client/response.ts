import type { ParsedResponse } from './call.ts'
import { errorOf, type Failure } from './errors.ts'
import type { Ask } from './wire.ts'

/** Parses a response; throws if it is an error or not from Postrider. */
export function parseResponse<T>(
  response: Response,
  bytes: Uint8Array,
  { isRaw, idempotencyKey = null }: Pick<Ask, 'isRaw' | 'idempotencyKey'>,
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

/** `{"error": {…}}` → its content; null for anything else. */
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

/** Seconds. Postrider never sends a date, so dates are ignored (RFC 9110 §10.2.3). */
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
