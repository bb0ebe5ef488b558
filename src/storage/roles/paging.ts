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
