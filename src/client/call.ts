import type { PostriderError } from './errors.ts'

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then throws an `AbortError`. */
  signal?: AbortSignal | undefined
  /** Overrides the client's timeout for this call. */
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
}

/** Options of calls that create something. By default each call uses a new idempotency key, shared by its own retries. */
export interface KeyedOptions extends CallOptions {
  /** 1 to 255 characters. Repeating the same key and body within 24 hours returns the original response. */
  idempotencyKey?: string | undefined
}

export interface SendOptions extends KeyedOptions {
  /** Seconds to wait for the outcome, at most 30; `status` is then the status at that time. */
  waitSeconds?: number | undefined
}

/** A successful result. */
export interface ParsedResponse<T> {
  data: T
  requestId: string | null
}

/** Result of `.safe()`: either data or an error. */
export type Result<T> =
  | { data: T; error: null; requestId: string | null }
  | { data: null; error: PostriderError; requestId: string | null }

/** A running call: a promise of its result that rejects with a `PostriderError`. */
export class Call<T> extends Promise<T> {
  readonly #answered: Promise<ParsedResponse<T>>

  constructor(parsed: Promise<ParsedResponse<T>>) {
    super((resolve, reject) => {
      parsed.then(({ data }) => resolve(data), reject)
    })
    this.#answered = parsed
  }

  /** Resolves with data or an error and never rejects. */
  safe(): Promise<Result<T>> {
    const failed = (error: PostriderError): Result<T> => ({ data: null, error, requestId: error.requestId })
    // Through `this`, so that the rejection counts as handled.
    return this.then(() => this.#answered.then(({ data, requestId }) => ({ data, error: null, requestId })), failed)
  }

  /** Derived promises are ordinary promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }
}
