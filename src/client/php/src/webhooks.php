<?php

declare(strict_types=1);

namespace Postrider;

/** The request could not be verified. Respond with 401 and ignore it. */
class WebhookVerificationError extends \RuntimeException
{
    /** `$fault`: `missing_header`, `malformed_header`, `wrong_signature`, `stale`, `bad_secret` or `bad_body`. */
    public function __construct(public readonly string $fault, string $message)
    {
        parent::__construct($message);
    }
}

/** Verifies the requests that a Postrider server sends to your endpoint. */
final class Webhook
{
    /** Unix time in seconds. With thirteen digits it would be in milliseconds. */
    private const TIME = '/\A[0-9]{1,12}\z/';

    /**
     * Verifies the signature of a request and returns its event, or the inbound message of a route, whose `type` is
     * `inbound`. `$body` is the raw body, `$secret` that of the webhook or route, `$now` the Unix time. Throws
     * a WebhookVerificationError. A genuine event can arrive twice, with the same `id`.
     *
     * @param array<string, string|list<string>> $headers names in any case, such as those of `getallheaders()`
     * @return array<string, mixed>
     */
    public static function unwrap(
        string $body,
        array $headers,
        #[\SensitiveParameter]
        string $secret,
        int $toleranceSeconds = 300,
        ?int $now = null,
    ): array {
        if ($secret === '') {
            throw new WebhookVerificationError('bad_secret', 'secret is required to verify the signature');
        }
        $given = array_map(fn (mixed $value) => implode(', ', (array) $value), array_change_key_case($headers));
        $name = isset($given['x-service-signature']) ? 'X-Service-Signature' : 'X-Inbound-Signature';
        $value = $given[strtolower($name)] ?? null;
        $signed = $value === null ? self::standard($given, $secret) : self::own($name, $value, $secret);
        [$time, $prefix, $key, $signatures] = $signed;
        $wanted = hash_hmac('sha256', $prefix . $body, $key, true);
        if (!in_array(true, array_map(fn (string $each) => hash_equals($wanted, $each), $signatures), true)) {
            throw new WebhookVerificationError('wrong_signature', 'The signature does not match the body and secret.');
        }
        $away = abs(($now ?? time()) - (int) $time);
        if ($away > $toleranceSeconds) {
            $text = "The signature is $away s away from the local clock; at most $toleranceSeconds s are allowed.";
            throw new WebhookVerificationError('stale', $text);
        }
        return self::eventOf($body, $value === null ? null : $name === 'X-Inbound-Signature');
    }

    /** @return array<string, mixed> */
    private static function eventOf(string $body, ?bool $isInbound): array
    {
        $event = json_decode($body, true);
        if ($isInbound !== false && is_array($event) && ($event['event'] ?? null) === 'inbound') {
            return [...$event, 'type' => 'inbound'];
        }
        $isEvent = is_array($event) && is_string($event['id'] ?? null) && is_string($event['type'] ?? null);
        if ($isInbound || !$isEvent || !is_array($event['data'] ?? null)) {
            throw new WebhookVerificationError('bad_body', 'The body is not an event.');
        }
        return $event;
    }

    /**
     * `t=<unix seconds>,v1=<hex>[,v1=<hex>]`; other fields are reserved for later versions.
     *
     * @return array{string, string, string, list<string>} time, text before the body, key, signatures
     */
    private static function own(string $name, string $value, #[\SensitiveParameter] string $secret): array
    {
        $fields = array_map('trim', explode(',', $value));
        $times = array_values(preg_filter('/\At=/', '', $fields));
        $signatures = array_values(preg_filter('/\Av1=/', '', $fields));
        $isWhole = count($times) === 1 && preg_match(self::TIME, $times[0]) && $signatures !== [];
        if (!$isWhole || preg_grep('/\A[0-9a-f]{64}\z/', $signatures, PREG_GREP_INVERT) !== []) {
            throw new WebhookVerificationError('malformed_header', "$name is not t=<unix seconds>,v1=<64 hex digits>");
        }
        return [$times[0], "$times[0].", $secret, array_map('hex2bin', $signatures)];
    }

    /**
     * Standard Webhooks: `v1,<base64> v1,<base64>`, and the key is the decoded base64 of the secret.
     *
     * @param array<string, string> $headers
     * @return array{string, string, string, list<string>}
     */
    private static function standard(array $headers, #[\SensitiveParameter] string $secret): array
    {
        $value = $headers['webhook-signature'] ?? '';
        $id = $headers['webhook-id'] ?? '';
        $time = $headers['webhook-timestamp'] ?? '';
        if ($value === '' || $id === '' || $time === '') {
            throw new WebhookVerificationError('missing_header', 'The request has no complete signature headers.');
        }
        $parts = preg_filter('/\Av1,/', '', preg_split('/,?\s+/', $value));
        $signatures = array_map(fn (string $each) => (string) base64_decode($each, true), array_values($parts));
        if (!preg_match(self::TIME, $time) || array_unique(array_map('strlen', $signatures)) !== [32]) {
            throw new WebhookVerificationError('malformed_header', 'webhook-signature or -timestamp is malformed.');
        }
        $key = base64_decode(preg_replace('/\Awhsec_/', '', $secret), true);
        if ($key === false || $key === '') {
            throw new WebhookVerificationError('bad_secret', 'secret must be whsec_ followed by base64');
        }
        return [$time, "$id.$time.", $key, $signatures];
    }
}
