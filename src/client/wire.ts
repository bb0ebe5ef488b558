import type { Clock } from './clock.ts'

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The server, its key, and the functions with which requests are sent. */
export interface Wire {
  /** URL of the server without a trailing slash. */
  baseUrl: string
  apiKey: string
  fetch: Fetch
  clock: Clock
}

/** A request to the API, with its timeout and retries. */
export interface ApiRequest {
  method: string
  /** Path with query: `/v1/messages?limit=5`. */
  path: string
  /** JSON text; undefined for a request without a body. */
  body?: string | undefined
  headers?: Record<string, string>
  idempotencyKey?: string | null
  /** Repeating the request has no further effect. */
  isRepeatable: boolean
  /** The response may have another content type than JSON. It becomes text for `text/…`, otherwise bytes. */
  isRaw: boolean
  /** Timeout including retries, in ms. */
  timeoutMs: number
  maxRetries: number
  signal?: AbortSignal | undefined
}
