<?php

/** Follows the live events of POSTRIDER_URL, and prints the messages that they are about (language-stream.test.ts). */

declare(strict_types=1);

use Postrider\Clock;
use Postrider\Postrider;
use Postrider\PostriderError;

require __DIR__ . '/../../dist/clients/php/autoload.php';

set_error_handler(function (int $level, string $message, string $file, int $line): never {
    throw new ErrorException($message, 0, $level, $file, $line);
});

class HastyClock extends Clock
{
    public function sleep(float $seconds): void
    {
        parent::sleep(min($seconds, 0.05));
    }
}

[, $after, $count, $silent] = $argv;
$client = new Postrider(clock: new HastyClock());
$query = ['types' => ['message.bounced']];
$stream = $client->events->stream($after === 'now' ? $query : [...$query, 'after' => $after]);
$stream->silentSeconds = (float) $silent;
try {
    $number = 0;
    foreach ($stream as $event) {
        echo $event['data']['message_id'], "\n";
        if (++$number === (int) $count) {
            break;
        }
    }
} catch (PostriderError $error) {
    echo (new ReflectionClass($error))->getShortName(), "\n";
}
echo "end\n";
stream_get_contents(STDIN);
