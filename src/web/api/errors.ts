import { invalid, Refusal, type RefusalReason } from '../../model/refusal.ts'
import { StoreUnavailable } from '../../storage/store.ts'

/** Refusal reason → HTTP status. */
export const STATUS_OF: Record<RefusalReason, number> = {
  validation_error: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
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

/** The JSON body of an error. `details` always has `request_id` and `docs`, the path of the code in the manual;
 *  `retry_after` is in seconds. */
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

/** Thrown value → the refusal for the response. A Refusal is returned unchanged, StoreUnavailable becomes
 *  `unavailable`, and any other value `internal_error` without details. Never throws. */
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

/** Refusal and request ID → the JSON body of its response. Only `rate_limited` has `retry_after`. */
export function toBody(refusal: Refusal, requestId: string): ErrorBody {
  const { reason, message, field, details, faults, retryAfterSeconds } = refusal
  const error: ErrorBody['error'] = {
    code: reason,
    message,
    details: { ...details, request_id: requestId, docs: `${MANUAL_PAGE}#${reason}` },
  }
  if (field !== undefined) error.field = field
  if (faults !== undefined) error.errors = faults.map((fault) => ({ field: fault.field, message: fault.message }))
  if (reason === 'rate_limited' && retryAfterSeconds !== undefined) error.retry_after = retryAfterSeconds
  return { error }
}

/** The page of the manual that has a section for each code (web/manual/errors.md). */
const MANUAL_PAGE = '/manual/errors'

/** Refusal → the headers of its response: `Retry-After` in seconds if the refusal has a delay, `WWW-Authenticate` on
 *  401 (RFC 9110 §11.6.1), `Connection: close` on 408 (RFC 9110 §15.5.9). */
export function headersOf(refusal: Refusal): Record<string, string> {
  const headers: Record<string, string> = {}
  if (refusal.retryAfterSeconds !== undefined) headers['retry-after'] = String(refusal.retryAfterSeconds)
  if (refusal.reason === 'unauthorized') headers['www-authenticate'] = 'Bearer'
  if (refusal.reason === 'request_timeout') headers.connection = 'close'
  return headers
}

/** Message → an `unavailable` refusal (503) with a `Retry-After` of 5 s. */
export function unavailable(message: string): Refusal {
  return new Refusal('unavailable', message, { retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS })
}

/** The refusal (400) for a `Host` header that is repeated or invalid. RFC 9112 §3.2. */
export function badHost(): Refusal {
  return invalid([{ field: 'Host', message: 'Host must be sent exactly once, as host or host:port' }])
}

/** The record that a path refers to, or null if it does not exist → the same record. Throws `not_found` for null. `what` is
 *  the noun in the message: `webhook`. */
export function requireFound<T>(record: T | null, what: string): T {
  if (record === null) throw new Refusal('not_found', `No such ${what}. Check the ID.`)
  return record
}

/** The record that a path or filter refers to, or null if it does not exist → the same record. Throws `not_found` for
 *  null, and `forbidden` if it belongs to another organization. `what` is the noun in the message: `webhook`. */
export function requireOwned<T extends { organizationId: string }>(
  record: T | null,
  organizationId: string,
  what: string,
): T {
  const found = requireFound(record, what)
  if (found.organizationId === organizationId) return found
  throw new Refusal('forbidden', `This ${what} belongs to another organization.`)
}

const UNAVAILABLE_RETRY_SECONDS = 5 // long enough for a restart, short enough for mail such as sign-in codes
