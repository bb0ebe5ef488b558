"""Verifies the requests that a Postrider server sends to your endpoint."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

TIME = "[0-9]{1,12}"  # Unix time in seconds; with thirteen digits it would be in milliseconds
OWN = ("X-Service-Signature", "X-Inbound-Signature")
Signed = Tuple[str, bytes, bytes, List[bytes]]  # time, text before the body, HMAC key, signatures


class WebhookVerificationError(Exception):
    """The request could not be verified. Respond with 401 and ignore it. `fault` is `missing_header`,
    `malformed_header`, `wrong_signature`, `stale`, `bad_secret` or `bad_body`."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault


def unwrap(body: Union[str, bytes], headers: Mapping[str, str], secret: str, *, tolerance: float = 300,
           now: Optional[float] = None) -> Dict[str, Any]:
    """Verifies the signature of a request and returns its event, or the inbound message of a route, whose `type` is
    `inbound`. `body` is the raw body, `secret` that of the webhook or route, `tolerance` the maximum age in
    seconds, `now` the Unix time. Raises a WebhookVerificationError. A genuine event can arrive twice, with the same
    `id`."""
    if not isinstance(body, (str, bytes)):
        raise WebhookVerificationError("bad_body", "The body must be the raw text or bytes of the request.")
    if not isinstance(secret, str) or not secret:
        raise WebhookVerificationError("bad_secret", "secret is required to verify the signature")
    content = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    given = {name.lower(): value for name, value in headers.items()}
    name = next((each for each in OWN if each.lower() in given), "webhook-signature")
    signed_at, prefix, key, signatures = own(name, given, secret) if name[0] == "X" else standard(given, secret)
    wanted = hmac.new(key, prefix + content, hashlib.sha256).digest()
    if not any([hmac.compare_digest(wanted, each) for each in signatures]):
        raise WebhookVerificationError("wrong_signature", f"{name} does not match the body and secret.")
    away = abs(int(time.time() if now is None else now) - int(signed_at))
    if away > tolerance:
        text = f"The signature is {away} s away from the local clock; at most {tolerance:g} s are allowed."
        raise WebhookVerificationError("stale", text)
    try:
        event = json.loads(content.decode())
    except (ValueError, RecursionError):
        event = None
    if isinstance(event, dict) and name != "X-Service-Signature" and event.get("event") == "inbound":
        return {**event, "type": "inbound"}
    is_event = isinstance(event, dict) and isinstance(event.get("id"), str) and isinstance(event.get("type"), str)
    if name == "X-Inbound-Signature" or not is_event or not isinstance(event.get("data"), dict):
        raise WebhookVerificationError("bad_body", "The body is not an event.")
    return event


def own(name: str, headers: Mapping[str, str], secret: str) -> Signed:
    """`t=<unix seconds>,v1=<hex>[,v1=<hex>]`; other fields are reserved for later versions."""
    fields = [field.strip() for field in str(headers[name.lower()]).split(",")]
    times = [field[2:] for field in fields if field.startswith("t=")]
    signatures = [field[3:] for field in fields if field.startswith("v1=")]
    is_whole = len(times) == 1 and re.fullmatch(TIME, times[0]) and signatures
    if not is_whole or not all(re.fullmatch("[0-9a-f]{64}", each) for each in signatures):
        raise WebhookVerificationError("malformed_header", f"{name} is not t=<unix seconds>,v1=<64 hex digits>")
    return times[0], f"{times[0]}.".encode(), secret.encode(errors="surrogatepass"), [*map(bytes.fromhex, signatures)]


def standard(headers: Mapping[str, str], secret: str) -> Signed:
    """Standard Webhooks: `v1,<base64> v1,<base64>`, and the key is the decoded base64 of the secret."""
    text, event_id, signed_at = (str(headers.get(f"webhook-{each}") or "") for each in ("signature", "id", "timestamp"))
    if not text or not event_id or not signed_at:
        raise WebhookVerificationError("missing_header", "The request has no complete signature headers.")
    signatures = [decoded(each[3:]) for each in re.split(r",?\s+", text) if each.startswith("v1,")]
    if not re.fullmatch(TIME, signed_at) or {len(each) for each in signatures} != {32}:
        raise WebhookVerificationError("malformed_header", "webhook-signature or webhook-timestamp is malformed.")
    key = decoded(re.sub("^whsec_", "", secret))
    if not key:
        raise WebhookVerificationError("bad_secret", "secret must be whsec_ followed by base64")
    prefix = f"{event_id}.{signed_at}.".encode("utf-8", "surrogatepass")
    return signed_at, prefix, key, signatures


def decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
