<?php

// Generated from the OpenAPI document by scripts/client-types.ts.

declare(strict_types=1);

namespace Postrider;

/** The request is invalid. `errors` lists every invalid field. Fix the request before you retry. */
class ValidationError extends PostriderError
{
}

/** The API key is missing, unknown, revoked or expired. */
class UnauthorizedError extends PostriderError
{
}

/** The key lacks the permission, or the record belongs to another organization or domain. */
class ForbiddenError extends PostriderError
{
}

/** The record or path does not exist. */
class NotFoundError extends PostriderError
{
}

/** The code `method_not_allowed`. */
class MethodNotAllowedError extends PostriderError
{
}

/**
 * The body arrived too slowly: less than 16 KiB in 30 seconds, or for more than five minutes. The server did nothing.
 * Send it again.
 */
class RequestTimeoutError extends PostriderError
{
}

/**
 * The record already exists. Or the Idempotency-Key was used with a different body (`details.reason` is
 * `idempotency_key_reused`), or its first request is still running (`request_in_progress`).
 */
class ConflictError extends PostriderError
{
}

/** The request body, or the message composed from it, is too large. */
class PayloadTooLargeError extends PostriderError
{
}

/** Live sending requires a domain whose DKIM records are published and verified. */
class DomainNotVerifiedError extends PostriderError
{
}

/** The template cannot be rendered: `details.variable` is missing, or rendering exceeds a limit. */
class TemplateError extends PostriderError
{
}

/** A limit of the plan is reached. `details` has `limit`, `used` and `resets_at`. */
class QuotaExceededError extends PostriderError
{
}

/** Not allowed in the current state, for example cancelling a message that was already sent. */
class InvalidStateError extends PostriderError
{
}

/** The plan’s requests per minute are used up. Wait `Retry-After` seconds. */
class RateLimitedError extends PostriderError
{
}

/** An unexpected server error. Retry with the same Idempotency-Key. */
class InternalError extends PostriderError
{
}

/** The server is shutting down or cannot store data. Retry after `Retry-After` seconds. */
class UnavailableError extends PostriderError
{
}

/** The connection failed before the response was complete. The server may have processed the request. */
class ConnectionFailedError extends PostriderError
{
}

/** The timeout elapsed. The server may have processed the request. */
class TimedOutError extends PostriderError
{
}

/** The response is not one of the Postrider API, for example the error page of a proxy or a redirect. */
class UnexpectedAnswerError extends PostriderError
{
}

/** Error code → class. */
final class Errors
{
    public const CLASSES = [
        'validation_error' => ValidationError::class,
        'unauthorized' => UnauthorizedError::class,
        'forbidden' => ForbiddenError::class,
        'not_found' => NotFoundError::class,
        'method_not_allowed' => MethodNotAllowedError::class,
        'request_timeout' => RequestTimeoutError::class,
        'conflict' => ConflictError::class,
        'payload_too_large' => PayloadTooLargeError::class,
        'domain_not_verified' => DomainNotVerifiedError::class,
        'template_error' => TemplateError::class,
        'quota_exceeded' => QuotaExceededError::class,
        'invalid_state' => InvalidStateError::class,
        'rate_limited' => RateLimitedError::class,
        'internal_error' => InternalError::class,
        'unavailable' => UnavailableError::class,
        'connection_failed' => ConnectionFailedError::class,
        'timed_out' => TimedOutError::class,
        'unexpected_answer' => UnexpectedAnswerError::class,
    ];
}
