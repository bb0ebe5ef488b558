<?php

declare(strict_types=1);

namespace Postrider;

/** Any failure of a call. errors.php has a subclass for each code. `getCode()` returns the code as a string. */
class PostriderError extends \RuntimeException
{
    /** @var string */
    public $code;

    /**
     * @param ?int $status HTTP status; null without a response
     * @param ?string $field the first invalid field
     * @param array<string, mixed> $details
     * @param list<array{field: string, message: string}> $errors every invalid field
     * @param ?int $retryAfterSeconds wait before a retry; null if the server specified none
     * @param ?string $requestId also in the log of the server
     * @param ?string $idempotencyKey of the request; retrying with it is safe
     */
    final public function __construct(
        string $code,
        string $message,
        public readonly ?int $status = null,
        public readonly ?string $field = null,
        public readonly array $details = [],
        public readonly array $errors = [],
        public readonly ?int $retryAfterSeconds = null,
        public readonly ?string $requestId = null,
        public readonly ?string $idempotencyKey = null,
    ) {
        parent::__construct($message);
        $this->code = $code;
    }

    /** Code → error of its class; PostriderError itself for a code of a newer server. */
    public static function of(string $code, string $message, mixed ...$fields): self
    {
        return new (Errors::CLASSES[$code] ?? self::class)($code, $message, ...$fields);
    }

    public static function invalid(string $field, string $what): self
    {
        $errors = [['field' => $field, 'message' => "$field $what"]];
        return self::of('validation_error', "$field $what", field: $field, errors: $errors);
    }
}

/** Time and pauses in seconds, and randomness. Replace it in tests. */
class Clock
{
    public function now(): float
    {
        return hrtime(true) / 1e9;
    }

    public function sleep(float $seconds): void
    {
        usleep((int) round($seconds * 1e6));
    }

    public function random(): float
    {
        return mt_rand() / (mt_getrandmax() + 1);
    }
}

/** The server, its key, and the defaults of calls. */
class Wire
{
    private readonly string $baseUrl;
    private readonly string $apiKey;

    /** Throws an InvalidArgumentException if URL or key is missing or invalid. */
    public function __construct(
        ?string $baseUrl,
        #[\SensitiveParameter]
        ?string $apiKey,
        public readonly float $timeoutSeconds,
        public readonly int $maxRetries,
        public readonly Clock $clock,
    ) {
        $this->baseUrl = rtrim($baseUrl ?? (string) getenv('POSTRIDER_URL'), '/');
        if (!preg_match('~\Ahttps?://[^\s/?#@]+(/[^\s?#]*)?\z~i', $this->baseUrl)) {
            throw new \InvalidArgumentException('baseUrl (or POSTRIDER_URL) must be the URL of your server');
        }
        $this->apiKey = $apiKey ?? (string) getenv('POSTRIDER_API_KEY');
        if (!preg_match('/\A[\x21-\x7e]+\z/', $this->apiKey)) {
            throw new \InvalidArgumentException('apiKey (or POSTRIDER_API_KEY) is missing or has invalid characters');
        }
    }

    /** Without the key. @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->baseUrl];
    }

    /**
     * Sends a request, retries it if that is safe, and returns the parsed response. All attempts and pauses together
     * take at most `timeoutSeconds`; a pause that would exceed it is not started.
     */
    public function exchange(Request $request): mixed
    {
        $endsAt = $this->clock->now() + $request->timeoutSeconds;
        for ($attempt = 0; ; $attempt++) {
            try {
                return $this->attempt($request, $endsAt - $this->clock->now());
            } catch (PostriderError $error) {
                $pause = ($error->retryAfterSeconds ?? 0) + $this->clock->random() * min(8.0, 0.5 * 2 ** $attempt);
                $isOver = $attempt >= $request->maxRetries || $this->clock->now() + $pause >= $endsAt;
                if ($isOver || !$request->canRetry($error)) {
                    throw $error;
                }
            }
            $this->clock->sleep($pause);
        }
    }

    /**
     * A curl handle for a request; `$options` come before those of every request. The names of `$headers`, which it
     * fills, are in lower case.
     *
     * @param array<string, string> $headers
     * @param array<int, mixed> $options
     */
    public function handle(Request $request, array &$headers, array $options): \CurlHandle
    {
        $curl = curl_init($this->baseUrl . $request->path);
        curl_setopt_array($curl, $options + [
            CURLOPT_CUSTOMREQUEST => $request->method,
            CURLOPT_HTTPHEADER => $request->headers($this->apiKey),
            CURLOPT_FOLLOWLOCATION => false, // following a redirect could send the key to another server
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$headers): int {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $headers = str_starts_with($line, 'HTTP/') ? [] : [...$headers, strtolower($name) => trim($value)];
                return strlen($line);
            },
        ] + ($request->body === null ? [] : [CURLOPT_POSTFIELDS => $request->body]));
        return $curl;
    }

    private function attempt(Request $request, float $secondsLeft): mixed
    {
        $headers = [];
        $curl = $this->handle($request, $headers, [
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT_MS => max(1, (int) ($secondsLeft * 1000)),
        ]);
        $body = curl_exec($curl);
        if (!is_string($body)) {
            $code = curl_errno($curl) === CURLE_OPERATION_TIMEDOUT ? 'timed_out' : 'connection_failed';
            $text = 'No response: ' . curl_error($curl);
            throw PostriderError::of($code, $text, idempotencyKey: $request->idempotencyKey);
        }
        return $request->parsed(curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $headers, $body);
    }
}

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

/**
 * A list. Iterate over it to get all items, or call `page()` for one page. Sends no request before that.
 *
 * @template T
 * @implements \IteratorAggregate<int, T>
 */
final class Pages implements \IteratorAggregate
{
    /** @param \Closure(array<string, string>): Request $requestWith a request with more parameters */
    public function __construct(private readonly Wire $wire, private readonly \Closure $requestWith)
    {
    }

    /**
     * Returns the page at the cursor, or without one the page that the query selects.
     *
     * @return array{data: list<T>, has_more: bool, next_cursor: string|null}
     */
    public function page(?string $cursor = null): array
    {
        return $this->wire->exchange(($this->requestWith)($cursor === null ? [] : ['cursor' => $cursor]));
    }

    /** Yields the items of all pages. Continues after an empty page, which is not necessarily the last one. */
    public function getIterator(): \Generator
    {
        $cursor = null;
        do {
            $page = $this->page($cursor);
            foreach ($page['data'] as $item) {
                yield $item; // not `yield from`, which would repeat the keys
            }
            $cursor = $page['has_more'] ? $page['next_cursor'] : null;
        } while ($cursor !== null);
    }
}
