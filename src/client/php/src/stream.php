<?php

declare(strict_types=1);

namespace Postrider;

/**
 * Live events: `foreach ($postrider->events->stream() as $event)`. Connects when iteration starts, and yields the events
 * from then on, or those after the event `after` of the query.
 *
 * If the connection fails, it reconnects and resumes after the last received event, so that no event is missed or
 * repeated. Only before the first connection succeeds, `maxRetries` limits the attempts. Iteration ends with `break`, and
 * throws the PostriderError if the server rejects the request.
 *
 * @template T
 * @implements \IteratorAggregate<int, T>
 */
final class EventStream implements \IteratorAggregate
{
    /** Without data, the connection counts as lost. The server sends data every 15 s. */
    public float $silentSeconds = 45.0;

    /** @param \Closure(array<string, mixed>): Request $requestWith a request with more parameters */
    public function __construct(
        private readonly Wire $wire,
        private readonly \Closure $requestWith,
        private readonly ?string $after,
    ) {
    }

    public function getIterator(): \Generator
    {
        $parser = new EventParser($this->after ?? $this->newest());
        $isBegun = false;
        for ($failures = 0; ; $failures++) {
            $request = ($this->requestWith)(['after' => $parser->lastId]);
            try {
                foreach ($this->chunks($request) as $chunk) {
                    $isBegun = true;
                    foreach ($parser->push($chunk) as $data) {
                        $failures = 0;
                        yield json_decode($data, true);
                    }
                }
                $failure = PostriderError::of('connection_failed', 'The event stream ended.');
            } catch (PostriderError $error) {
                $failure = $error;
            }
            $parser->restart();
            $canReconnect = $request->canRetry($failure) || $failure->code === 'timed_out';
            if (!$canReconnect || (!$isBegun && $failures >= $request->maxRetries)) {
                throw $failure;
            }
            $clock = $this->wire->clock;
            $pause = ($failure->retryAfterSeconds ?? 0) + $clock->random() * min(8.0, 0.5 * 2 ** $failures);
            $clock->sleep($parser->retrySeconds + $pause);
        }
    }

    /**
     * ID of the newest event, '' if there is none. Without it, a reconnect before the first event would skip the events
     * since iteration started.
     */
    private function newest(): string
    {
        $request = new Request($this->wire, 'GET', '/v1/events', [], query: ['limit' => 1]);
        return $this->wire->exchange($request)['data'][0]['id'] ?? '';
    }

    /** Connects and yields the body as it arrives. Throws a TimedOutError after `silentSeconds` without data. */
    private function chunks(Request $request): \Generator
    {
        [$headers, $body, $multi] = [[], '', curl_multi_init()];
        $curl = $this->wire->handle($request, $headers, [
            CURLOPT_CONNECTTIMEOUT_MS => max(1, (int) ($request->timeoutSeconds * 1000)),
            CURLOPT_WRITEFUNCTION => function ($curl, string $part) use (&$body): int {
                $body .= $part;
                return strlen($part);
            },
        ]);
        curl_multi_add_handle($multi, $curl);
        try {
            $lastAt = hrtime(true);
            do {
                curl_multi_exec($multi, $running);
                $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
                $isStream = $status === 200 && str_starts_with($headers['content-type'] ?? '', 'text/event-stream');
                if ($isStream && $body !== '') {
                    [$chunk, $body] = [$body, ''];
                    yield $chunk;
                    $lastAt = hrtime(true);
                } elseif ($running) {
                    curl_multi_select($multi, 0.25);
                }
                $limit = $isStream ? $this->silentSeconds : $request->timeoutSeconds;
                if (hrtime(true) - $lastAt > $limit * 1e9) {
                    throw PostriderError::of('timed_out', 'The event stream is silent.');
                }
            } while ($running || ($isStream && $body !== ''));
            $result = curl_multi_info_read($multi)['result'] ?? CURLE_OK;
            if ($result !== CURLE_OK || $status === 0) {
                throw PostriderError::of('connection_failed', 'No response: ' . curl_strerror($result));
            }
            if (!$isStream) {
                $request->parsed($status, $headers, $body);
                throw PostriderError::of('unexpected_answer', 'Unexpected content type. Is baseUrl a Postrider server?');
            }
        } finally {
            curl_multi_remove_handle($multi, $curl);
            curl_multi_close($multi);
        }
    }
}

/**
 * Bytes of an event stream, in chunks of any size → the data of its events, in order.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
final class EventParser
{
    private const MAX_PENDING_BYTES = 16 * 1024 * 1024;

    /** The server's reconnect delay. */
    public float $retrySeconds = 0.0;
    private string $pending = '';
    /** @var list<string> */
    private array $data = [];
    private string $id;

    /** @param string $lastId ID of the last complete event, or of a position without event */
    public function __construct(public string $lastId)
    {
        $this->id = $lastId;
    }

    /** Drops an incomplete event, before another connection. */
    public function restart(): void
    {
        [$this->pending, $this->data, $this->id] = ['', [], $this->lastId];
    }

    /** Yields the data of each event that ends in the chunk; `lastId` is its ID then. */
    public function push(string $chunk): \Generator
    {
        $text = $this->pending . $chunk;
        // A CR at the end may be the first half of a CR LF.
        $end = strlen($text) - (str_ends_with($text, "\r") ? 1 : 0);
        $lines = preg_split('/\r\n|\n|\r/', substr($text, 0, $end));
        $this->pending = array_pop($lines) . substr($text, $end);
        if (strlen($this->pending) + array_sum(array_map('strlen', $this->data)) > self::MAX_PENDING_BYTES) {
            throw PostriderError::of('unexpected_answer', 'The event stream has an event without end.');
        }
        foreach ($lines as $line) {
            $data = $this->read($line);
            if ($data !== null) {
                yield $data;
            }
        }
    }

    /** Line → the data of an event that it ends, otherwise null. */
    private function read(string $line): ?string
    {
        if ($line === '') {
            [$data, $this->data, $this->lastId] = [$this->data, [], $this->id];
            return $data === [] ? null : implode("\n", $data);
        }
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $value = str_starts_with($value, ' ') ? substr($value, 1) : $value;
        if ($name === 'data') {
            $this->data[] = $value;
        } elseif ($name === 'id' && !str_contains($value, "\0")) {
            $this->id = $value;
        } elseif ($name === 'retry' && preg_match('/\A[0-9]{1,9}\z/', $value)) {
            $this->retrySeconds = (int) $value / 1000;
        }
        return null;
    }
}
