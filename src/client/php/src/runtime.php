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
