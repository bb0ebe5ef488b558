<?php

/** Uses the client as its test says, and prints what happened as JSON (languages.ts). */

declare(strict_types=1);

use Postrider\Clock;
use Postrider\Pages;
use Postrider\Postrider;
use Postrider\PostriderError;
use Postrider\Request;
use Postrider\Webhook;
use Postrider\WebhookVerificationError;
use Postrider\Wire;

require __DIR__ . '/../../dist/clients/php/autoload.php';

set_error_handler(function (int $level, string $message, string $file, int $line): never {
    throw new ErrorException($message, 0, $level, $file, $line);
});
ini_set('zend.exception_ignore_args', '0');

$given = json_decode(stream_get_contents(STDIN), true, flags: JSON_THROW_ON_ERROR);
$mail = $given['mail'];

class StoppedClock extends Clock
{
    /** @var list<float> */
    public array $sleeps = [];

    public function now(): float
    {
        return array_sum($this->sleeps);
    }

    public function sleep(float $seconds): void
    {
        $this->sleeps[] = $seconds;
    }

    public function random(): float
    {
        return 0.5;
    }
}

/** Records what each request would send. */
class RecordingWire extends Wire
{
    /** @var list<string> */
    public array $asked = [];

    public function exchange(Request $request): mixed
    {
        $body = $request->body === null ? '' : 'body';
        $key = $request->idempotencyKey === null ? '' : 'key';
        $path = str_replace('/7', '/b', $request->path); // the number of an attachment
        $this->asked[] = trim("$request->method $path $body $key");
        return [];
    }

    public function call(object $resource): void
    {
        $class = new ReflectionClass($resource);
        foreach ($class->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
            if ($method->isConstructor()) {
                continue;
            }
            $values = ['a', 'b'];
            $arguments = [];
            foreach ($method->getParameters() as $parameter) {
                $type = (string) $parameter->getType();
                if (in_array($type, ['string', 'int', 'array'], true) && $parameter->getName() !== 'waitSeconds') {
                    $id = $type === 'array' ? [] : array_shift($values);
                    $arguments[] = $type === 'int' ? 7 : $id;
                }
            }
            try {
                $made = $method->invoke($resource, ...$arguments);
                if ($made instanceof Pages) {
                    $made->page();
                }
            } catch (TypeError $error) {
                // The methods that return text refuse the recorded answer.
                if (!str_contains($error->getMessage(), 'Return value must be')) {
                    throw $error;
                }
            }
        }
        foreach (get_object_vars($resource) as $member) {
            $this->call($member);
        }
    }
}

function failure(callable $call): array
{
    try {
        return ['result' => $call()];
    } catch (PostriderError $error) {
        return [
            'class' => (new ReflectionClass($error))->getShortName(),
            'code' => $error->getCode(),
            'message' => $error->getMessage(),
            'status' => $error->status,
            'field' => $error->field,
            'errors' => $error->errors,
            'details' => $error->details,
            'retry_after' => $error->retryAfterSeconds,
            'request_id' => $error->requestId,
            'idempotency_key' => $error->idempotencyKey,
            'printed' => print_r($error, true) . $error,
        ];
    }
}

function hostile(string $name, callable $call): array
{
    global $given;
    $clock = new StoppedClock();
    $client = new Postrider($given['hostile'][$name] . '/', 'svc_live_veryverysecret', clock: $clock);
    return [...failure(fn () => $call($client)), 'sleeps' => $clock->sleeps];
}

function fault(array $case): string
{
    $now = intdiv($case['now'], 1000);
    try {
        return Webhook::unwrap(base64_decode($case['body']), $case['headers'], $case['secret'], now: $now)['type'];
    } catch (WebhookVerificationError $error) {
        return $error->fault;
    }
}

function refused(string ...$options): ?string
{
    try {
        new Postrider(...$options);
        return null;
    } catch (InvalidArgumentException $error) {
        return $error->getMessage();
    }
}

