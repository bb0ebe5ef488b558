"""Every operation that an API key can call. Generated from the OpenAPI document by scripts/client-types.ts."""

from __future__ import annotations

from typing import Any, List, Optional

from . import types
from .runtime import Clock, Pages, Request, Wire
from .stream import EventStream


class Messages:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def send(
        self,
        body: types.SendMessage,
        *,
        idempotency_key: Optional[str] = None,
        wait_seconds: int = 0,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.AcceptedMessage:
        """Send a message.

        Postrider responds once the message is stored durably and delivers it afterwards. Sending to a
        suppressed recipient is not an error: that recipient gets the status `suppressed` and no delivery
        attempt. If all recipients are suppressed, so is the message. An attachment can be a `url`, which
        Postrider downloads first, for at most 10 s.

        Requires the permission `send`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/messages/send",
            [],
            body=body,
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            wait_seconds=wait_seconds,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def batch(
        self,
        body: types.MessagesBatchBody,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.MessagesBatchAnswer:
        """Send up to 500 messages.

        Each message has its own result; a rejected message does not affect the others. All accepted messages
        are stored before the response. A large batch is stored in several steps. If a step fails, its messages
        have the error `unavailable`. `Idempotency-Key` applies to the whole batch, so retrying it sends nothing
        twice.

        Requires the permission `send`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/messages/batch",
            [],
            body=body,
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def list(
        self,
        query: Optional[types.MessagesListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Message]:
        """List messages.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(self._wire, "/v1/messages", [], query, timeout=timeout, max_retries=max_retries)

    def get(
        self,
        message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Message:
        """Retrieve a message and the status of each recipient.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/messages/{message_id}",
            [message_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def update(
        self,
        message_id: str,
        body: types.MessagesUpdateBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Message:
        """Reschedule a message.

        Requires the permission `send`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "PATCH",
            "/v1/messages/{message_id}",
            [message_id],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def content(
        self,
        message_id: str,
        query: Optional[types.MessagesContentQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Any:
        """Retrieve the content of a message.

        As JSON, as a single part, or as the raw message that was sent.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/messages/{message_id}/content",
            [message_id],
            query=query,
            is_repeatable=True,
            is_raw=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def delete_content(
        self,
        message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Delete the content of a message.

        Deletes text, HTML, headers, attachments and the raw message. The message, its events and attempts
        remain. Refused while a delivery is open: cancel the message, or wait until it ends. Backups made before
        still contain the content.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/messages/{message_id}/content",
            [message_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def events(
        self,
        message_id: str,
        query: Optional[types.MessagesEventsQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Event]:
        """List the events of a message.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(
            self._wire,
            "/v1/messages/{message_id}/events",
            [message_id],
            query,
            timeout=timeout,
            max_retries=max_retries,
        )

    def attempts(
        self,
        message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.MessagesAttemptsAnswer:
        """List the delivery attempts and reports of a message.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/messages/{message_id}/attempts",
            [message_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def webhook_deliveries(
        self,
        message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.MessagesWebhookDeliveriesAnswer:
        """List webhook deliveries of a message.

        Deliveries of its events to all webhooks, with every attempt.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/messages/{message_id}/webhook-deliveries",
            [message_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def attachment(
        self,
        message_id: str,
        number: int,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> bytes:
        """Download an attachment.

        Selected by its position in the `attachments` of the content, starting at 1.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/messages/{message_id}/attachments/{number}",
            [message_id, number],
            is_repeatable=True,
            is_raw=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def cancel(
        self,
        message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Message:
        """Cancel a scheduled or queued message.

        Requires the permission `send`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/messages/{message_id}/cancel",
            [message_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def resend(
        self,
        message_id: str,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.AcceptedMessage:
        """Resend a message.

        Sends the same content to the same recipients as a new message. Requires that the content is still
        stored, and a key of the same mode. Suppressions and quota apply as for any new message.

        Requires the permission `send`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/messages/{message_id}/resend",
            [message_id],
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def analyze(
        self,
        body: types.MessagesAnalyzeBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Analysis:
        """Analyze a message without sending it.

        Checks a message for problems with mail clients and spam filters, without using the network. Each
        finding has a stable code:

        See the table in `/docs` of your server.

        Requires the permission `send`. Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/messages/analyze",
            [],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def explain(
        self,
        message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.MessageExplanation:
        """Explain the delivery of a message.

        The current state and next step for each recipient.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/messages/{message_id}/explain",
            [message_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class ApiKeys:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create(
        self,
        body: types.ApiKeysCreateBody,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.CreatedApiKey:
        """Create an API key.

        The response contains the key value, which is shown only once; Postrider stores its hash. A key can
        grant the permissions it holds, and with `manage` also `send` and `read`. Without `admin` it can grant
        them for its own domain only. A test key can only create test keys. A key that expires cannot create one
        that lasts longer. A key limited to networks can only create keys within them.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only. The key must be able to grant every permission of
        the affected key.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/api-keys",
            [],
            body=body,
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def list(
        self,
        query: Optional[types.ApiKeysListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.ApiKey]:
        """List API keys.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(self._wire, "/v1/api-keys", [], query, timeout=timeout, max_retries=max_retries)

    def get(
        self,
        key_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.ApiKey:
        """Retrieve an API key.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/api-keys/{key_id}",
            [key_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def update(
        self,
        key_id: str,
        body: types.ApiKeysUpdateBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.ApiKey:
        """Update an API key’s name or networks.

        Only the fields you send change. null removes the network restriction.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only. The key must be able to grant every permission of
        the affected key.
        """
        request = Request(
            self._wire,
            "PATCH",
            "/v1/api-keys/{key_id}",
            [key_id],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def revoke(
        self,
        key_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Revoke an API key.

        Takes effect immediately; the record remains. The calling key must be able to grant every permission of
        the revoked key: `manage` cannot revoke an `admin` key.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only. The key must be able to grant every permission of
        the affected key.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/api-keys/{key_id}",
            [key_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def rotate(
        self,
        key_id: str,
        body: Optional[types.ApiKeysRotateBody] = None,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.RotatedApiKey:
        """Rotate an API key.

        Creates a new key with the same mode, expiry and networks. Both keys work until the grace period ends;
        then the old key gets 401. Expired, revoked or already rotated keys cannot be rotated. The calling key
        must be able to grant every permission of the rotated key.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only. The key must be able to grant every permission of
        the affected key.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/api-keys/{key_id}/rotate",
            [key_id],
            body=body or {},
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Domains:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create(
        self,
        body: types.DomainsCreateBody,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Domain:
        """Add a sending domain.

        Creates two DKIM keys, RSA-2048 and Ed25519; both sign every message. The response lists the DNS records
        to publish. The domain is `pending` until DNS has its DKIM records or its ownership record. A pending
        domain does not receive, forward or track, and sends test messages only. Live sending requires the DKIM
        records. Returns 409 if the organization already has the name, another organization has verified it, or
        it is a host name of this server or of another domain.

        Requires the permission `manage`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/domains",
            [],
            body=body,
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def list(
        self,
        query: Optional[types.DomainsListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Domain]:
        """List sending domains.

        Requires `manage`.
        """
        return Pages(self._wire, "/v1/domains", [], query, timeout=timeout, max_retries=max_retries)

    def get(
        self,
        domain_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Domain:
        """Retrieve a domain and its DNS status.

        Requires `manage`.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/domains/{domain_id}",
            [domain_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def update(
        self,
        domain_id: str,
        body: types.DomainsUpdateBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Domain:
        """Update tracking settings.

        Requires the permission `manage`. Test keys get 403. Without `admin`, a key can access its own domain
        only.
        """
        request = Request(
            self._wire,
            "PATCH",
            "/v1/domains/{domain_id}",
            [domain_id],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def delete(
        self,
        domain_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Delete a domain and revoke its API keys.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/domains/{domain_id}",
            [domain_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def dns_host(
        self,
        domain_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.DnsHost:
        """Find the DNS provider of a domain.

        Queries the name servers of the domain. All fields are null if the provider is not known.

        Requires `manage`.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/domains/{domain_id}/dns-host",
            [domain_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def verify(
        self,
        domain_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Domain:
        """Check the DNS records of a domain.

        Queries DNS now and returns the result. A verified domain stays verified if DNS does not respond, and
        for seven days if its records are missing (`proof_missing_since`).

        Requires the permission `manage`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/domains/{domain_id}/verify",
            [domain_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def rotate_dkim(
        self,
        domain_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Domain:
        """Rotate DKIM keys.

        Creates two new keys. They sign once their records are in DNS; then the old keys retire. With a
        delegated zone a domain has two pairs of selectors. Returns 422 with `retry_at` while the keys of the
        other pair retire, for a week after the last rotation.

        Requires the permission `manage`. Test keys get 403. Without `admin`, a key can access its own domain
        only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/domains/{domain_id}/rotate-dkim",
            [domain_id],
            is_repeatable=False,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def dmarc(
        self,
        domain_id: str,
        query: Optional[types.DomainsDmarcQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.DmarcSources:
        """Retrieve the DMARC sources of a domain.

        Addresses that sent mail in the name of the domain, from the DMARC aggregate reports of receivers, most
        messages first, at most 500. `totals` count all. Reports of unknown reporters count in neither, and are
        in `unknown_reporters`: all but large receivers and those with reports about the domain on 7 days.
        `kind`: this server, a known mail service, or unknown. A name in `ptr` is confirmed by its address
        record; names that DNS has not answered yet are null. `advice` recommends a policy. Days are complete
        and in UTC: `from` is rounded down, `to` (exclusive) up. The default is the last 30 days; at most 31
        days.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/domains/{domain_id}/dmarc",
            [domain_id],
            query=query,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def tls_reports(
        self,
        domain_id: str,
        query: Optional[types.DomainsTlsReportsQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.TlsResults:
        """Retrieve the TLS results of a domain.

        TLS connections of other mail servers to the hosts of the domain, from their reports (RFC 8460), most
        sessions first, without those of unknown reporters. `result` is `success` or the name of the failure.
        Days are complete and in UTC: `from` is rounded down, `to` (exclusive) up. The default is the last 30
        days; at most 31 days.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/domains/{domain_id}/tls-reports",
            [domain_id],
            query=query,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class AuditLog:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(
        self,
        query: Optional[types.AuditLogListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.AuditEntry]:
        """List audit log entries.

        Every management operation is recorded, including rejected ones. Postrider writes an entry in the same
        transaction as the change and keeps it for one year. Sending and reading are not recorded here; see the
        messages for sending.

        Requires the permission `admin`. Test keys can access test records only and get 404 for live ones.
        """
        return Pages(self._wire, "/v1/audit-log", [], query, timeout=timeout, max_retries=max_retries)


class Usage:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def get(self, *, timeout: Optional[float] = None, max_retries: Optional[int] = None) -> types.Usage:
        """Retrieve the plan and this month’s usage.

        A limit of -1 means unlimited.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/usage",
            [],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Billing:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def get(self, *, timeout: Optional[float] = None, max_retries: Optional[int] = None) -> types.Billing:
        """Retrieve plan, usage history and available plans.

        Usage of every past month, newest first, and the plans you can change to.

        Requires the permission `admin`. Test keys can access test records only and get 404 for live ones.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/billing",
            [],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def update(
        self,
        body: types.BillingUpdateBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Billing:
        """Change the plan.

        The operator decides which plans you can choose. A plan with fewer retention days deletes older data.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "PATCH",
            "/v1/billing",
            [],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Events:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(
        self,
        query: Optional[types.EventsListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Event]:
        """List events.

        Newest first; with `after`, oldest first and without gaps. To catch up after an outage, set `after` to
        the ID of the last event you processed and follow `next_cursor` until `has_more` is false. No event is
        missed or repeated.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(self._wire, "/v1/events", [], query, timeout=timeout, max_retries=max_retries)

    def stream(
        self,
        query: Optional[types.EventsStreamQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> EventStream[types.Event]:
        """Stream events (server-sent events).

        Events are sent as soon as they are stored. `id` is the event ID, `event` its type, and `data` the same
        envelope that webhooks get, byte for byte. Without `after`, the stream starts with new events. From time
        to time the stream sends an `id` alone to mark its position. Reconnect with `Last-Event-ID` set to the
        last ID you received; no event is lost or repeated. A browser’s EventSource reconnects this way but
        cannot send a key, so use `fetch`.

        If there is no event for 15 seconds, the stream sends a comment line. The stream ends if the key is
        revoked or expires, if the server stops, or if the client reads nothing for one minute. Limits: 10
        streams per key and 50 per organization.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return EventStream(self._wire, "/v1/events/stream", query, timeout=timeout, max_retries=max_retries)

    def get(
        self,
        event_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Event:
        """Retrieve an event.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/events/{event_id}",
            [event_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Explain:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def address(
        self,
        query: types.ExplainAddressQuery,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.AddressExplanation:
        """Explain delivery to an address.

        Describes what would happen to a live message to this address now, and why. With a test key, the answer
        uses DNS and the suppressions of test keys only. `site` covers all organizations on this server: for
        replies to other organizations, it shows only the reply class.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/explain",
            [],
            query=query,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Stats:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def read(
        self,
        query: Optional[types.StatsReadQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Stats:
        """Retrieve statistics by hour, day or month.

        All counts are recipients. Periods are complete and in UTC: `from` is rounded down, `to` (exclusive) up.
        The default is the last 30 days. At most 1000 hours or days, or 120 months. `accepted` includes
        suppressed recipients; `bounced` counts final bounces only; opens and clicks count people only. Rates
        are relative to recipients with a final outcome, or to delivered recipients. `group_by` adds the counts
        of the whole range by domain, tag or stream: the 100 largest groups, and the sum of the others. The
        range is then at most 400 days, by tag 100.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/stats",
            [],
            query=query,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Quality:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(
        self,
        query: Optional[types.QualityListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Quality]:
        """List bounce and complaint rates by domain.

        Live messages of the last `window_hours`, with alerts. A `quality.alert` event fires when a rate exceeds
        its threshold with at least `min_sent` recipients, and again when it is well below it.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(self._wire, "/v1/quality", [], query, timeout=timeout, max_retries=max_retries)


class Suppressions:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(
        self,
        query: Optional[types.SuppressionsListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Suppression]:
        """List suppressions.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(self._wire, "/v1/suppressions", [], query, timeout=timeout, max_retries=max_retries)

    def create(
        self,
        body: types.SuppressionsCreateBody,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Suppression:
        """Add a suppression.

        For one domain or for the whole organization, and for one stream or for every stream.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/suppressions",
            [],
            body=body,
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def get(
        self,
        id_or_email: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Suppression:
        """Retrieve a suppression.

        By ID or address. For an address, returns the suppression with the widest scope.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/suppressions/{id_or_email}",
            [id_or_email],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def delete(
        self,
        id_or_email: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Remove a suppression.

        Deletes one suppression by ID, or all suppressions of an address.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/suppressions/{id_or_email}",
            [id_or_email],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def export(
        self,
        query: Optional[types.SuppressionsExportQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> str:
        """Export suppressions as CSV.

        UTF-8 according to RFC 4180, newest first. Fields that start with `=`, `+`, `-`, `@`, a tab or `'` are
        prefixed with `'`, so that spreadsheets do not run them as formulas. Imports remove the prefix.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/suppressions/export",
            [],
            query=query,
            is_repeatable=True,
            is_raw=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def import_(
        self,
        body: types.SuppressionsImportBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.SuppressionImport:
        """Import suppressions.

        Accepts Postrider’s own CSV, or an export from Resend, Postmark, SendGrid, Mailgun, SES or Postal. Of
        our columns (`email`, `reason`, `domain_id`, `created_at`, `evidence`, `stream`) only `email` is
        required. Separators: comma, semicolon or tab. The body can be the CSV itself, with `Content-Type:
        text/csv`. Existing suppressions stay unchanged, so importing twice is safe. Unreadable lines are
        skipped. `errors` lists the first 100 by line number or by position in the array. Numbers start at one.
        If the plan’s suppression limit is reached, the import stops with 422 `quota_exceeded`; `details.added`
        counts the addresses added before that, which remain. Temporary failures are skipped and suppress
        nothing. At most 2000000 characters or 5000 objects; `postrider import suppressions` has no limit.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/suppressions/import",
            [],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Recipients:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def erase(
        self,
        body: types.RecipientsEraseBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Erasure:
        """Erase a recipient.

        Removes the address from live and test records: messages to nobody else, its part of other messages with
        their content, inbound messages from or to it, and events. Cancels queued mail to it. Statistics stay,
        and a keyed hash keeps a suppression. `remaining` lists users, invitations, routes and forward targets
        that still name it. Runs in the background. Backups keep the address.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/recipients/erase",
            [],
            body=body,
            is_repeatable=False,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def erasures_list(
        self,
        query: Optional[types.RecipientsErasuresListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Erasure]:
        """List erasures.

        Requires the permission `admin`. Test keys get 403.
        """
        return Pages(self._wire, "/v1/recipients/erasures", [], query, timeout=timeout, max_retries=max_retries)

    def erasure_get(
        self,
        erasure_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Erasure:
        """Retrieve an erasure.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/recipients/erasures/{erasure_id}",
            [erasure_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Templates:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create(
        self,
        body: types.TemplatesCreateBody,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Template:
        """Create a template.

        Templates use Liquid; output in html is escaped. A syntax error returns 400 with line and column. A
        variable that is missing when a message is sent returns 422 `template_error`, unless it has a default:
        `{{ name | default: "friend" }}`.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/templates",
            [],
            body=body,
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def list(
        self,
        query: Optional[types.TemplatesListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.ListedTemplate]:
        """List templates.

        Omits `html`, `text` and `sample`.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        """
        return Pages(self._wire, "/v1/templates", [], query, timeout=timeout, max_retries=max_retries)

    def get(
        self,
        template_id: str,
        query: Optional[types.TemplatesGetQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Template:
        """Retrieve a template.

        By ID or alias; optionally an earlier version.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/templates/{template_id}",
            [template_id],
            query=query,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def update(
        self,
        template_id: str,
        body: types.TemplatesUpdateBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Template:
        """Update a template.

        Changed content becomes a new version, which applies to all messages sent afterwards. Only the fields
        you send change. Concurrent edits to different fields merge; for the same field the last write wins.
        Previous content remains as versions.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        """
        request = Request(
            self._wire,
            "PATCH",
            "/v1/templates/{template_id}",
            [template_id],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def delete(
        self,
        template_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Delete a template.

        Deletes all its versions. Messages already created from it remain. A layout or partial that other
        templates use returns 409 with `used_by`.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/templates/{template_id}",
            [template_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def render(
        self,
        template_id: str,
        body: Optional[types.TemplatesRenderBody] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.RenderedTemplate:
        """Render a template.

        Renders it with your variables. Nothing is sent.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/templates/{template_id}/render",
            [template_id],
            body=body or {},
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def preview(
        self,
        body: types.TemplatesPreviewBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.TemplatePreview:
        """Preview unsaved template content.

        Nothing is stored or sent. Variables without a value or a default appear as `[its.name]` and are listed
        in `missing`; sending would reject them.

        Requires `manage`.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/templates/preview",
            [],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def versions(
        self,
        template_id: str,
        query: Optional[types.TemplatesVersionsQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.ListedTemplateVersion]:
        """List the versions of a template.

        Omits `html` and `text`.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        """
        return Pages(
            self._wire,
            "/v1/templates/{template_id}/versions",
            [template_id],
            query,
            timeout=timeout,
            max_retries=max_retries,
        )


class WebhooksDeliveries:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(
        self,
        webhook_id: str,
        query: Optional[types.WebhookDeliveriesListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.WebhookDelivery]:
        """List the deliveries of a webhook.

        Each delivery includes its attempts.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(
            self._wire,
            "/v1/webhooks/{webhook_id}/deliveries",
            [webhook_id],
            query,
            timeout=timeout,
            max_retries=max_retries,
        )

    def get(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.WebhookDeliveryWithRequest:
        """Retrieve a webhook delivery and its attempts.

        Also shows the request of the latest attempt, as the present signing secret signs it.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}",
            [webhook_id, delivery_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def retry(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.WebhookDelivery:
        """Retry a webhook delivery.

        Sends it again now, whatever its status. Attempt numbers continue.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry",
            [webhook_id, delivery_id],
            is_repeatable=False,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Webhooks:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.deliveries = WebhooksDeliveries(wire)

    def create(
        self,
        body: types.WebhooksCreateBody,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.CreatedWebhook:
        """Create a webhook.

        The response contains the signing secret, which is shown only once. Every request is signed. Webhooks
        created with a test key receive events of test messages only; those created without `admin` receive
        events of the key’s domain only. Each delivery has five attempts. A webhook is paused if its endpoint
        returns 410, or after 100 failed deliveries in a row over at least 24 hours.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/webhooks",
            [],
            body=body,
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def list(
        self,
        query: Optional[types.WebhooksListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Webhook]:
        """List webhooks.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(self._wire, "/v1/webhooks", [], query, timeout=timeout, max_retries=max_retries)

    def get(
        self,
        webhook_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Webhook:
        """Retrieve a webhook.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/webhooks/{webhook_id}",
            [webhook_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def update(
        self,
        webhook_id: str,
        body: types.WebhooksUpdateBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Webhook:
        """Update a webhook.

        Set `status` to `paused` to stop a webhook and to `active` to start it again. While it is paused nothing
        is sent: events from that time are not sent later, and pending deliveries wait. `headers` replaces all
        of them; `null` or `{}` removes them. A `url` with another scheme, host or port also removes them,
        unless the request contains `headers`.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "PATCH",
            "/v1/webhooks/{webhook_id}",
            [webhook_id],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def delete(
        self,
        webhook_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Delete a webhook and its deliveries.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/webhooks/{webhook_id}",
            [webhook_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def test(
        self,
        webhook_id: str,
        body: types.WebhooksTestBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Event:
        """Send a test event.

        Sends a sample event of any type, subscribed or not. It counts as a test message.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/webhooks/{webhook_id}/test",
            [webhook_id],
            body=body,
            is_repeatable=False,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def rotate_secret(
        self,
        webhook_id: str,
        body: Optional[types.WebhooksRotateSecretBody] = None,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.WebhookWithNewSecret:
        """Rotate the signing secret.

        Postrider signs requests with both secrets until the grace period ends.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/webhooks/{webhook_id}/rotate-secret",
            [webhook_id],
            body=body or {},
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def replay(
        self,
        webhook_id: str,
        body: types.WebhooksReplayBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.WebhooksReplayAnswer:
        """Replay past events.

        Sends the events of a time range again, with the same event IDs.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/webhooks/{webhook_id}/replay",
            [webhook_id],
            body=body,
            is_repeatable=False,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class InboundRoutes:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create(
        self,
        body: types.InboundRoutesCreateBody,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.CreatedInboundRoute:
        """Create an inbound route.

        The response contains the signing secret, which is shown only once. If several routes match a recipient,
        the one with the highest `priority` wins; then address before pattern before domain before catch-all.
        `a+tag@d` falls back to `a@d`. With `authentication`, `none` accepts all mail and reports the results.
        `dmarc` rejects mail that the author domain’s DMARC policy rejects. `require_pass` rejects mail that
        does not pass DMARC. Forwards count as sending. A forward target outside the organization’s verified
        domains is `pending` until its owner confirms it; Postrider emails the confirmation link now.

        Requires the permission `manage`. Test keys get 403. Without `admin`, a key can access its own domain
        only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/inbound-routes",
            [],
            body=body,
            is_repeatable=True,
            is_keyed=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def list(
        self,
        query: Optional[types.InboundRoutesListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.InboundRoute]:
        """List inbound routes.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(self._wire, "/v1/inbound-routes", [], query, timeout=timeout, max_retries=max_retries)

    def get(
        self,
        route_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.InboundRoute:
        """Retrieve an inbound route.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/inbound-routes/{route_id}",
            [route_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def update(
        self,
        route_id: str,
        body: types.InboundRoutesUpdateBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.InboundRoute:
        """Update an inbound route.

        Send `match` and `action` as complete objects. Without `headers`, a webhook action keeps those it has if
        scheme, host and port of `url` stay the same; otherwise they are removed.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "PATCH",
            "/v1/inbound-routes/{route_id}",
            [route_id],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def delete(
        self,
        route_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Delete an inbound route.

        Messages it received remain. Pending webhook deliveries fail.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/inbound-routes/{route_id}",
            [route_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def confirmations(
        self,
        route_id: str,
        body: Optional[types.InboundRoutesConfirmationsBody] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.ForwardConfirmations:
        """Resend confirmation requests to pending forward targets.

        Each target gets an email from the route’s domain with a link that is valid for seven days. These emails
        belong to the server, so that your organization does not read the link. An address gets at most three
        requests per day, across all organizations. Targets whose owner stopped the forwarding get none, nor do
        targets whose mail this server receives: the operator passes on their link.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/inbound-routes/{route_id}/confirmations",
            [route_id],
            body=body or {},
            is_repeatable=False,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def test(
        self,
        route_id: str,
        body: types.InboundRoutesTestBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.InboundRouteTest:
        """Test which route would match a message.

        Explains the decision. Nothing is sent.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/inbound-routes/{route_id}/test",
            [route_id],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class InboundMessages:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(
        self,
        query: Optional[types.InboundMessagesListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.InboundMessage]:
        """List inbound messages.

        `status` is the status of the webhook delivery.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        return Pages(self._wire, "/v1/inbound-messages", [], query, timeout=timeout, max_retries=max_retries)

    def get(
        self,
        inbound_message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.WholeInboundMessage:
        """Retrieve an inbound message.

        Includes the bodies, the headers and a list of the attachments.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/inbound-messages/{inbound_message_id}",
            [inbound_message_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def raw(
        self,
        inbound_message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> bytes:
        """Download the raw inbound message.

        The message as received, with our trace headers added at the top.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/inbound-messages/{inbound_message_id}/raw",
            [inbound_message_id],
            is_repeatable=True,
            is_raw=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def deliveries(
        self,
        inbound_message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.InboundMessagesDeliveriesAnswer:
        """List deliveries of an inbound message.

        Each delivery includes its attempts.

        Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/inbound-messages/{inbound_message_id}/deliveries",
            [inbound_message_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def redeliver(
        self,
        inbound_message_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.InboundDelivery:
        """Redeliver an inbound message.

        Starts a new delivery to the endpoint with five attempts.

        Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
        Without `admin`, a key can access its own domain only.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/inbound-messages/{inbound_message_id}/redeliver",
            [inbound_message_id],
            is_repeatable=False,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Invitations:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create(
        self,
        body: types.InvitationsCreateBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.CreatedInvitation:
        """Invite a user.

        The link works once and expires after seven days. It replaces an earlier one for the same address, and
        stops working when the inviting user or key loses the right to invite. If the operator configured a
        sender, the server sends it by mail, which verifies the address. It sends at most three messages a day
        to an address, and fifty for an organization. `url` is another link for an operator, who can pass it on.
        It does not prove whose address it is: until the address is verified, the account has only this role.
        Others get null, because a link shows whether the address has an account. They get one while the server
        sends no mail to users and has only one organization.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "POST",
            "/v1/invitations",
            [],
            body=body,
            is_repeatable=False,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def list(
        self,
        query: Optional[types.InvitationsListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Invitation]:
        """List open invitations.

        Requires the permission `admin`. Test keys get 403.
        """
        return Pages(self._wire, "/v1/invitations", [], query, timeout=timeout, max_retries=max_retries)

    def delete(
        self,
        invitation_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Withdraw an invitation.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/invitations/{invitation_id}",
            [invitation_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Users:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(
        self,
        query: Optional[types.UsersListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.User]:
        """List users.

        Users with a role in the organization. An operator who selects no organization gets all users.

        Requires the permission `admin`. Test keys get 403.
        """
        return Pages(self._wire, "/v1/users", [], query, timeout=timeout, max_retries=max_retries)

    def get(
        self,
        user_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.User:
        """Retrieve a user.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "GET",
            "/v1/users/{user_id}",
            [user_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def update(
        self,
        user_id: str,
        body: types.UsersUpdateBody,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.User:
        """Update a user.

        Only the fields you send change. A change holds for the next request of the user. The last owner of an
        organization keeps the role unless an operator changes it, and the last operator cannot be disabled.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "PATCH",
            "/v1/users/{user_id}",
            [user_id],
            body=body,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def delete(
        self,
        user_id: str,
        query: Optional[types.UsersDeleteQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Remove a user.

        Removes the role in the organization, and the account with its sessions if it has no other role. An
        operator who selects no organization deletes the account. Keys that the user made in the organization
        are revoked, unless `keys` is `keep`.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/users/{user_id}",
            [user_id],
            query=query,
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)

    def sessions_list(
        self,
        user_id: str,
        query: Optional[types.UsersSessionsListQuery] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Pages[types.Session]:
        """List sessions of a user.

        For operators and users with roles in other organizations, only the operator can do this.

        Requires the permission `admin`. Test keys get 403.
        """
        return Pages(
            self._wire,
            "/v1/users/{user_id}/sessions",
            [user_id],
            query,
            timeout=timeout,
            max_retries=max_retries,
        )

    def sessions_delete(
        self,
        user_id: str,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> types.Deletion:
        """Sign a user out everywhere.

        For operators and users with roles in other organizations, only the operator can do this.

        Requires the permission `admin`. Test keys get 403.
        """
        request = Request(
            self._wire,
            "DELETE",
            "/v1/users/{user_id}/sessions",
            [user_id],
            is_repeatable=True,
            timeout=timeout,
            max_retries=max_retries,
        )
        return self._wire.exchange(request)


class Postrider:
    """A method for every operation that an API key can call.

    `base_url` and `api_key` default to the environment variables POSTRIDER_URL and POSTRIDER_API_KEY. `timeout` is
    that of a call including its retries, in seconds. Raises ValueError if URL or key is missing or invalid.
    """

    def __init__(self, base_url: Optional[str] = None, api_key: Optional[str] = None, *, timeout: float = 10.0,
                 max_retries: int = 2, clock: Optional[Clock] = None) -> None:
        wire = Wire(base_url, api_key, timeout, max_retries, clock)
        self.messages = Messages(wire)
        self.api_keys = ApiKeys(wire)
        self.domains = Domains(wire)
        self.audit_log = AuditLog(wire)
        self.usage = Usage(wire)
        self.billing = Billing(wire)
        self.events = Events(wire)
        self.explain = Explain(wire)
        self.stats = Stats(wire)
        self.quality = Quality(wire)
        self.suppressions = Suppressions(wire)
        self.recipients = Recipients(wire)
        self.templates = Templates(wire)
        self.webhooks = Webhooks(wire)
        self.inbound_routes = InboundRoutes(wire)
        self.inbound_messages = InboundMessages(wire)
        self.invitations = Invitations(wire)
        self.users = Users(wire)
