import { Call, type ParsedResponse } from './call.ts'

/** One page of a list. */
export interface Page<T> {
  data: T[]
  has_more: boolean
  /** Pass it as `cursor` to get the next page; null on the last page. */
  next_cursor: string | null
}

/** A list: iterate over all items, or await one page. The first request is sent on use. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #ask: (more: { cursor?: string }) => Promise<ParsedResponse<Page<T>>>

  /** `ask` fetches the page at a cursor, or the first page of the query. */
  constructor(ask: (more: { cursor?: string }) => Promise<ParsedResponse<Page<T>>>) {
    this.#ask = ask
  }

  /** The page selected by the query: the first one unless it has a `cursor`. */
  page(): Call<Page<T>> {
    return new Call(this.#ask({}))
  }

  /** All items of all pages. An empty page is not necessarily the last. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let cursor: string | undefined
    do {
      const { data: page } = await this.#ask(cursor === undefined ? {} : { cursor })
      yield* page.data
      cursor = page.has_more ? (page.next_cursor ?? undefined) : undefined
    } while (cursor !== undefined)
  }
}
