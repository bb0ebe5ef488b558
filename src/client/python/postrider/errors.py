"""The error classes. Generated from the OpenAPI document by scripts/client-types.ts."""

from __future__ import annotations

from .runtime import PostriderError


class ValidationError(PostriderError, code="validation_error"):
    """The request is invalid. `errors` lists every invalid field. Fix the request before you retry."""


class UnauthorizedError(PostriderError, code="unauthorized"):
    """The API key is missing, unknown, revoked or expired."""


class ForbiddenError(PostriderError, code="forbidden"):
    """The key lacks the permission, or the record belongs to another organization or domain."""


class NotFoundError(PostriderError, code="not_found"):
    """The record or path does not exist."""


class MethodNotAllowedError(PostriderError, code="method_not_allowed"):
    """The code `method_not_allowed`."""


class RequestTimeoutError(PostriderError, code="request_timeout"):
    """The body arrived too slowly: less than 16 KiB in 30 seconds, or for more than five minutes. The server did
    nothing. Send it again.
    """


class ConflictError(PostriderError, code="conflict"):
    """The record already exists. Or the Idempotency-Key was used with a different body (`details.reason` is
    `idempotency_key_reused`), or its first request is still running (`request_in_progress`).
    """


class PayloadTooLargeError(PostriderError, code="payload_too_large"):
    """The request body, or the message composed from it, is too large."""


class DomainNotVerifiedError(PostriderError, code="domain_not_verified"):
    """Live sending requires a domain whose DKIM records are published and verified."""


class TemplateError(PostriderError, code="template_error"):
    """The template cannot be rendered: `details.variable` is missing, or rendering exceeds a limit."""


class QuotaExceededError(PostriderError, code="quota_exceeded"):
    """A limit of the plan is reached. `details` has `limit`, `used` and `resets_at`."""


class InvalidStateError(PostriderError, code="invalid_state"):
    """Not allowed in the current state, for example cancelling a message that was already sent."""


class RateLimitedError(PostriderError, code="rate_limited"):
    """The plan’s requests per minute are used up. Wait `Retry-After` seconds."""


class InternalError(PostriderError, code="internal_error"):
    """An unexpected server error. Retry with the same Idempotency-Key."""


class UnavailableError(PostriderError, code="unavailable"):
    """The server is shutting down or cannot store data. Retry after `Retry-After` seconds."""


class ConnectionFailedError(PostriderError, code="connection_failed"):
    """The connection failed before the response was complete. The server may have processed the request."""


class TimedOutError(PostriderError, code="timed_out"):
    """The timeout elapsed. The server may have processed the request."""


class UnexpectedAnswerError(PostriderError, code="unexpected_answer"):
    """The response is not one of the Postrider API, for example the error page of a proxy or a redirect."""
