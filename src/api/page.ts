import { invalid } from '../model/refusal.ts'
import type { Page, PageRequest, RecordsRequest } from '../storage/store.ts'
import type { ApiResponse } from './operation.ts'
import { timeRange } from './schema.ts'

/** `limit` and `cursor`, parsed by pageFields (schema.ts). */
export interface PageQuery {
  limit: number
  cursor?: string | undefined
}

/** Query → page request of the store. An invalid cursor is 400 with field `cursor`. */
export function pageRequest(query: PageQuery): PageRequest {
  return { limit: query.limit, after: query.cursor === undefined ? null : readCursor(query.cursor, NEWEST_FIRST) }
}

/** The same for a list that is only filtered by time (recordsQuery in schema.ts). */
export function recordsRequest(query: PageQuery & Parameters<typeof timeRange>[0]): RecordsRequest {
  return { ...pageRequest(query), ...timeRange(query) }
}

/** Record ID → cursor of the records after it, newest first. */
export function cursorAfter(id: string): string {
  return writeCursor(id, NEWEST_FIRST)
}

/** Page of records → list response: `{data, has_more, next_cursor}`. An empty page has no cursor unless the store
 *  returns one. `toWire` converts a record. */
export function pageResponse<T extends { id: string }>(page: Page<T>, toWire: (record: T) => unknown): ApiResponse {
  return listResponse(page, toWire, NEWEST_FIRST)
}

/** The same for an oldest-first list (`GET /v1/events?after=`); its cursor keeps that direction. */
export function feedResponse<T extends { id: string }>(page: Page<T>, toWire: (record: T) => unknown): ApiResponse {
  return listResponse(page, toWire, OLDEST_FIRST)
}

/** Cursor of an oldest-first list → ID of the last record; null if it is a cursor of a newest-first list. Throws 400. */
export function feedCursor(cursor: string): string | null {
  return directionOf(cursor) === OLDEST_FIRST ? readCursor(cursor, OLDEST_FIRST) : null
}

// First byte of a cursor: version and direction. A new layout uses a new number.
const NEWEST_FIRST = 1
const OLDEST_FIRST = 2
const ID = /^[a-z]{3}_[0-9a-z]{26}$/
const CURSOR = /^[A-Za-z0-9_-]{42}$/ // one byte plus the 30 of an ID, without padding

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
