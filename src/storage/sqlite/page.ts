import type { Page, PageRequest, RecordsRequest } from '../store.ts'

/** Rows of a query for one more than the page contains → the page. */
export function toPage<Row, T>(rows: Row[], page: PageRequest, toRecord: (row: Row) => T): Page<T> {
  return { records: rows.slice(0, page.limit).map(toRecord), hasMore: rows.length > page.limit }
}

/** Cursor for records with time-sorted IDs: the list continues before it; without a cursor, at the end. */
export function idBefore(page: PageRequest): string {
  return page.after ?? '~'
}

/** Parameters of a query that ends in `id < ? and created_at >= ? and created_at < ? order by id desc limit ?`. */
export function rangeOf(page: RecordsRequest): [string, number, number, number] {
  return [idBefore(page), page.createdAfter ?? 0, page.createdBefore ?? Number.MAX_SAFE_INTEGER, page.limit + 1]
}

/** Conditions of a list query that apply only if their value is given. */
export interface Condition {
  sql: string
  values: unknown[]
}

/** Value and condition → the condition, or nothing if the value is null. */
export function when(value: unknown, sql: string): Condition[] {
  return value === null || value === undefined ? [] : [{ sql, values: [value] }]
}

/** Yields to the event loop: long reads run in pieces of some milliseconds. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Maximum time between a record's own time and its commit, which limits how exactly a time is found in the order of
 *  commits. (A clock set back by more hides what was written meanwhile from lists by time only.) */
export const SLACK_MS = 60_000

/** Numbers of records, from `low` to before `high`. */
export interface Numbers {
  low: number
  high: number
}
