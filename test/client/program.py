"""Uses the client as its test says, and prints what happened as JSON (languages.ts)."""

import base64
import contextlib
import inspect
import io
import json
import sys

from postrider import Clock, Pages, Postrider, PostriderError, WebhookVerificationError, unwrap
from postrider.runtime import Wire

given = json.load(sys.stdin)
MAIL = given["mail"]


class StoppedClock(Clock):
    def __init__(self):
        self.sleeps = []

    def now(self):
        return sum(self.sleeps)

    def sleep(self, seconds):
        self.sleeps.append(seconds)

    def random(self):
        return 0.5


def failure(call):
    try:
        return {"result": call()}
    except PostriderError as error:
        fields = ["code", "status", "field", "errors", "retry_after", "request_id", "idempotency_key", "details"]
        return {"class": type(error).__name__, "message": str(error), **{name: getattr(error, name) for name in fields}}


def hostile(name, call):
    clock = StoppedClock()
    client = Postrider(given["hostile"][name] + "/", "svc_live_veryverysecret", clock=clock)
    done = failure(lambda: call(client))
    return {**done, "sleeps": clock.sleeps}


def fault(case):
    body = base64.b64decode(case["body"])
    try:
        return unwrap(body, case["headers"], case["secret"], now=case["now"] / 1000)["type"]
    except WebhookVerificationError as error:
        return error.fault


def refused(*arguments):
    try:
        Postrider(*arguments)
    except ValueError as error:
        return str(error)


def operations():
    """Calls each method, and returns what it would send."""
    asked = []

    def exchange(wire, request):
        parts = [request.method, request.path, "body" if request.body else "", "key" if request.idempotency_key else ""]
        asked.append(" ".join(parts).strip())

    def call(resource):
        for name, method in inspect.getmembers(resource, inspect.ismethod):
            if name.startswith("_"):
                continue
            parameters = inspect.signature(method).parameters.values()
            ids = iter("ab")
            made = method(*[{} if each.name in ("body", "query") else next(ids) for each in parameters
                            if each.kind != each.KEYWORD_ONLY])
            if isinstance(made, Pages):
                made.page()
        for name, member in vars(resource).items():
            if not name.startswith("_"):
                call(member)

    Wire.exchange = exchange
    call(client)
    return asked


client = Postrider(given["url"], given["key"])
keyed = [client.messages.send(MAIL, idempotency_key="order-1") for _ in range(2)]
batch = client.messages.batch({"messages": [{**MAIL, "tags": ["pages"]} for _ in range(5)]})
pages = client.messages.list({"tag": "pages", "limit": 2, "metadata": {"order": "o-17"}})
files = [{"filename": "a.bin", "content": "AP8=", "content_type": "application/octet-stream"}]
with_file = client.messages.send({**MAIL, "attachments": files}, wait_seconds=5)
scheduled = client.messages.send({**MAIL, "scheduled_at": given["later"]})
shop = io.StringIO()
with contextlib.redirect_stdout(shop):
    exec(given["example"], {"__name__": "__main__"})

print(json.dumps({
    "keyed": keyed,
    "other body": failure(lambda: client.messages.send({**MAIL, "subject": "Other"}, idempotency_key="order-1")),
    "sent": [each["id"] for each in batch["data"]],
    "listed": [each["id"] for each in pages],
    "page": pages.page(),
    "attachment": base64.b64encode(client.messages.attachment(with_file["id"], 1)).decode(),
    "text": client.messages.content(with_file["id"], {"part": "text"}),
    "content": client.messages.content(with_file["id"])["html"],
    "cancelled": client.messages.cancel(scheduled["id"])["status"],
    "invalid mail": failure(lambda: client.messages.send({**MAIL, "to": "nobody", "subject": "x\ny"})),
    "unknown": failure(lambda: client.messages.get("msg_00000000000000000000000000")),
    "wrong key": failure(lambda: Postrider(given["url"], "svc_live_x").usage.get()),
    "retried": hostile("retried", lambda each: each.messages.send(MAIL)),
    "too long": hostile("too long", lambda each: each.messages.get("msg_1")),
    "unsafe": hostile("unsafe", lambda each: each.webhooks.test("whk_1", {"type": "message.delivered"})),
    "half": hostile("half", lambda each: each.messages.get("msg_1")),
    "redirect": hostile("redirect", lambda each: each.messages.get("msg_1")),
    "page of a proxy": hostile("page of a proxy", lambda each: each.messages.get("msg_1")),
    "foreign error": hostile("foreign error", lambda each: each.messages.get("msg_1", max_retries=0)),
    "silent": failure(lambda: Postrider(given["hostile"]["silent"], "k", timeout=2).messages.send(MAIL)),
    "no such code": hostile("no such code", lambda each: each.messages.get("msg_1")),
    "escaped": hostile("escaped", lambda each: each.messages.get("../api-keys?x=1")),
    "bad ids": [hostile("escaped", lambda each: each.messages.get(bad))["field"] for bad in ["", ".", ".."]],
    "bad keys": [hostile("escaped", lambda each: each.messages.send(MAIL, idempotency_key=bad))["field"]
                 for bad in ["", "Größe", "a\nb", "x" * 256]],
    "bad options": [refused("mail.example.com", "k"), refused("https://mail.example.com", "k\n")],
    "faults": [fault(case) for case in given["webhooks"]],
    "example": shop.getvalue(),
    "operations": operations(),
}))
