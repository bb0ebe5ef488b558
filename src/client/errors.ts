/** What a call may throw. One class for each `error.code` of the API, and some for what never reached it or never came
 *  back; all of them are a `PostriderError`. None carries the API key or a body that was sent. */

import type { ApiError } from './types.ts'

/** The codes of the API, and those of a call that got no answer of it. */
export type ErrorCode = ApiError['error']['code'] | 'connection_failed' | 'timed_out' | 'aborted' | 'unexpected_answer'

/** What is known of a failure. */
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

/** One field at fault: `attachments[0].content`. */
export interface FieldError {
  field: string
  message: string
}

export class PostriderError extends Error {
  /** A newer server may have others. */
  readonly code: ErrorCode | (string & {})
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null
  /** The first field at fault. */
  readonly field: string | null
  readonly details: Readonly<Record<string, unknown>>
  /** Every field at fault; empty but for a `ValidationError`. */
  readonly errors: readonly FieldError[]
  /** How long the server asks to wait. */
  readonly retryAfterSeconds: number | null
  /** Of the answer; it is in the log of the server. */
  readonly requestId: string | null
  /** The key of the request, if it had one: calling again with it does nothing twice. */
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

/** 400: see `errors` for every field at fault. */
export class ValidationError extends PostriderError {}
/** 401: no key, or one that is wrong, revoked or expired. */
export class UnauthorizedError extends PostriderError {}
/** 403: the key lacks the permission, or the thing belongs to somebody else. */
export class ForbiddenError extends PostriderError {}
/** 404 */
export class NotFoundError extends PostriderError {}
/** 405 */
export class MethodNotAllowedError extends PostriderError {}
/** 409: it exists already, or the idempotency key was used for something else. */
export class ConflictError extends PostriderError {}
/** 413 */
export class PayloadTooLargeError extends PostriderError {}
/** 422: the DNS records of the domain were not seen yet. */
export class DomainNotVerifiedError extends PostriderError {}
/** 422: the template cannot be filled in. */
export class TemplateError extends PostriderError {}
/** 422: `details` has `limit`, `used` and `resets_at`. */
export class QuotaExceededError extends PostriderError {}
/** 422: not in this state, as cancelling what was sent. */
export class InvalidStateError extends PostriderError {}
/** 429: see `retryAfterSeconds`. */
export class RateLimitedError extends PostriderError {}
/** 500 */
export class InternalError extends PostriderError {}
/** 503: the server is stopping, or its disk is full. */
export class UnavailableError extends PostriderError {}

/** No answer came, or only a part of one. What was asked for may have been done. */
export class ConnectionError extends PostriderError {}
/** `timeoutMs` went by. What was asked for may have been done. */
export class TimeoutError extends PostriderError {}
/** The caller's signal ended the call; `cause` is its reason. */
export class AbortError extends PostriderError {}
/** An answer that is none of the API's: a proxy's, a redirect, JSON that breaks off. */
export class UnexpectedAnswerError extends PostriderError {}

/** A code that is not among them is a plain `PostriderError`. */
const CLASSES: Readonly<Record<ErrorCode, typeof PostriderError>> = {
  validation_error: ValidationError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  method_not_allowed: MethodNotAllowedError,
  conflict: ConflictError,
  payload_too_large: PayloadTooLargeError,
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

/** A failure → the error of its class. */
export function errorOf(failure: Failure): PostriderError {
  return new (CLASSES[failure.code as ErrorCode] ?? PostriderError)(failure)
}
