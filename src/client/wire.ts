import type { Clock } from './clock.ts'

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Where requests go, and how patient we are. */
export interface Wire {
  /** Without a slash at its end. */
  baseUrl: string
  apiKey: string
  fetch: Fetch
  clock: Clock
}

/** One thing to ask. */
export interface Ask {
  method: string
  /** With its query: `/v1/messages?limit=5` */
  path: string
  /** JSON; undefined = no body. */
  body?: string | undefined
  headers?: Record<string, string>
  idempotencyKey?: string | null
  isRepeatable: boolean
  /** An answer that is not JSON is one, too: text as text, all else as bytes. */
  isRaw: boolean
  timeoutMs: number
  maxRetries: number
  signal?: AbortSignal | undefined
}
