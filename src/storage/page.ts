import { firstId, type IdPrefix } from '../os/ids.ts'

/** One page of a list, newest first. `after` is the ID of the last record of the previous page. */
export interface PageRequest {
  limit: number
  after: string | null
}

export interface Page<T> {
  records: T[]
  hasMore: boolean
  /** The ID after which the list continues, if that is not the last record: the search stopped at its limit of work. */
  next?: string
}

/** Both ms UTC, null = open; `createdAfter` is inclusive, `createdBefore` exclusive. */
export interface TimeRange {
  createdAfter: number | null
  createdBefore: number | null
}

/** A page of a list that is filtered only by time. */
export type RecordsRequest = PageRequest & Partial<TimeRange>

/** Rows of a query for one more than the page contains → the page. */
export function toPage<Row, T>(rows: Row[], page: PageRequest, toRecord: (row: Row) => T): Page<T> {
  return { records: rows.slice(0, page.limit).map(toRecord), hasMore: rows.length > page.limit }
}

/** The first text after all that begin with this one, in the order of bytes. */
export const endOf = (beginning: string) => `${beginning}\u{10ffff}`

/** Records with a beginning that a list sorts by itself; of more it reads those in order and compares each. */
export const MOST_SORTED = 1_000

/** Cursor for records with time-sorted IDs: the list continues before it; without a cursor, at the end. */
function idBefore(page: PageRequest): string {
  return page.after ?? '~'
}

/** Parameters of a query that ends in `id < ? and created_at >= ? and created_at < ? order by id desc limit ?`. */
export function rangeOf(page: RecordsRequest): [string, number, number, number] {
  return [idBefore(page), page.createdAfter ?? 0, page.createdBefore ?? Number.MAX_SAFE_INTEGER, page.limit + 1]
}

/** Maximum time between a record's own time and its ID or its commit, which limits how exactly a time is found in the
 *  order of records. (A clock set back by more hides what was written meanwhile from lists by time only.) */
export const SLACK_MS = 60_000

/** IDs that records of a time range, before the page's cursor, can have: from `low` to before `high`. */
export function idsOf(
  prefix: IdPrefix,
  { createdAfter, createdBefore }: TimeRange,
  page: PageRequest,
): { low: string; high: string } {
  const low = createdAfter === null ? '' : firstId(prefix, createdAfter - SLACK_MS)
  const end = createdBefore === null ? '~' : firstId(prefix, createdBefore + SLACK_MS)
  const [high = end] = [idBefore(page), end].sort()
  return { low, high }
}
