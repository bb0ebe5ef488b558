<?php

/** Loads the client without Composer. */

declare(strict_types=1);

foreach (['runtime', 'request', 'pages', 'stream', 'errors', 'types', 'api', 'webhooks'] as $name) {
    require_once __DIR__ . "/src/$name.php";
}
