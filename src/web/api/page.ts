import { invalid } from '../../model/refusal.ts'
import type { Page, PageRequest, RecordsRequest } from '../../storage/store.ts'
import type { ApiResponse } from './operation.ts'
import { timeRange } from './schema.ts'

/** The parsed query parameters `limit` and `cursor` (pageFields in schema.ts). */
export interface PageQuery {
  limit: number
  cursor?: string | undefined
}

/** Parsed query → page request for the store, newest first. Without a cursor it selects the first page. Throws
 *  `validation_error` for an invalid cursor, with field `cursor`. */
export function pageRequest(query: PageQuery): PageRequest {
  return { limit: query.limit, after: query.cursor === undefined ? null : readCursor(query.cursor, NEWEST_FIRST) }
}

/** Like pageRequest, for a list that is also filtered by time (recordsQuery in schema.ts). */
export function recordsRequest(query: PageQuery & Parameters<typeof timeRange>[0]): RecordsRequest {
  return { ...pageRequest(query), ...timeRange(query) }
}

/** Record ID → cursor of a newest-first list, for the page that starts after this record. */
export function cursorAfter(id: string): string {
  return writeCursor(id, NEWEST_FIRST)
}

/** Page of records → list response `{data, has_more, next_cursor}`. `toWire` converts a record to its JSON.
 *  `next_cursor` is null on the last page. A page that is empty because of filters has a cursor if the store returns
 *  the position to continue from. */
export function pageResponse<T extends { id: string }>(page: Page<T>, toWire: (record: T) => unknown): ApiResponse {
  return listResponse(page, toWire, NEWEST_FIRST)
}

/** Like pageResponse, for an oldest-first list (`GET /v1/events?after=`). The cursor includes that order. */
export function feedResponse<T extends { id: string }>(page: Page<T>, toWire: (record: T) => unknown): ApiResponse {
  return listResponse(page, toWire, OLDEST_FIRST)
}

/** Cursor of an oldest-first list → ID of the last record of the previous page; null for the cursor of a newest-first
 *  list and for an invalid one. Throws `validation_error` for an oldest-first cursor without a valid ID. */
export function feedCursor(cursor: string): string | null {
  return directionOf(cursor) === OLDEST_FIRST ? readCursor(cursor, OLDEST_FIRST) : null
}

// First byte of a cursor: its format version and the order of the list. A new format must use new numbers.
const NEWEST_FIRST = 1
const OLDEST_FIRST = 2
const ID = /^[a-z]{3}_[0-9a-z]{26}$/
const CURSOR = /^[A-Za-z0-9_-]{42}$/ // 31 bytes in base64url without padding: the first byte, then an ID of 30

function listResponse<T extends { id: string }>(page: Page<T>, toWire: (record: T) => unknown, direction: number) {
  const last = page.next ?? page.records.at(-1)?.id
  const more = page.hasMore && last !== undefined
  return {
    status: 200,
    body: {
      data: page.records.map(toWire),
      has_more: more,
      next_cursor: more ? writeCursor(last, direction) : null,
    },
  }
}

function writeCursor(id: string, direction: number): string {
  return Buffer.from(`${String.fromCharCode(direction)}${id}`, 'latin1').toString('base64url')
}

function readCursor(cursor: string, direction: number): string {
  const bytes = CURSOR.test(cursor) ? Buffer.from(cursor, 'base64url').toString('latin1') : ''
  const id = bytes.slice(1)
  if (bytes.charCodeAt(0) !== direction || !ID.test(id)) {
    throw invalid([
      { field: 'cursor', message: 'cursor is invalid for this list. Use next_cursor of the previous page.' },
    ])
  }
  return id
}

function directionOf(cursor: string): number {
  return CURSOR.test(cursor) ? (Buffer.from(cursor, 'base64url')[0] ?? 0) : 0
}
