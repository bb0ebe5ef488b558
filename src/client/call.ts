import type { PostriderError } from './errors.ts'

/** What every call takes beside its input. */
export interface CallOptions {
  /** Ends the call: it throws an `AbortError`. */
  signal?: AbortSignal | undefined
  /** For this call in the place of the client's. */
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
}

/** Calls that create something are made with a new key each, which is the same over their own repetitions. */
export interface KeyedOptions extends CallOptions {
  /** 1 to 255 characters: the same key and body a second time, within 24 hours, gives the first answer again. */
  idempotencyKey?: string | undefined
}

export interface SendOptions extends KeyedOptions {
  /** Wait up to so many seconds (30 at most) for the outcome; `status` is then the one of that moment. */
  waitSeconds?: number | undefined
}

/** An answer that came back well. */
export interface ParsedResponse<T> {
  data: T
  requestId: string | null
}

/** What `.safe()` gives: either data or an error. */
export type Result<T> =
  | { data: T; error: null; requestId: string | null }
  | { data: null; error: PostriderError; requestId: string | null }

/** A call that is under way: a promise of its answer that throws a `PostriderError`. */
export class Call<T> extends Promise<T> {
  readonly #answered: Promise<ParsedResponse<T>>

  constructor(parsed: Promise<ParsedResponse<T>>) {
    super((resolve, reject) => {
      parsed.then(({ data }) => resolve(data), reject)
    })
    this.#answered = parsed
  }

  /** The same without throwing. */
  safe(): Promise<Result<T>> {
    const failed = (error: PostriderError): Result<T> => ({ data: null, error, requestId: error.requestId })
    // Through `this`, so that the error counts as looked at.
    return this.then(() => this.#answered.then(({ data, requestId }) => ({ data, error: null, requestId })), failed)
  }

  /** What is made of a call is an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }
}
