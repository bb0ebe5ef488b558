/** Errors of calls: one class per error code of the API, and some for failures without an API response. All extend
 *  `PostriderError`. None contains the API key or the request body. */

import type { ApiError } from './types.ts'

/** The error codes of the API, and codes for failures without an API response. */
export type ErrorCode = ApiError['error']['code'] | 'connection_failed' | 'timed_out' | 'aborted' | 'unexpected_answer'

/** Fields of an error to create; those left out are null or empty. */
export interface Failure {
  code: string
  message: string
  status?: number | null
  field?: string | null
  details?: Readonly<Record<string, unknown>>
  errors?: readonly FieldError[]
  retryAfterSeconds?: number | null
  requestId?: string | null
  idempotencyKey?: string | null
  cause?: unknown
}

/** One invalid field: `attachments[0].content`. */
export interface FieldError {
  field: string
  message: string
}

/** Any failure of a call. `message` describes it in English. */
export class PostriderError extends Error {
  /** The error code. A newer server may return codes that are not in `ErrorCode`. */
  readonly code: ErrorCode | (string & {})
  /** The HTTP status; null without a response. */
  readonly status: number | null
  /** The first invalid field; null if the error does not concern a field. */
  readonly field: string | null
  /** Further information that depends on the code. */
  readonly details: Readonly<Record<string, unknown>>
  /** Every invalid field; empty except for a `ValidationError`. */
  readonly errors: readonly FieldError[]
  /** Seconds to wait before retrying; null if the server specified none. */
  readonly retryAfterSeconds: number | null
  /** Request ID of the response, which also appears in the server's log; null without a response. */
  readonly requestId: string | null
  /** The idempotency key of the request; null if it had none. Retrying with this key is safe. */
  readonly idempotencyKey: string | null

  constructor(failure: Failure) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause })
    this.name = new.target.name
    this.code = failure.code
    this.status = failure.status ?? null
    this.field = failure.field ?? null
    this.details = failure.details ?? {}
    this.errors = failure.errors ?? []
    this.retryAfterSeconds = failure.retryAfterSeconds ?? null
    this.requestId = failure.requestId ?? null
    this.idempotencyKey = failure.idempotencyKey ?? null
  }
}

/** 400: `errors` lists every invalid field. */
export class ValidationError extends PostriderError {}
/** 401: the key is missing, invalid, revoked or expired. */
export class UnauthorizedError extends PostriderError {}
/** 403: the key lacks the permission, or the record belongs to another organization or domain. */
export class ForbiddenError extends PostriderError {}
/** 404: the record or path does not exist. */
export class NotFoundError extends PostriderError {}
/** 405: the path does not support the method. */
export class MethodNotAllowedError extends PostriderError {}
/** 409: the record already exists, or the idempotency key was used for a different request. */
export class ConflictError extends PostriderError {}
/** 408: the request body arrived too slowly. The server did nothing. */
export class RequestTimeoutError extends PostriderError {}
/** 413: the request body is too large. */
export class PayloadTooLargeError extends PostriderError {}
/** 422: the DNS records of the domain are not verified. */
export class DomainNotVerifiedError extends PostriderError {}
/** 422: the template cannot be rendered. */
export class TemplateError extends PostriderError {}
/** 422: a limit of the plan is reached. `details` has `limit`, `used` and `resets_at`. */
export class QuotaExceededError extends PostriderError {}
/** 422: the operation is not allowed in the current state, for example cancelling a sent message. */
export class InvalidStateError extends PostriderError {}
/** 429: too many requests. Retry after `retryAfterSeconds`. */
export class RateLimitedError extends PostriderError {}
/** 500: an unexpected error of the server. */
export class InternalError extends PostriderError {}
/** 503: the server cannot process the request now, for example because it is shutting down or its disk is full. */
export class UnavailableError extends PostriderError {}

/** The connection failed before the response was complete. The server may have processed the request. */
export class ConnectionError extends PostriderError {}
/** `timeoutMs` elapsed. The server may have processed the request. */
export class TimeoutError extends PostriderError {}
/** The call was aborted by its signal; `cause` is the reason. */
export class AbortError extends PostriderError {}
/** The response is not one of the Postrider API, for example the error page of a proxy, a redirect, or invalid JSON. */
export class UnexpectedAnswerError extends PostriderError {}

/** Error code → class. Other codes become a plain `PostriderError`. */
const CLASSES: Readonly<Record<ErrorCode, typeof PostriderError>> = {
  validation_error: ValidationError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  method_not_allowed: MethodNotAllowedError,
  conflict: ConflictError,
  payload_too_large: PayloadTooLargeError,
  request_timeout: RequestTimeoutError,
  domain_not_verified: DomainNotVerifiedError,
  template_error: TemplateError,
  quota_exceeded: QuotaExceededError,
  invalid_state: InvalidStateError,
  rate_limited: RateLimitedError,
  internal_error: InternalError,
  unavailable: UnavailableError,
  connection_failed: ConnectionError,
  timed_out: TimeoutError,
  aborted: AbortError,
  unexpected_answer: UnexpectedAnswerError,
}

/** Failure → error of the class for its code. Never throws. */
export function errorOf(failure: Failure): PostriderError {
  return new (CLASSES[failure.code as ErrorCode] ?? PostriderError)(failure)
}
