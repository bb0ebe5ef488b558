<?php

declare(strict_types=1);

namespace Postrider;

/** One request to the API. Throws a ValidationError for an ID, a body or a key that cannot be sent. */
final class Request
{
    public readonly string $path;
    public readonly ?string $body;
    public readonly ?string $idempotencyKey;
    public readonly float $timeoutSeconds;
    public readonly int $maxRetries;

    /**
     * @param list<mixed> $ids
     * @param ?array<string, mixed> $query
     * @param ?array<string, mixed> $body
     */
    public function __construct(
        Wire $wire,
        public readonly string $method,
        string $path,
        array $ids,
        ?array $query = null,
        ?array $body = null,
        private readonly bool $isRepeatable = true,
        private readonly bool $isRaw = false,
        bool $isKeyed = false,
        ?string $idempotencyKey = null,
        private readonly int $waitSeconds = 0,
        private readonly string $accept = 'application/json',
        ?float $timeoutSeconds = null,
        ?int $maxRetries = null,
    ) {
        $this->path = self::pathOf($path, $ids) . self::queryOf($query ?? []);
        $this->body = $body === null ? null : self::bodyOf($body);
        $this->idempotencyKey = $isKeyed ? $idempotencyKey ?? bin2hex(random_bytes(16)) : null;
        if (!preg_match('/\A[\x20-\x7e]{1,255}\z/', $this->idempotencyKey ?? 'none')) {
            throw PostriderError::invalid('Idempotency-Key', 'must be 1 to 255 printable ASCII characters');
        }
        $this->timeoutSeconds = ($timeoutSeconds ?? $wire->timeoutSeconds) + $waitSeconds;
        $this->maxRetries = $maxRetries ?? $wire->maxRetries;
    }

    /** @return list<string> */
    public function headers(#[\SensitiveParameter] string $apiKey): array
    {
        return [
            "Accept: $this->accept",
            "Authorization: Bearer $apiKey",
            'User-Agent: postrider-php/' . Postrider::VERSION,
            'Expect:', // curl would wait a second before it sends a large body
            $this->body === null ? 'Content-Length: 0' : 'Content-Type: application/json',
            ...($this->idempotencyKey === null ? [] : ["Idempotency-Key: $this->idempotencyKey"]),
            ...($this->waitSeconds > 0 ? ["Prefer: wait=$this->waitSeconds"] : []),
        ];
    }

    /** A request that is not repeatable can be sent again only after 429 and 503, for which the server did nothing. */
    public function canRetry(PostriderError $error): bool
    {
        $isTemporary = in_array($error->status ?? $error->code, [429, 500, 502, 503, 504, 'connection_failed'], true);
        return $isTemporary && ($this->isRepeatable || in_array($error->status, [429, 503], true));
    }

    /**
     * Response → its JSON, or the bytes of another type if the operation has those. Throws the error in it.
     *
     * @param array<string, string> $headers
     */
    public function parsed(int $status, array $headers, string $content): mixed
    {
        $media = strtolower(trim(explode(';', $headers['content-type'] ?? '', 2)[0]));
        $wait = preg_match('/\A[0-9]{1,9}\z/', $headers['retry-after'] ?? '') ? (int) $headers['retry-after'] : null;
        $common = [
            'status' => $status,
            'idempotencyKey' => $this->idempotencyKey,
            'retryAfterSeconds' => $wait,
            'requestId' => $headers['x-request-id'] ?? null,
        ];
        $unexpected = function (string $what) use ($common): PostriderError {
            $text = "Unexpected response $common[status] with $what. Is baseUrl a Postrider server?";
            return PostriderError::of('unexpected_answer', $text, ...$common);
        };
        if ($status >= 300 && $status < 400) {
            throw $unexpected('a redirect, which is not followed');
        }
        if ($status < 300 && $this->isRaw && $media !== '' && $media !== 'application/json') {
            return $content;
        }
        if ($media !== 'application/json') {
            throw $unexpected($media === '' ? 'no content type' : $media);
        }
        $body = json_decode($content, true);
        if ($body === null) {
            throw $unexpected('invalid JSON');
        }
        if ($status < 300) {
            return $body;
        }
        $error = is_array($body) ? $body['error'] ?? null : null;
        if (!is_array($error) || !is_string($error['code'] ?? null) || !is_string($error['message'] ?? null)) {
            throw $unexpected('an unknown error format');
        }
        $details = is_array($error['details'] ?? null) ? $error['details'] : [];
        $common['requestId'] ??= $details['request_id'] ?? null;
        $common['retryAfterSeconds'] = is_int($error['retry_after'] ?? null) ? $error['retry_after'] : $wait;
        throw PostriderError::of(
            $error['code'],
            $error['message'],
            ...$common,
            field: is_string($error['field'] ?? null) ? $error['field'] : null,
            details: $details,
            errors: is_array($error['errors'] ?? null) ? $error['errors'] : [],
        );
    }

    /**
     * Fills in the IDs. Without a check, an empty one would select another operation.
     *
     * @param list<mixed> $ids
     */
    private static function pathOf(string $path, array $ids): string
    {
        return preg_replace_callback('/\{(\w+)\}/', function (array $match) use (&$ids): string {
            $id = array_shift($ids);
            if (!is_int($id) && (!is_string($id) || in_array($id, ['', '.', '..'], true))) {
                throw PostriderError::invalid($match[1], 'must be a non-empty ID');
            }
            return rawurlencode((string) $id);
        }, $path);
    }

    /**
     * `['metadata' => ['order' => '7'], 'limit' => 5]` → `?metadata%5Border%5D=7&limit=5`. Commas join lists.
     *
     * @param array<string, mixed> $query
     */
    private static function queryOf(array $query): string
    {
        $joined = fn (mixed $value) => is_array($value) && array_is_list($value) ? implode(',', $value) : $value;
        $textOf = fn (mixed $value) => is_bool($value) ? var_export($value, true) : $joined($value);
        $text = http_build_query(array_map($textOf, $query), '', '&');
        return $text === '' ? '' : "?$text";
    }

    /** @param array<string, mixed> $body */
    private static function bodyOf(array $body): string
    {
        try {
            return json_encode($body ?: new \stdClass(), JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION);
        } catch (\JsonException) {
            throw PostriderError::invalid('body', 'cannot be serialized as JSON');
        }
    }
}