/** What an example prints. */
function printed(string $code): string
{
    ob_start();
    eval(preg_replace('/^<\?php|^require .*$/m', '', $code));
    return ob_get_clean();
}

$client = new Postrider($given['url'], $given['key']);
$keyed = array_map(fn () => $client->messages->send($mail, idempotencyKey: 'order-1'), [1, 2]);
$batch = $client->messages->batch(['messages' => array_fill(0, 5, [...$mail, 'tags' => ['pages']])]);
$pages = $client->messages->list(['tag' => 'pages', 'limit' => 2, 'metadata' => ['order' => 'o-17']]);
$files = [['filename' => 'a.bin', 'content' => 'AP8=', 'content_type' => 'application/octet-stream']];
$withFile = $client->messages->send([...$mail, 'attachments' => $files], waitSeconds: 5);
$scheduled = $client->messages->send([...$mail, 'scheduled_at' => $given['later']]);
$recording = new RecordingWire($given['url'], 'k', 1, 0, new Clock());
foreach (get_object_vars($client) as $resource) {
    $recording->call(new ($resource::class)($recording));
}
$badIds = ['', '.', '..'];
$badKeys = ['', 'Größe', "a\nb", str_repeat('x', 256)];

echo json_encode([
    'keyed' => $keyed,
    'other body' => failure(fn () => $client->messages->send([...$mail, 'html' => 'x'], idempotencyKey: 'order-1')),
    'sent' => array_column($batch['data'], 'id'),
    'listed' => array_column(iterator_to_array($pages), 'id'),
    'page' => $pages->page(),
    'attachment' => base64_encode($client->messages->attachment($withFile['id'], 1)),
    'text' => $client->messages->content($withFile['id'], ['part' => 'text']),
    'content' => $client->messages->content($withFile['id'])['html'],
    'cancelled' => $client->messages->cancel($scheduled['id'])['status'],
    'invalid mail' => failure(fn () => $client->messages->send([...$mail, 'to' => 'nobody', 'subject' => "x\ny"])),
    'unknown' => failure(fn () => $client->messages->get('msg_00000000000000000000000000')),
    'wrong key' => failure(fn () => (new Postrider($given['url'], 'svc_live_x'))->usage->get()),
    'retried' => hostile('retried', fn ($each) => $each->messages->send($mail)),
    'too long' => hostile('too long', fn ($each) => $each->messages->get('msg_1')),
    'unsafe' => hostile('unsafe', fn ($each) => $each->webhooks->test('whk_1', ['type' => 'message.delivered'])),
    'half' => hostile('half', fn ($each) => $each->messages->get('msg_1')),
    'redirect' => hostile('redirect', fn ($each) => $each->messages->get('msg_1')),
    'page of a proxy' => hostile('page of a proxy', fn ($each) => $each->messages->get('msg_1')),
    'foreign error' => hostile('foreign error', fn ($each) => $each->messages->get('msg_1', maxRetries: 0)),
    'silent' => failure(fn () => (new Postrider($given['hostile']['silent'], 'k', 2))->messages->send($mail)),
    'no such code' => hostile('no such code', fn ($each) => $each->messages->get('msg_1')),
    'escaped' => hostile('escaped', fn ($each) => $each->messages->get('../api-keys?x=1')),
    'bad ids' => array_map(fn ($bad) => hostile('escaped', fn ($each) => $each->messages->get($bad))['field'], $badIds),
    'bad keys' => array_map(
        fn ($bad) => hostile('escaped', fn ($each) => $each->messages->send($mail, idempotencyKey: $bad))['field'],
        $badKeys,
    ),
    'bad options' => [refused('mail.example.com', 'k'), refused('https://mail.example.com', "k\n")],
    'faults' => array_map('fault', $given['webhooks']),
    'example' => printed($given['example']),
    'operations' => $recording->asked,
    'printed' => print_r($client, true),
], JSON_THROW_ON_ERROR);
