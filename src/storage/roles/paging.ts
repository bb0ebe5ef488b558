/** One page of a list, newest first. `after` is the id of the last record of the page before. */
export interface PageRequest {
  limit: number
  after: string | null
}

export interface Page<T> {
  records: T[]
  hasMore: boolean
  /** The id after which the list goes on, where that is not the last record: it has looked far enough for once. */
  next?: string
}

/** Both ms UTC, null = open; the first inclusive, the second exclusive. */
export interface TimeRange {
  createdAfter: number | null
  createdBefore: number | null
}

/** A page of a list that nothing but time narrows. */
export type RecordsRequest = PageRequest & Partial<TimeRange>
