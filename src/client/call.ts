import type { PostriderError } from './errors.ts'

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with an `AbortError`. */
  signal?: AbortSignal | undefined
  /** Timeout of this call including its retries, in ms. Default: that of the client. */
  timeoutMs?: number | undefined
  /** Maximum number of retries. Default: that of the client. */
  maxRetries?: number | undefined
}

/** Options of calls that create something. By default each call uses a new idempotency key for its request and
 *  retries. */
export interface KeyedOptions extends CallOptions {
  /** 1 to 255 printable ASCII characters. A call with the same key and body within 24 hours returns the original
   *  response and has no further effect. */
  idempotencyKey?: string | undefined
}

/** Options of `messages.send`. */
export interface SendOptions extends KeyedOptions {
  /** Maximum seconds to wait until every recipient is final, at most 30. The result has the status at that time.
   *  Extends the timeout of the call. */
  waitSeconds?: number | undefined
}

/** A successful result and the request ID of its response. */
export interface ParsedResponse<T> {
  data: T
  requestId: string | null
}

/** Result of `.safe()`: either data or an error. */
export type Result<T> =
  | { data: T; error: null; requestId: string | null }
  | { data: null; error: PostriderError; requestId: string | null }

/** A call in progress: a promise of its result. Rejects with a `PostriderError`. */
export class Call<T> extends Promise<T> {
  readonly #answered: Promise<ParsedResponse<T>>

  constructor(parsed: Promise<ParsedResponse<T>>) {
    super((resolve, reject) => {
      parsed.then(({ data }) => resolve(data), reject)
    })
    this.#answered = parsed
  }

  /** Resolves with either data or an error. Never rejects. */
  safe(): Promise<Result<T>> {
    const failed = (error: PostriderError): Result<T> => ({ data: null, error, requestId: error.requestId })
    // Derived from `this`, so that its rejection counts as handled.
    return this.then(() => this.#answered.then(({ data, requestId }) => ({ data, error: null, requestId })), failed)
  }

  /** `then`, `catch` and `finally` return ordinary promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }
}
