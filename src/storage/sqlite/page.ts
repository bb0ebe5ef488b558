import type { Page, PageRequest, RecordsRequest } from '../store.ts'

/** Rows of a query that asked for one more than the page holds → the page. */
export function toPage<Row, T>(rows: Row[], page: PageRequest, toRecord: (row: Row) => T): Page<T> {
  return { records: rows.slice(0, page.limit).map(toRecord), hasMore: rows.length > page.limit }
}

/** The place before which a list of records with time-sorted ids goes on; without a cursor, before the end. */
export function idBefore(page: PageRequest): string {
  return page.after ?? '~'
}

/** What a query asks for that ends in `id < ? and created_at >= ? and created_at < ? order by id desc limit ?`. */
export function rangeOf(page: RecordsRequest): [string, number, number, number] {
  return [idBefore(page), page.createdAfter ?? 0, page.createdBefore ?? Number.MAX_SAFE_INTEGER, page.limit + 1]
}

/** Conditions of a list query that only count when their value is given. */
export interface Condition {
  sql: string
  values: unknown[]
}

/** A value and its condition → the condition, or nothing when the value is null. */
export function when(value: unknown, sql: string): Condition[] {
  return value === null || value === undefined ? [] : [{ sql, values: [value] }]
}

/** Lets everybody else of the event loop have a turn: what walks far does so in pieces of some milliseconds. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Between the time a record tells of itself and its commit, at most: where in the order of commits a time lies is known
 *  to within so much. (A clock set back by more hides what was written meanwhile from lists by time, from no other.) */
export const SLACK_MS = 60_000

/** Numbers of records, from `low` to before `high`. */
export interface Numbers {
  low: number
  high: number
}
