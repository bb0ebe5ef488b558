import type { Page, PageRequest, RecordsRequest } from './store.ts'

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
