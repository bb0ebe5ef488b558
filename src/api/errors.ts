import { invalid, Refusal, type RefusalReason } from '../model/refusal.ts'
import { StoreUnavailable } from '../storage/store.ts'

/** Refusal reason → HTTP status. */
export const STATUS_OF: Record<RefusalReason, number> = {
  validation_error: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  domain_not_verified: 422,
  template_error: 422,
  quota_exceeded: 422,
  invalid_state: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
}

/** The JSON of an error; `details` always contains the request ID. */
export interface ErrorBody {
  error: {
    code: RefusalReason
    message: string
    field?: string
    details: Record<string, unknown>
    errors?: { field: string; message: string }[]
    retry_after?: number
  }
}

/** Thrown value → the refusal to return. A store that cannot write is `unavailable`. Everything unexpected is
 *  `internal_error` without details. Never throws. */
export function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown
  if (thrown instanceof StoreUnavailable) {
    return unavailable(
      thrown.isFull
        ? 'The disk of this server is full. Try again later.'
        : 'Data cannot be stored at the moment. Try again in a few seconds.',
    )
  }
  return new Refusal(
    'internal_error',
    'Internal server error. Try again, and contact the operator with the request ID if it persists.',
  )
}

/** Refusal and request ID → body. Only rate limits have `retry_after`. */
export function toBody(refusal: Refusal, requestId: string): ErrorBody {
  const { reason, message, field, details, faults, retryAfterSeconds } = refusal
  const error: ErrorBody['error'] = { code: reason, message, details: { ...details, request_id: requestId } }
  if (field !== undefined) error.field = field
  if (faults !== undefined) error.errors = faults.map((fault) => ({ field: fault.field, message: fault.message }))
  if (reason === 'rate_limited' && retryAfterSeconds !== undefined) error.retry_after = retryAfterSeconds
  return { error }
}

/** The headers of an error: `Retry-After` in seconds, `WWW-Authenticate` on 401 (RFC 9110 §11.6.1). */
export function headersOf(refusal: Refusal): Record<string, string> {
  const headers: Record<string, string> = {}
  if (refusal.retryAfterSeconds !== undefined) headers['retry-after'] = String(refusal.retryAfterSeconds)
  if (refusal.reason === 'unauthorized') headers['www-authenticate'] = 'Bearer'
  return headers
}

/** A temporary failure; the caller should retry after a few seconds. */
export function unavailable(message: string): Refusal {
  return new Refusal('unavailable', message, { retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS })
}

/** The `Host` header is repeated or not a valid host. RFC 9112 §3.2. */
export function badHost(): Refusal {
  return invalid([{ field: 'Host', message: 'Host must be sent exactly once, as host or host:port' }])
}

/** Record that a path or filter refers to → the same record if it belongs to the caller. Null → 404; another
 *  organization's → 403. `what` is the noun in the message: `webhook`. */
export function requireOwned<T extends { organizationId: string }>(
  record: T | null,
  organizationId: string,
  what: string,
): T {
  if (record === null) throw new Refusal('not_found', `No such ${what}. Check the ID.`)
  if (record.organizationId !== organizationId) {
    throw new Refusal('forbidden', `This ${what} belongs to another organization.`)
  }
  return record
}

const UNAVAILABLE_RETRY_SECONDS = 5 // long enough for a restart, short enough for a sign-in code
