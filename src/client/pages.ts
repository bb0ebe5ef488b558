import { Call, type ParsedResponse } from './call.ts'

/** One page of a list. */
export interface Page<T> {
  data: T[]
  has_more: boolean
  /** Give it as `cursor` for the next page; null on the last one. */
  next_cursor: string | null
}

/** A list that was asked for: all of it, item by item, or one page. Nothing is sent before one of them is wanted. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #ask: (more: { cursor?: string }) => Promise<ParsedResponse<Page<T>>>

  /** `ask` gets the page at a cursor; without one, where the query begins. */
  constructor(ask: (more: { cursor?: string }) => Promise<ParsedResponse<Page<T>>>) {
    this.#ask = ask
  }

  /** The page that the query names: the first one, unless it has a `cursor`. */
  page(): Call<Page<T>> {
    return new Call(this.#ask({}))
  }

  /** All items over all pages; a page may be empty and still not be the last. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let cursor: string | undefined
    do {
      const { data: page } = await this.#ask(cursor === undefined ? {} : { cursor })
      yield* page.data
      cursor = page.has_more ? (page.next_cursor ?? undefined) : undefined
    } while (cursor !== undefined)
  }
}
