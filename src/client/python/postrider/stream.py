"""Live events. Written by hand; api.py is generated on top of it."""

from __future__ import annotations

import http.client
import json
import re
import socket
from contextlib import closing
from typing import Any, Generic, Iterator, List, Optional, Tuple, TypeVar

from .runtime import PostriderError, Request, Wire, can_retry, error_of, parsed, pause_after

T = TypeVar("T")

MAX_PENDING = 16 * 1024 * 1024  #: bytes of an event that has not ended


class EventStream(Generic[T]):
    """Live events: `for event in postrider.events.stream():`. Connects when iteration starts, and yields the events from
    then on, or those after the event `after` of the query.

    If the connection fails, it reconnects and resumes after the last received event, so that no event is missed or
    repeated. Only before the first connection succeeds, `max_retries` limits the attempts. Iteration ends with `break`,
    and raises the PostriderError if the server rejects the request.
    """

    silent_seconds = 45.0  #: without data, the connection counts as lost; the server sends data every 15 s

    def __init__(self, wire: Wire, path: str, query: Any, **options: Any) -> None:
        self._wire, self._path, self._query, self._options = wire, path, dict(query or {}), options

    def __iter__(self) -> Iterator[T]:
        clock, after = self._wire.clock, self._query.get("after")
        if after is None:
            after = self._newest()
        parser, failures, is_begun = EventParser(after), 0, False
        while True:
            query = {**self._query, "after": parser.last_id}
            request = Request(self._wire, "GET", self._path, [], query=query, is_repeatable=True,
                              accept="text/event-stream", **self._options)
            try:
                with closing(self._chunks(request)) as chunks:
                    for chunk in chunks:
                        is_begun = True
                        for data in parser.push(chunk):
                            failures = 0
                            yield json.loads(data)
                failure = error_of("connection_failed", "The event stream ended.")
            except PostriderError as error:
                failure = error
            parser.restart()
            can_reconnect = can_retry(failure, True) or failure.code == "timed_out"
            if not can_reconnect or (not is_begun and failures >= request.max_retries):
                raise failure
            clock.sleep(parser.retry_seconds + pause_after(failure, failures, clock.random()))
            failures += 1

    def _newest(self) -> str:
        """ID of the newest event, "" if there is none. Without it, a reconnect before the first event would skip the
        events since iteration started."""
        request = Request(self._wire, "GET", "/v1/events", [], query={"limit": 1}, is_repeatable=True, **self._options)
        newest: List[Any] = self._wire.exchange(request)["data"]
        return newest[0]["id"] if newest else ""

    def _chunks(self, request: Request) -> Iterator[bytes]:
        """Connects and yields the body as it arrives. Raises a TimedOutError after `silent_seconds` without data."""
        wire = self._wire
        connection = wire.open(wire.host, wire.port, timeout=request.timeout)
        try:
            connection.request(request.method, wire.prefix + request.path, None, request.headers(wire.api_key))
            sock, response = connection.sock, connection.getresponse()
            if response.status != 200 or response.headers.get_content_type() != "text/event-stream":
                parsed(response, response.read(MAX_PENDING), request)
                raise error_of("unexpected_answer", "Unexpected content type. Is base_url a Postrider server?")
            sock.settimeout(self.silent_seconds)
            chunk = response.read1(65536)
            while chunk:
                yield chunk
                chunk = response.read1(65536)
        except socket.timeout as error:
            raise error_of("timed_out", "The event stream is silent.") from error
        except (OSError, http.client.HTTPException) as error:
            raise error_of("connection_failed", f"No response from {wire.host}.") from error
        finally:
            connection.close()


class EventParser:
    """Bytes of an event stream, in chunks of any size → the data of its events, in order.

    https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
    """

    def __init__(self, last_id: str) -> None:
        self.last_id = last_id  #: of the last complete event, or of a position without event
        self.retry_seconds = 0.0  #: the server's reconnect delay
        self.restart()

    def restart(self) -> None:
        """Drops an incomplete event, before another connection."""
        self._pending, self._data, self._id = b"", [], self.last_id  # type: Tuple[bytes, List[str], str]

    def push(self, chunk: bytes) -> Iterator[str]:
        """Yields the data of each event that ends in the chunk; `last_id` is its ID then."""
        text = self._pending + chunk
        # A CR at the end may be the first half of a CR LF.
        end = len(text) - 1 if text.endswith(b"\r") else len(text)
        *lines, last = re.split(b"\r\n|\n|\r", text[:end])
        self._pending = last + text[end:]
        if len(self._pending) + sum(map(len, self._data)) > MAX_PENDING:
            raise error_of("unexpected_answer", "The event stream has an event without end.")
        for line in lines:
            data = self._read(line.decode("utf-8", "replace"))
            if data is not None:
                yield data

    def _read(self, line: str) -> Optional[str]:
        """Line → the data of an event that it ends, otherwise None."""
        if line == "":
            data, self._data, self.last_id = self._data, [], self._id
            return "\n".join(data) if data else None
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and re.fullmatch("[0-9]{1,9}", value):
            self.retry_seconds = int(value) / 1000
        return None
