<?php

// Generated from the OpenAPI document by scripts/client-types.ts.

declare(strict_types=1);

namespace Postrider;

/**
 * @phpstan-import-type AcceptedMessage from Types
 * @phpstan-import-type Analysis from Types
 * @phpstan-import-type Deletion from Types
 * @phpstan-import-type Event from Types
 * @phpstan-import-type Message from Types
 * @phpstan-import-type MessageContent from Types
 * @phpstan-import-type MessageExplanation from Types
 * @phpstan-import-type MessagesAnalyzeBody from Types
 * @phpstan-import-type MessagesAttemptsAnswer from Types
 * @phpstan-import-type MessagesBatchAnswer from Types
 * @phpstan-import-type MessagesBatchBody from Types
 * @phpstan-import-type MessagesContentQuery from Types
 * @phpstan-import-type MessagesEventsQuery from Types
 * @phpstan-import-type MessagesListQuery from Types
 * @phpstan-import-type MessagesUpdateBody from Types
 * @phpstan-import-type MessagesWebhookDeliveriesAnswer from Types
 * @phpstan-import-type SendMessage from Types
 */
final class Messages
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Send a message.
     *
     * Postrider responds once the message is stored durably and delivers it afterwards. Sending to a suppressed
     * recipient is not an error: that recipient gets the status `suppressed` and no delivery attempt. If all
     * recipients are suppressed, so is the message. An attachment can be a `url`, which Postrider downloads first, for
     * at most 10 s.
     *
     * Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param SendMessage $body
     * @return AcceptedMessage
     */
    public function send(
        array $body,
        ?string $idempotencyKey = null,
        int $waitSeconds = 0,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/messages/send',
            [],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            waitSeconds: $waitSeconds,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Send up to 500 messages.
     *
     * Each message has its own result; a rejected message does not affect the others. All accepted messages are stored
     * before the response. A large batch is stored in several steps. If a step fails, its messages have the error
     * `unavailable`. `Idempotency-Key` applies to the whole batch, so retrying it sends nothing twice.
     *
     * Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param MessagesBatchBody $body
     * @return MessagesBatchAnswer
     */
    public function batch(
        array $body,
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/messages/batch',
            [],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List messages.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param MessagesListQuery $query
     * @return Pages<Message>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/messages',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve a message and the status of each recipient.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return Message
     */
    public function get(
        string $messageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/messages/{message_id}',
            [$messageId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Reschedule a message.
     *
     * Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param MessagesUpdateBody $body
     * @return Message
     */
    public function update(
        string $messageId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'PATCH',
            '/v1/messages/{message_id}',
            [$messageId],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve the content of a message.
     *
     * As JSON, as a single part, or as the raw message that was sent.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param MessagesContentQuery $query
     * @return MessageContent|string
     */
    public function content(
        string $messageId,
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array|string {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/messages/{message_id}/content',
            [$messageId],
            query: $query,
            isRaw: true,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Delete the content of a message.
     *
     * Deletes text, HTML, headers, attachments and the raw message. The message, its events and attempts remain.
     * Refused while a delivery is open: cancel the message, or wait until it ends. Backups made before still contain
     * the content.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return Deletion
     */
    public function deleteContent(
        string $messageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/messages/{message_id}/content',
            [$messageId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List the events of a message.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param MessagesEventsQuery $query
     * @return Pages<Event>
     */
    public function events(
        string $messageId,
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/messages/{message_id}/events',
            [$messageId],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List the delivery attempts and reports of a message.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return MessagesAttemptsAnswer
     */
    public function attempts(
        string $messageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/messages/{message_id}/attempts',
            [$messageId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List webhook deliveries of a message.
     *
     * Deliveries of its events to all webhooks, with every attempt.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return MessagesWebhookDeliveriesAnswer
     */
    public function webhookDeliveries(
        string $messageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/messages/{message_id}/webhook-deliveries',
            [$messageId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Download an attachment.
     *
     * Selected by its position in the `attachments` of the content, starting at 1.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return string
     */
    public function attachment(
        string $messageId,
        int $number,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): string {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/messages/{message_id}/attachments/{number}',
            [$messageId, $number],
            isRaw: true,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Cancel a scheduled or queued message.
     *
     * Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return Message
     */
    public function cancel(
        string $messageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/messages/{message_id}/cancel',
            [$messageId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Resend a message.
     *
     * Sends the same content to the same recipients as a new message. Requires that the content is still stored, and a
     * key of the same mode. Suppressions and quota apply as for any new message.
     *
     * Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return AcceptedMessage
     */
    public function resend(
        string $messageId,
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/messages/{message_id}/resend',
            [$messageId],
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Analyze a message without sending it.
     *
     * Checks a message for problems with mail clients and spam filters, without using the network. Each finding has a
     * stable code:
     *
     * See the table in `/docs` of your server.
     *
     * Requires the permission `send`. Without `admin`, a key can access its own domain only.
     *
     * @param MessagesAnalyzeBody $body
     * @return Analysis
     */
    public function analyze(
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/messages/analyze',
            [],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Explain the delivery of a message.
     *
     * The current state and next step for each recipient.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return MessageExplanation
     */
    public function explain(
        string $messageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/messages/{message_id}/explain',
            [$messageId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type ApiKey from Types
 * @phpstan-import-type ApiKeysCreateBody from Types
 * @phpstan-import-type ApiKeysListQuery from Types
 * @phpstan-import-type ApiKeysRotateBody from Types
 * @phpstan-import-type ApiKeysUpdateBody from Types
 * @phpstan-import-type CreatedApiKey from Types
 * @phpstan-import-type Deletion from Types
 * @phpstan-import-type RotatedApiKey from Types
 */
final class ApiKeys
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Create an API key.
     *
     * The response contains the key value, which is shown only once; Postrider stores its hash. A key can grant the
     * permissions it holds, and with `manage` also `send` and `read`. Without `admin` it can grant them for its own
     * domain only. A test key can only create test keys. A key that expires cannot create one that lasts longer. A key
     * limited to networks can only create keys within them.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only. The key must be able to grant every permission of the affected
     * key.
     *
     * @param ApiKeysCreateBody $body
     * @return CreatedApiKey
     */
    public function create(
        array $body,
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/api-keys',
            [],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List API keys.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param ApiKeysListQuery $query
     * @return Pages<ApiKey>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/api-keys',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve an API key.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return ApiKey
     */
    public function get(
        string $keyId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/api-keys/{key_id}',
            [$keyId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Update an API key’s name or networks.
     *
     * Only the fields you send change. null removes the network restriction.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only. The key must be able to grant every permission of the affected
     * key.
     *
     * @param ApiKeysUpdateBody $body
     * @return ApiKey
     */
    public function update(
        string $keyId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'PATCH',
            '/v1/api-keys/{key_id}',
            [$keyId],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Revoke an API key.
     *
     * Takes effect immediately; the record remains. The calling key must be able to grant every permission of the
     * revoked key: `manage` cannot revoke an `admin` key.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only. The key must be able to grant every permission of the affected
     * key.
     *
     * @return Deletion
     */
    public function revoke(
        string $keyId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/api-keys/{key_id}',
            [$keyId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Rotate an API key.
     *
     * Creates a new key with the same mode, expiry and networks. Both keys work until the grace period ends; then the
     * old key gets 401. Expired, revoked or already rotated keys cannot be rotated. The calling key must be able to
     * grant every permission of the rotated key.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only. The key must be able to grant every permission of the affected
     * key.
     *
     * @param ApiKeysRotateBody $body
     * @return RotatedApiKey
     */
    public function rotate(
        string $keyId,
        array $body = [],
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/api-keys/{key_id}/rotate',
            [$keyId],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Deletion from Types
 * @phpstan-import-type DmarcSources from Types
 * @phpstan-import-type DnsHost from Types
 * @phpstan-import-type Domain from Types
 * @phpstan-import-type DomainsCreateBody from Types
 * @phpstan-import-type DomainsDmarcQuery from Types
 * @phpstan-import-type DomainsListQuery from Types
 * @phpstan-import-type DomainsTlsReportsQuery from Types
 * @phpstan-import-type DomainsUpdateBody from Types
 * @phpstan-import-type TlsResults from Types
 */
final class Domains
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Add a sending domain.
     *
     * Creates two DKIM keys, RSA-2048 and Ed25519; both sign every message. The response lists the DNS records to
     * publish. The domain is `pending` until DNS has its DKIM records or its ownership record. A pending domain does
     * not receive, forward or track, and sends test messages only. Live sending requires the DKIM records. Returns 409
     * if the organization already has the name, another organization has verified it, or it is a host name of this
     * server or of another domain.
     *
     * Requires the permission `manage`. Test keys get 403.
     *
     * @param DomainsCreateBody $body
     * @return Domain
     */
    public function create(
        array $body,
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/domains',
            [],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List sending domains.
     *
     * Requires `manage`.
     *
     * @param DomainsListQuery $query
     * @return Pages<Domain>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/domains',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve a domain and its DNS status.
     *
     * Requires `manage`.
     *
     * @return Domain
     */
    public function get(
        string $domainId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/domains/{domain_id}',
            [$domainId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Update tracking settings.
     *
     * Requires the permission `manage`. Test keys get 403. Without `admin`, a key can access its own domain only.
     *
     * @param DomainsUpdateBody $body
     * @return Domain
     */
    public function update(
        string $domainId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'PATCH',
            '/v1/domains/{domain_id}',
            [$domainId],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Delete a domain and revoke its API keys.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @return Deletion
     */
    public function delete(
        string $domainId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/domains/{domain_id}',
            [$domainId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Find the DNS provider of a domain.
     *
     * Queries the name servers of the domain. All fields are null if the provider is not known.
     *
     * Requires `manage`.
     *
     * @return DnsHost
     */
    public function dnsHost(
        string $domainId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/domains/{domain_id}/dns-host',
            [$domainId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Check the DNS records of a domain.
     *
     * Queries DNS now and returns the result. A verified domain stays verified if DNS does not respond, and for seven
     * days if its records are missing (`proof_missing_since`).
     *
     * Requires the permission `manage`. Test keys get 403.
     *
     * @return Domain
     */
    public function verify(
        string $domainId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/domains/{domain_id}/verify',
            [$domainId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Rotate DKIM keys.
     *
     * Creates two new keys. They sign once their records are in DNS; then the old keys retire. With a delegated zone a
     * domain has two pairs of selectors. Returns 422 with `retry_at` while the keys of the other pair retire, for a
     * week after the last rotation.
     *
     * Requires the permission `manage`. Test keys get 403. Without `admin`, a key can access its own domain only.
     *
     * @return Domain
     */
    public function rotateDkim(
        string $domainId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/domains/{domain_id}/rotate-dkim',
            [$domainId],
            isRepeatable: false,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve the DMARC sources of a domain.
     *
     * Addresses that sent mail in the name of the domain, from the DMARC aggregate reports of receivers, most messages
     * first, at most 500. `totals` count all. Reports of unknown reporters count in neither, and are in
     * `unknown_reporters`: all but large receivers and those with reports about the domain on 7 days. `kind`: this
     * server, a known mail service, or unknown. A name in `ptr` is confirmed by its address record; names that DNS has
     * not answered yet are null. `advice` recommends a policy. Days are complete and in UTC: `from` is rounded down,
     * `to` (exclusive) up. The default is the last 30 days; at most 31 days.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param DomainsDmarcQuery $query
     * @return DmarcSources
     */
    public function dmarc(
        string $domainId,
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/domains/{domain_id}/dmarc',
            [$domainId],
            query: $query,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve the TLS results of a domain.
     *
     * TLS connections of other mail servers to the hosts of the domain, from their reports (RFC 8460), most sessions
     * first, without those of unknown reporters. `result` is `success` or the name of the failure. Days are complete
     * and in UTC: `from` is rounded down, `to` (exclusive) up. The default is the last 30 days; at most 31 days.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param DomainsTlsReportsQuery $query
     * @return TlsResults
     */
    public function tlsReports(
        string $domainId,
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/domains/{domain_id}/tls-reports',
            [$domainId],
            query: $query,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type AuditEntry from Types
 * @phpstan-import-type AuditLogListQuery from Types
 */
final class AuditLog
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * List audit log entries.
     *
     * Every management operation is recorded, including rejected ones. Postrider writes an entry in the same
     * transaction as the change and keeps it for one year. Sending and reading are not recorded here; see the messages
     * for sending.
     *
     * Requires the permission `admin`. Test keys can access test records only and get 404 for live ones.
     *
     * @param AuditLogListQuery $query
     * @return Pages<AuditEntry>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/audit-log',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Usage from Types
 */
final class Usage
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Retrieve the plan and this month’s usage.
     *
     * A limit of -1 means unlimited.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones.
     *
     * @return Usage
     */
    public function get(
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/usage',
            [],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Billing from Types
 * @phpstan-import-type BillingUpdateBody from Types
 */
final class Billing
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Retrieve plan, usage history and available plans.
     *
     * Usage of every past month, newest first, and the plans you can change to.
     *
     * Requires the permission `admin`. Test keys can access test records only and get 404 for live ones.
     *
     * @return Billing
     */
    public function get(
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/billing',
            [],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Change the plan.
     *
     * The operator decides which plans you can choose. A plan with fewer retention days deletes older data.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @param BillingUpdateBody $body
     * @return Billing
     */
    public function update(
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'PATCH',
            '/v1/billing',
            [],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Event from Types
 * @phpstan-import-type EventsListQuery from Types
 * @phpstan-import-type EventsStreamQuery from Types
 */
final class Events
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * List events.
     *
     * Newest first; with `after`, oldest first and without gaps. To catch up after an outage, set `after` to the ID of
     * the last event you processed and follow `next_cursor` until `has_more` is false. No event is missed or repeated.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param EventsListQuery $query
     * @return Pages<Event>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/events',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Stream events (server-sent events).
     *
     * Events are sent as soon as they are stored. `id` is the event ID, `event` its type, and `data` the same envelope
     * that webhooks get, byte for byte. Without `after`, the stream starts with new events. From time to time the
     * stream sends an `id` alone to mark its position. Reconnect with `Last-Event-ID` set to the last ID you received;
     * no event is lost or repeated. A browser’s EventSource reconnects this way but cannot send a key, so use `fetch`.
     *
     * If there is no event for 15 seconds, the stream sends a comment line. The stream ends if the key is revoked or
     * expires, if the server stops, or if the client reads nothing for one minute. Limits: 10 streams per key and 50
     * per organization.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param EventsStreamQuery $query
     * @return EventStream<Event>
     */
    public function stream(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): EventStream {
        return new EventStream($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/events/stream',
            [],
            query: [...$query, ...$more],
            accept: 'text/event-stream',
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ), $query['after'] ?? null);
    }

    /**
     * Retrieve an event.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return Event
     */
    public function get(
        string $eventId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/events/{event_id}',
            [$eventId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type AddressExplanation from Types
 * @phpstan-import-type ExplainAddressQuery from Types
 */
final class Explain
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Explain delivery to an address.
     *
     * Describes what would happen to a live message to this address now, and why. With a test key, the answer uses DNS
     * and the suppressions of test keys only. `site` covers all organizations on this server: for replies to other
     * organizations, it shows only the reply class.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param ExplainAddressQuery $query
     * @return AddressExplanation
     */
    public function address(
        array $query,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/explain',
            [],
            query: $query,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Stats from Types
 * @phpstan-import-type StatsReadQuery from Types
 */
final class Stats
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Retrieve statistics by hour, day or month.
     *
     * All counts are recipients. Periods are complete and in UTC: `from` is rounded down, `to` (exclusive) up. The
     * default is the last 30 days. At most 1000 hours or days, or 120 months. `accepted` includes suppressed
     * recipients; `bounced` counts final bounces only; opens and clicks count people only. Rates are relative to
     * recipients with a final outcome, or to delivered recipients. `group_by` adds the counts of the whole range by
     * domain, tag or stream: the 100 largest groups, and the sum of the others. The range is then at most 400 days, by
     * tag 100.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param StatsReadQuery $query
     * @return Stats
     */
    public function read(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/stats',
            [],
            query: $query,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Quality from Types
 * @phpstan-import-type QualityListQuery from Types
 */
final class Quality
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * List bounce and complaint rates by domain.
     *
     * Live messages of the last `window_hours`, with alerts. A `quality.alert` event fires when a rate exceeds its
     * threshold with at least `min_sent` recipients, and again when it is well below it.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param QualityListQuery $query
     * @return Pages<Quality>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/quality',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Deletion from Types
 * @phpstan-import-type Suppression from Types
 * @phpstan-import-type SuppressionImport from Types
 * @phpstan-import-type SuppressionsCreateBody from Types
 * @phpstan-import-type SuppressionsExportQuery from Types
 * @phpstan-import-type SuppressionsImportBody from Types
 * @phpstan-import-type SuppressionsListQuery from Types
 */
final class Suppressions
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * List suppressions.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param SuppressionsListQuery $query
     * @return Pages<Suppression>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/suppressions',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Add a suppression.
     *
     * For one domain or for the whole organization, and for one stream or for every stream.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param SuppressionsCreateBody $body
     * @return Suppression
     */
    public function create(
        array $body,
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/suppressions',
            [],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve a suppression.
     *
     * By ID or address. For an address, returns the suppression with the widest scope.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return Suppression
     */
    public function get(
        string $idOrEmail,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/suppressions/{id_or_email}',
            [$idOrEmail],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Remove a suppression.
     *
     * Deletes one suppression by ID, or all suppressions of an address.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return Deletion
     */
    public function delete(
        string $idOrEmail,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/suppressions/{id_or_email}',
            [$idOrEmail],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Export suppressions as CSV.
     *
     * UTF-8 according to RFC 4180, newest first. Fields that start with `=`, `+`, `-`, `@`, a tab or `'` are prefixed
     * with `'`, so that spreadsheets do not run them as formulas. Imports remove the prefix.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param SuppressionsExportQuery $query
     * @return string
     */
    public function export(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): string {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/suppressions/export',
            [],
            query: $query,
            isRaw: true,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Import suppressions.
     *
     * Accepts Postrider’s own CSV, or an export from Resend, Postmark, SendGrid, Mailgun, SES or Postal. Of our
     * columns (`email`, `reason`, `domain_id`, `created_at`, `evidence`, `stream`) only `email` is required.
     * Separators: comma, semicolon or tab. The body can be the CSV itself, with `Content-Type: text/csv`. Existing
     * suppressions stay unchanged, so importing twice is safe. Unreadable lines are skipped. `errors` lists the first
     * 100 by line number or by position in the array. Numbers start at one. If the plan’s suppression limit is
     * reached, the import stops with 422 `quota_exceeded`; `details.added` counts the addresses added before that,
     * which remain. Temporary failures are skipped and suppress nothing. At most 2000000 characters or 5000 objects;
     * `postrider import suppressions` has no limit.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param SuppressionsImportBody $body
     * @return SuppressionImport
     */
    public function import(
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/suppressions/import',
            [],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Erasure from Types
 * @phpstan-import-type RecipientsEraseBody from Types
 * @phpstan-import-type RecipientsErasuresListQuery from Types
 */
final class Recipients
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Erase a recipient.
     *
     * Removes the address from live and test records: messages to nobody else, its part of other messages with their
     * content, inbound messages from or to it, and events. Cancels queued mail to it. Statistics stay, and a keyed
     * hash keeps a suppression. `remaining` lists users, invitations, routes and forward targets that still name it.
     * Runs in the background. Backups keep the address.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @param RecipientsEraseBody $body
     * @return Erasure
     */
    public function erase(
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/recipients/erase',
            [],
            body: $body,
            isRepeatable: false,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List erasures.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @param RecipientsErasuresListQuery $query
     * @return Pages<Erasure>
     */
    public function erasuresList(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/recipients/erasures',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve an erasure.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @return Erasure
     */
    public function erasureGet(
        string $erasureId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/recipients/erasures/{erasure_id}',
            [$erasureId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Deletion from Types
 * @phpstan-import-type ListedTemplate from Types
 * @phpstan-import-type ListedTemplateVersion from Types
 * @phpstan-import-type RenderedTemplate from Types
 * @phpstan-import-type Template from Types
 * @phpstan-import-type TemplatePreview from Types
 * @phpstan-import-type TemplatesCreateBody from Types
 * @phpstan-import-type TemplatesGetQuery from Types
 * @phpstan-import-type TemplatesListQuery from Types
 * @phpstan-import-type TemplatesPreviewBody from Types
 * @phpstan-import-type TemplatesRenderBody from Types
 * @phpstan-import-type TemplatesUpdateBody from Types
 * @phpstan-import-type TemplatesVersionsQuery from Types
 */
final class Templates
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Create a template.
     *
     * Templates use Liquid; output in html is escaped. A syntax error returns 400 with line and column. A variable
     * that is missing when a message is sent returns 422 `template_error`, unless it has a default: `{{ name |
     * default: "friend" }}`.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
     *
     * @param TemplatesCreateBody $body
     * @return Template
     */
    public function create(
        array $body,
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/templates',
            [],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List templates.
     *
     * Omits `html`, `text` and `sample`.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
     *
     * @param TemplatesListQuery $query
     * @return Pages<ListedTemplate>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/templates',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve a template.
     *
     * By ID or alias; optionally an earlier version.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
     *
     * @param TemplatesGetQuery $query
     * @return Template
     */
    public function get(
        string $templateId,
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/templates/{template_id}',
            [$templateId],
            query: $query,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Update a template.
     *
     * Changed content becomes a new version, which applies to all messages sent afterwards. Only the fields you send
     * change. Concurrent edits to different fields merge; for the same field the last write wins. Previous content
     * remains as versions.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
     *
     * @param TemplatesUpdateBody $body
     * @return Template
     */
    public function update(
        string $templateId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'PATCH',
            '/v1/templates/{template_id}',
            [$templateId],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Delete a template.
     *
     * Deletes all its versions. Messages already created from it remain. A layout or partial that other templates use
     * returns 409 with `used_by`.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
     *
     * @return Deletion
     */
    public function delete(
        string $templateId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/templates/{template_id}',
            [$templateId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Render a template.
     *
     * Renders it with your variables. Nothing is sent.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
     *
     * @param TemplatesRenderBody $body
     * @return RenderedTemplate
     */
    public function render(
        string $templateId,
        array $body = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/templates/{template_id}/render',
            [$templateId],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Preview unsaved template content.
     *
     * Nothing is stored or sent. Variables without a value or a default appear as `[its.name]` and are listed in
     * `missing`; sending would reject them.
     *
     * Requires `manage`.
     *
     * @param TemplatesPreviewBody $body
     * @return TemplatePreview
     */
    public function preview(
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/templates/preview',
            [],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List the versions of a template.
     *
     * Omits `html` and `text`.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones.
     *
     * @param TemplatesVersionsQuery $query
     * @return Pages<ListedTemplateVersion>
     */
    public function versions(
        string $templateId,
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/templates/{template_id}/versions',
            [$templateId],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type WebhookDeliveriesListQuery from Types
 * @phpstan-import-type WebhookDelivery from Types
 * @phpstan-import-type WebhookDeliveryWithRequest from Types
 */
final class WebhooksDeliveries
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * List the deliveries of a webhook.
     *
     * Each delivery includes its attempts.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param WebhookDeliveriesListQuery $query
     * @return Pages<WebhookDelivery>
     */
    public function list(
        string $webhookId,
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/webhooks/{webhook_id}/deliveries',
            [$webhookId],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve a webhook delivery and its attempts.
     *
     * Also shows the request of the latest attempt, as the present signing secret signs it.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return WebhookDeliveryWithRequest
     */
    public function get(
        string $webhookId,
        string $deliveryId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}',
            [$webhookId, $deliveryId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retry a webhook delivery.
     *
     * Sends it again now, whatever its status. Attempt numbers continue.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return WebhookDelivery
     */
    public function retry(
        string $webhookId,
        string $deliveryId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry',
            [$webhookId, $deliveryId],
            isRepeatable: false,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type CreatedWebhook from Types
 * @phpstan-import-type Deletion from Types
 * @phpstan-import-type Event from Types
 * @phpstan-import-type Webhook from Types
 * @phpstan-import-type WebhookWithNewSecret from Types
 * @phpstan-import-type WebhooksCreateBody from Types
 * @phpstan-import-type WebhooksListQuery from Types
 * @phpstan-import-type WebhooksReplayAnswer from Types
 * @phpstan-import-type WebhooksReplayBody from Types
 * @phpstan-import-type WebhooksRotateSecretBody from Types
 * @phpstan-import-type WebhooksTestBody from Types
 * @phpstan-import-type WebhooksUpdateBody from Types
 */
final class Webhooks
{
    public readonly WebhooksDeliveries $deliveries;

    public function __construct(private readonly Wire $wire)
    {
        $this->deliveries = new WebhooksDeliveries($this->wire);
    }

    /**
     * Create a webhook.
     *
     * The response contains the signing secret, which is shown only once. Every request is signed. Webhooks created
     * with a test key receive events of test messages only; those created without `admin` receive events of the key’s
     * domain only. Each delivery has five attempts. A webhook is paused if its endpoint returns 410, or after 100
     * failed deliveries in a row over at least 24 hours.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param WebhooksCreateBody $body
     * @return CreatedWebhook
     */
    public function create(
        array $body,
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/webhooks',
            [],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List webhooks.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param WebhooksListQuery $query
     * @return Pages<Webhook>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/webhooks',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve a webhook.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return Webhook
     */
    public function get(
        string $webhookId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/webhooks/{webhook_id}',
            [$webhookId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Update a webhook.
     *
     * Set `status` to `paused` to stop a webhook and to `active` to start it again. While it is paused nothing is
     * sent: events from that time are not sent later, and pending deliveries wait. `headers` replaces all of them;
     * `null` or `{}` removes them. A `url` with another scheme, host or port also removes them, unless the request
     * contains `headers`.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param WebhooksUpdateBody $body
     * @return Webhook
     */
    public function update(
        string $webhookId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'PATCH',
            '/v1/webhooks/{webhook_id}',
            [$webhookId],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Delete a webhook and its deliveries.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return Deletion
     */
    public function delete(
        string $webhookId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/webhooks/{webhook_id}',
            [$webhookId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Send a test event.
     *
     * Sends a sample event of any type, subscribed or not. It counts as a test message.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param WebhooksTestBody $body
     * @return Event
     */
    public function test(
        string $webhookId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/webhooks/{webhook_id}/test',
            [$webhookId],
            body: $body,
            isRepeatable: false,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Rotate the signing secret.
     *
     * Postrider signs requests with both secrets until the grace period ends.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param WebhooksRotateSecretBody $body
     * @return WebhookWithNewSecret
     */
    public function rotateSecret(
        string $webhookId,
        array $body = [],
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/webhooks/{webhook_id}/rotate-secret',
            [$webhookId],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Replay past events.
     *
     * Sends the events of a time range again, with the same event IDs.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param WebhooksReplayBody $body
     * @return WebhooksReplayAnswer
     */
    public function replay(
        string $webhookId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/webhooks/{webhook_id}/replay',
            [$webhookId],
            body: $body,
            isRepeatable: false,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type CreatedInboundRoute from Types
 * @phpstan-import-type Deletion from Types
 * @phpstan-import-type ForwardConfirmations from Types
 * @phpstan-import-type InboundRoute from Types
 * @phpstan-import-type InboundRouteTest from Types
 * @phpstan-import-type InboundRoutesConfirmationsBody from Types
 * @phpstan-import-type InboundRoutesCreateBody from Types
 * @phpstan-import-type InboundRoutesListQuery from Types
 * @phpstan-import-type InboundRoutesTestBody from Types
 * @phpstan-import-type InboundRoutesUpdateBody from Types
 */
final class InboundRoutes
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Create an inbound route.
     *
     * The response contains the signing secret, which is shown only once. If several routes match a recipient, the one
     * with the highest `priority` wins; then address before pattern before domain before catch-all. `a+tag@d` falls
     * back to `a@d`. With `authentication`, `none` accepts all mail and reports the results. `dmarc` rejects mail that
     * the author domain’s DMARC policy rejects. `require_pass` rejects mail that does not pass DMARC. Forwards count
     * as sending. A forward target outside the organization’s verified domains is `pending` until its owner confirms
     * it; Postrider emails the confirmation link now.
     *
     * Requires the permission `manage`. Test keys get 403. Without `admin`, a key can access its own domain only.
     *
     * @param InboundRoutesCreateBody $body
     * @return CreatedInboundRoute
     */
    public function create(
        array $body,
        ?string $idempotencyKey = null,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/inbound-routes',
            [],
            body: $body,
            isKeyed: true,
            idempotencyKey: $idempotencyKey,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List inbound routes.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param InboundRoutesListQuery $query
     * @return Pages<InboundRoute>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/inbound-routes',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve an inbound route.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return InboundRoute
     */
    public function get(
        string $routeId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/inbound-routes/{route_id}',
            [$routeId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Update an inbound route.
     *
     * Send `match` and `action` as complete objects. Without `headers`, a webhook action keeps those it has if scheme,
     * host and port of `url` stay the same; otherwise they are removed.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param InboundRoutesUpdateBody $body
     * @return InboundRoute
     */
    public function update(
        string $routeId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'PATCH',
            '/v1/inbound-routes/{route_id}',
            [$routeId],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Delete an inbound route.
     *
     * Messages it received remain. Pending webhook deliveries fail.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return Deletion
     */
    public function delete(
        string $routeId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/inbound-routes/{route_id}',
            [$routeId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Resend confirmation requests to pending forward targets.
     *
     * Each target gets an email from the route’s domain with a link that is valid for seven days. These emails belong
     * to the server, so that your organization does not read the link. An address gets at most three requests per day,
     * across all organizations. Targets whose owner stopped the forwarding get none, nor do targets whose mail this
     * server receives: the operator passes on their link.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param InboundRoutesConfirmationsBody $body
     * @return ForwardConfirmations
     */
    public function confirmations(
        string $routeId,
        array $body = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/inbound-routes/{route_id}/confirmations',
            [$routeId],
            body: $body,
            isRepeatable: false,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Test which route would match a message.
     *
     * Explains the decision. Nothing is sent.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param InboundRoutesTestBody $body
     * @return InboundRouteTest
     */
    public function test(
        string $routeId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/inbound-routes/{route_id}/test',
            [$routeId],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type InboundDelivery from Types
 * @phpstan-import-type InboundMessage from Types
 * @phpstan-import-type InboundMessagesDeliveriesAnswer from Types
 * @phpstan-import-type InboundMessagesListQuery from Types
 * @phpstan-import-type WholeInboundMessage from Types
 */
final class InboundMessages
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * List inbound messages.
     *
     * `status` is the status of the webhook delivery.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @param InboundMessagesListQuery $query
     * @return Pages<InboundMessage>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/inbound-messages',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve an inbound message.
     *
     * Includes the bodies, the headers and a list of the attachments.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return WholeInboundMessage
     */
    public function get(
        string $inboundMessageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/inbound-messages/{inbound_message_id}',
            [$inboundMessageId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Download the raw inbound message.
     *
     * The message as received, with our trace headers added at the top.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return string
     */
    public function raw(
        string $inboundMessageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): string {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/inbound-messages/{inbound_message_id}/raw',
            [$inboundMessageId],
            isRaw: true,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List deliveries of an inbound message.
     *
     * Each delivery includes its attempts.
     *
     * Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return InboundMessagesDeliveriesAnswer
     */
    public function deliveries(
        string $inboundMessageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/inbound-messages/{inbound_message_id}/deliveries',
            [$inboundMessageId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Redeliver an inbound message.
     *
     * Starts a new delivery to the endpoint with five attempts.
     *
     * Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without
     * `admin`, a key can access its own domain only.
     *
     * @return InboundDelivery
     */
    public function redeliver(
        string $inboundMessageId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/inbound-messages/{inbound_message_id}/redeliver',
            [$inboundMessageId],
            isRepeatable: false,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type CreatedInvitation from Types
 * @phpstan-import-type Deletion from Types
 * @phpstan-import-type Invitation from Types
 * @phpstan-import-type InvitationsCreateBody from Types
 * @phpstan-import-type InvitationsListQuery from Types
 */
final class Invitations
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * Invite a user.
     *
     * The link works once and expires after seven days. It replaces an earlier one for the same address, and stops
     * working when the inviting user or key loses the right to invite. If the operator configured a sender, the server
     * sends it by mail, which verifies the address. It sends at most three messages a day to an address, and fifty for
     * an organization. `url` is another link for an operator, who can pass it on. It does not prove whose address it
     * is: until the address is verified, the account has only this role. Others get null, because a link shows whether
     * the address has an account. They get one while the server sends no mail to users and has only one organization.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @param InvitationsCreateBody $body
     * @return CreatedInvitation
     */
    public function create(
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'POST',
            '/v1/invitations',
            [],
            body: $body,
            isRepeatable: false,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List open invitations.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @param InvitationsListQuery $query
     * @return Pages<Invitation>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/invitations',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Withdraw an invitation.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @return Deletion
     */
    public function delete(
        string $invitationId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/invitations/{invitation_id}',
            [$invitationId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/**
 * @phpstan-import-type Deletion from Types
 * @phpstan-import-type Session from Types
 * @phpstan-import-type User from Types
 * @phpstan-import-type UsersDeleteQuery from Types
 * @phpstan-import-type UsersListQuery from Types
 * @phpstan-import-type UsersSessionsListQuery from Types
 * @phpstan-import-type UsersUpdateBody from Types
 */
final class Users
{
    public function __construct(private readonly Wire $wire)
    {
    }

    /**
     * List users.
     *
     * Users with a role in the organization. An operator who selects no organization gets all users.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @param UsersListQuery $query
     * @return Pages<User>
     */
    public function list(
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/users',
            [],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Retrieve a user.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @return User
     */
    public function get(
        string $userId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'GET',
            '/v1/users/{user_id}',
            [$userId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Update a user.
     *
     * Only the fields you send change. A change holds for the next request of the user. The last owner of an
     * organization keeps the role unless an operator changes it, and the last operator cannot be disabled.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @param UsersUpdateBody $body
     * @return User
     */
    public function update(
        string $userId,
        array $body,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'PATCH',
            '/v1/users/{user_id}',
            [$userId],
            body: $body,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Remove a user.
     *
     * Removes the role in the organization, and the account with its sessions if it has no other role. An operator who
     * selects no organization deletes the account. Keys that the user made in the organization are revoked, unless
     * `keys` is `keep`.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @param UsersDeleteQuery $query
     * @return Deletion
     */
    public function delete(
        string $userId,
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/users/{user_id}',
            [$userId],
            query: $query,
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * List sessions of a user.
     *
     * For operators and users with roles in other organizations, only the operator can do this.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @param UsersSessionsListQuery $query
     * @return Pages<Session>
     */
    public function sessionsList(
        string $userId,
        array $query = [],
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): Pages {
        return new Pages($this->wire, fn (array $more) => new Request(
            $this->wire,
            'GET',
            '/v1/users/{user_id}/sessions',
            [$userId],
            query: [...$query, ...$more],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }

    /**
     * Sign a user out everywhere.
     *
     * For operators and users with roles in other organizations, only the operator can do this.
     *
     * Requires the permission `admin`. Test keys get 403.
     *
     * @return Deletion
     */
    public function sessionsDelete(
        string $userId,
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ): array {
        return $this->wire->exchange(new Request(
            $this->wire,
            'DELETE',
            '/v1/users/{user_id}/sessions',
            [$userId],
            timeoutSeconds: $timeoutSeconds,
            maxRetries: $maxRetries,
        ));
    }
}

/** A method for every operation that an API key can call. */
final class Postrider
{
    public const VERSION = '0.1.0';
    public readonly Messages $messages;
    public readonly ApiKeys $apiKeys;
    public readonly Domains $domains;
    public readonly AuditLog $auditLog;
    public readonly Usage $usage;
    public readonly Billing $billing;
    public readonly Events $events;
    public readonly Explain $explain;
    public readonly Stats $stats;
    public readonly Quality $quality;
    public readonly Suppressions $suppressions;
    public readonly Recipients $recipients;
    public readonly Templates $templates;
    public readonly Webhooks $webhooks;
    public readonly InboundRoutes $inboundRoutes;
    public readonly InboundMessages $inboundMessages;
    public readonly Invitations $invitations;
    public readonly Users $users;

    /**
     * `$baseUrl` and `$apiKey` default to the environment variables POSTRIDER_URL and POSTRIDER_API_KEY.
     * `$timeoutSeconds` is that of a call including its retries. Throws an InvalidArgumentException if URL or key is
     * missing or invalid.
     */
    public function __construct(
        ?string $baseUrl = null,
        #[\SensitiveParameter]
        ?string $apiKey = null,
        float $timeoutSeconds = 10.0,
        int $maxRetries = 2,
        ?Clock $clock = null,
    ) {
        $wire = new Wire($baseUrl, $apiKey, $timeoutSeconds, $maxRetries, $clock ?? new Clock());
        $this->messages = new Messages($wire);
        $this->apiKeys = new ApiKeys($wire);
        $this->domains = new Domains($wire);
        $this->auditLog = new AuditLog($wire);
        $this->usage = new Usage($wire);
        $this->billing = new Billing($wire);
        $this->events = new Events($wire);
        $this->explain = new Explain($wire);
        $this->stats = new Stats($wire);
        $this->quality = new Quality($wire);
        $this->suppressions = new Suppressions($wire);
        $this->recipients = new Recipients($wire);
        $this->templates = new Templates($wire);
        $this->webhooks = new Webhooks($wire);
        $this->inboundRoutes = new InboundRoutes($wire);
        $this->inboundMessages = new InboundMessages($wire);
        $this->invitations = new Invitations($wire);
        $this->users = new Users($wire);
    }
}
