import { Call, type ParsedResponse } from './call.ts'

/** One page of a list. */
export interface Page<T> {
  data: T[]
  has_more: boolean
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  next_cursor: string | null
}

/** A list. Iterate over it to get all items, or call `page()` to get one page. Sends no request before that. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #fetchPage: (more: { cursor?: string }) => Promise<ParsedResponse<Page<T>>>

  /** `fetchPage` requests the page at a cursor, or without one the page that the query selects. */
  constructor(fetchPage: (more: { cursor?: string }) => Promise<ParsedResponse<Page<T>>>) {
    this.#fetchPage = fetchPage
  }

  /** Requests one page: the one at the query's `cursor`, else the first. */
  page(): Call<Page<T>> {
    return new Call(this.#fetchPage({}))
  }

  /** Yields the items of all pages. Continues after an empty page, which is not necessarily the last one. Throws a
   *  `PostriderError` if a request fails. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let cursor: string | undefined
    do {
      const { data: page } = await this.#fetchPage(cursor === undefined ? {} : { cursor })
      yield* page.data
      cursor = page.has_more ? (page.next_cursor ?? undefined) : undefined
    } while (cursor !== undefined)
  }
}
