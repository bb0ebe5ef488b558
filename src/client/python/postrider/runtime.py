"""Sends requests, retries them and raises the errors. Written by hand; api.py is generated on top of it."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import re
import socket
import ssl
import time
import uuid
from functools import partial
from typing import Any, Dict, Generic, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .version import VERSION

T = TypeVar("T")


class PostriderError(Exception):
    """Any failure of a call. errors.py has a subclass for each code."""

    classes: Dict[str, Type[PostriderError]] = {}
    status: Optional[int] = None  #: HTTP status; None without a response
    field: Optional[str] = None  #: the first invalid field
    details: Mapping[str, Any] = {}
    errors: Sequence[Mapping[str, str]] = ()  #: every invalid field, as {"field", "message"}
    retry_after: Optional[int] = None  #: seconds to wait before a retry; None if the server specified none
    request_id: Optional[str] = None  #: also in the log of the server
    idempotency_key: Optional[str] = None  #: of the request; retrying with it is safe

    def __init_subclass__(cls, code: str = "", **more: Any) -> None:
        PostriderError.classes[code] = cls

    def __init__(self, code: str, message: str, **fields: Any) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message
        vars(self).update(fields)

    def __str__(self) -> str:
        return self.message


def error_of(code: str, message: str, **more: Any) -> PostriderError:
    """Code → error of its class; PostriderError itself for a code of a newer server."""
    return PostriderError.classes.get(code, PostriderError)(code, message, **more)


class Clock:
    """Time and pauses in seconds, and randomness. Replace it in tests."""

    now = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)
    random = staticmethod(random.random)


class Wire:
    """The server, its key, and the defaults of calls. Raises ValueError if URL or key is missing or invalid."""

    def __init__(self, base_url: Optional[str], api_key: Optional[str], timeout: float, max_retries: int,
                 clock: Optional[Clock]) -> None:
        url = urlsplit(base_url or os.environ.get("POSTRIDER_URL", ""))
        if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment or url.username:
            raise ValueError("base_url (or POSTRIDER_URL) must be the URL of your server")
        self.api_key = api_key or os.environ.get("POSTRIDER_API_KEY", "")
        if not re.fullmatch(r"[\x21-\x7e]+", self.api_key):
            raise ValueError("api_key (or POSTRIDER_API_KEY) is missing or contains invalid characters")
        self.host, self.prefix = url.hostname, url.path.rstrip("/")
        self.port = url.port or (443 if url.scheme == "https" else 80)
        self.open: Any = http.client.HTTPConnection
        if url.scheme == "https":
            self.open = partial(http.client.HTTPSConnection, context=ssl.create_default_context())
        self.timeout, self.max_retries, self.clock = timeout, max_retries, clock or Clock()

    def exchange(self, request: Request) -> Any:
        """Sends a request, retries it if that is safe, and returns the parsed response. All attempts and pauses
        together take at most `timeout`; a pause that would exceed it is not started."""
        ends_at = self.clock.now() + request.timeout
        for attempt in itertools.count():
            try:
                return self.attempt(request, ends_at)
            except PostriderError as error:
                pause = pause_after(error, attempt, self.clock.random())
                is_late = self.clock.now() + pause >= ends_at
                if attempt >= request.max_retries or is_late or not can_retry(error, request.is_repeatable):
                    raise
            self.clock.sleep(pause)

    def attempt(self, request: Request, ends_at: float) -> Any:
        def seconds_left() -> float:
            return max(0.001, ends_at - self.clock.now())

        connection = self.open(self.host, self.port, timeout=seconds_left())
        try:
            connection.request(request.method, self.prefix + request.path, request.body, request.headers(self.api_key))
            sock = connection.sock  # the connection drops it when the server closes after the response
            sock.settimeout(seconds_left())
            response, chunks = connection.getresponse(), [b"first"]
            while chunks[-1] and sock.fileno() >= 0:
                sock.settimeout(seconds_left())
                chunks.append(response.read1(65536))
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except socket.timeout as error:
            message = f"No response within {request.timeout:g} s."
            raise error_of("timed_out", message, idempotency_key=request.idempotency_key) from error
        except (OSError, http.client.HTTPException) as error:
            message = f"No response from {self.host}."
            raise error_of("connection_failed", message, idempotency_key=request.idempotency_key) from error
        finally:
            connection.close()
        return parsed(response, b"".join(chunks[1:]), request)


class Request:
    """One request to the API. Raises a ValidationError for an ID, a body or a key that cannot be sent."""

    def __init__(self, wire: Wire, method: str, path: str, ids: Sequence[object], *, is_repeatable: bool,
                 query: Any = None, body: Any = None, is_raw: bool = False, is_keyed: bool = False,
                 idempotency_key: Optional[str] = None, wait_seconds: int = 0, accept: str = "application/json",
                 timeout: Optional[float] = None, max_retries: Optional[int] = None) -> None:
        self.method, self.is_repeatable, self.is_raw, self.accept = method, is_repeatable, is_raw, accept
        self.path = path_of(path, ids) + query_of(query)
        self.body = None if body is None else body_of(body)
        self.idempotency_key = idempotency_key if idempotency_key is not None or not is_keyed else str(uuid.uuid4())
        if not re.fullmatch(r"[\x20-\x7e]{1,255}", "none" if self.idempotency_key is None else self.idempotency_key):
            raise invalid("Idempotency-Key", "must be 1 to 255 printable ASCII characters")
        self.wait_seconds = wait_seconds
        self.timeout = (wire.timeout if timeout is None else timeout) + wait_seconds
        self.max_retries = wire.max_retries if max_retries is None else max_retries

    def headers(self, api_key: str) -> Dict[str, str]:
        optional = {"Content-Type": "application/json" if self.body else None, "Idempotency-Key": self.idempotency_key,
                    "Prefer": f"wait={self.wait_seconds}" if self.wait_seconds > 0 else None}
        return {"Accept": self.accept, "Authorization": f"Bearer {api_key}",
                "User-Agent": f"postrider-python/{VERSION}", **{k: v for k, v in optional.items() if v}}


class Pages(Generic[T]):
    """A list. Iterate over it to get all items, or call `page()` for one page. Sends no request before that."""

    def __init__(self, wire: Wire, path: str, ids: Sequence[object], query: Any, **options: Any) -> None:
        self._wire, self._path, self._ids, self._query, self._options = wire, path, ids, dict(query or {}), options

    def page(self, cursor: Optional[str] = None) -> Dict[str, Any]:
        """Returns the page at `cursor`, or without one the page that the query selects."""
        query = self._query if cursor is None else {**self._query, "cursor": cursor}
        request = Request(self._wire, "GET", self._path, self._ids, query=query, is_repeatable=True, **self._options)
        return self._wire.exchange(request)

    def __iter__(self) -> Iterator[T]:
        """Yields the items of all pages. Continues after an empty page, which is not necessarily the last one."""
        page = self.page()
        yield from page["data"]
        while page["has_more"] and page["next_cursor"] is not None:
            page = self.page(page["next_cursor"])
            yield from page["data"]


def can_retry(error: PostriderError, is_repeatable: bool) -> bool:
    """A request that is not repeatable can be sent again only after 429 and 503, for which the server did nothing."""
    cause = error.code if error.status is None else error.status
    return cause in (429, 500, 502, 503, 504, "connection_failed") and (is_repeatable or cause in (429, 503))


def pause_after(error: PostriderError, attempt: int, chance: float) -> float:
    """Seconds before the next attempt: Retry-After plus exponential backoff with full jitter."""
    return float(error.retry_after or 0) + chance * min(8.0, 0.5 * 2.0**attempt)


def parsed(response: http.client.HTTPResponse, content: bytes, request: Request) -> Any:
    """Response → its JSON, or with `is_raw` the text or bytes of another type. Raises the error that it contains."""
    status, media = response.status, response.headers.get_content_type() if "content-type" in response.headers else ""
    seconds = response.headers.get("retry-after", "").strip()
    common: Dict[str, Any] = {"status": status, "request_id": response.headers.get("x-request-id"),
                              "retry_after": int(seconds) if re.fullmatch("[0-9]{1,9}", seconds) else None,
                              "idempotency_key": request.idempotency_key}

    def unexpected(what: str) -> PostriderError:
        text = f"Unexpected response {status} with {what}. Is base_url a Postrider server?"
        return error_of("unexpected_answer", text, **common)

    if 300 <= status < 400:
        raise unexpected("a redirect, which is not followed")
    if status < 300 and request.is_raw and media not in ("", "application/json"):
        return content.decode("utf-8", "replace") if media.startswith("text/") else content
    if media != "application/json":
        raise unexpected(media or "no content type")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise unexpected("invalid JSON") from None
    if status < 300:
        return body
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not all(isinstance(error.get(each), str) for each in ("code", "message")):
        raise unexpected("an unknown error format")
    details, errors, wait = error.get("details"), error.get("errors"), error.get("retry_after")
    common["details"] = details if isinstance(details, dict) else {}
    common["request_id"] = common["request_id"] or common["details"].get("request_id")
    common["retry_after"] = wait if isinstance(wait, int) else common["retry_after"]
    raise error_of(error["code"], error["message"], field=error.get("field"),
                   errors=errors if isinstance(errors, list) else [], **common)


def path_of(path: str, ids: Sequence[object]) -> str:
    """Fills in the IDs. Without a check, an empty one would select another operation."""
    for value in ids:
        head, _, tail = path.partition("{")
        name, _, tail = tail.partition("}")
        if not isinstance(value, (str, int)) or value in ("", ".", ".."):
            raise invalid(name, "must be a non-empty ID")
        path = head + quote(str(value), safe="") + tail
    return path


def query_of(query: Any) -> str:
    """`{"metadata": {"order": "7"}, "limit": 5}` → `?metadata%5Border%5D=7&limit=5`. Omits None."""
    pairs = [pair for name, value in (query or {}).items() for pair in pairs_of(name, value)]
    return f"?{urlencode(pairs)}" if pairs else ""


def pairs_of(name: str, value: Any) -> List[Tuple[str, str]]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [pair for key, each in value.items() for pair in pairs_of(f"{name}[{key}]", each)]
    if isinstance(value, bool):
        return [(name, str(value).lower())]
    return [(name, ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))]


def body_of(body: Any) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid("body", "cannot be serialized as JSON") from error


def invalid(field: str, what: str) -> PostriderError:
    message = f"{field} {what}"
    return error_of("validation_error", message, field=field, errors=[{"field": field, "message": message}])
