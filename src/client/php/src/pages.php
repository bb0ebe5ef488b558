<?php

declare(strict_types=1);

namespace Postrider;

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
