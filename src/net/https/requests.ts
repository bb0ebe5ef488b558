import type { Clock } from '../../os/clock.ts'
import { EXCERPT_BYTES, retryAfterSeconds } from './answer-excerpt.ts'
import { createExchange, type Exchange, type ExchangeOptions, type ExchangeResult } from './exchange.ts'

export { checkWebhookUrl } from '../webhook-url.ts'

/** Result of one POST. `answered`: any status, including redirects, which are not followed; `location`: where one leads,
 *  safe to show, else null. `excerpt`: text of at most the first 4 KiB. `blocked`: no connection was opened. `error` is
 *  one of a few short phrases. */
export type PostResult =
  | {
      kind: 'answered'
      status: number
      retryAfterSeconds: number | null
      location: string | null
      excerpt: string
      durationMs: number
    }
  | { kind: 'blocked'; reason: string; durationMs: number }
  | { kind: 'no_answer'; error: string; durationMs: number }

export type Post = (
  url: string,
  request: { headers: Record<string, string>; body: Uint8Array | string; timeoutMs: number },
) => Promise<PostResult>

/** A request with an answer of up to `maxBytes`: a GET, or with a body a POST. Redirects are not followed. */
export type Ask = (
  url: string,
  request: { headers: Record<string, string>; body: string | null; maxBytes: number; timeoutMs: number },
) => Promise<AskResult>

/** Result of an Ask. `headers` are by lower-case name. `text` is the whole body as UTF-8; null if it was longer than
 *  requested or not UTF-8. */
export type AskResult =
  | { kind: 'answered'; status: number; headers: Readonly<Record<string, string | undefined>>; text: string | null }
  | { kind: 'blocked'; reason: string }
  | { kind: 'no_answer'; error: string }

/** Options for requests from this thread. */
export type RequestOptions = Omit<ExchangeOptions, 'keepsAlive'>
export interface PostOptions extends RequestOptions {
  clock: Clock
}

/** A way to do requests → POSTs with an answer of 4 KiB. `timeoutMs` covers everything up to the end of the answer, on the
 *  machine's own timer even under a test clock; once the head of the answer is there, its status counts. Content-Length,
 *  Host and Accept-Encoding are ours, User-Agent unless given. `body` must not be touched afterwards: a large one is
 *  handed over. `onResult` sees each result. Rejects only on headers that HTTP cannot carry. */
export function postBy(exchange: Exchange, clock: Clock, onResult: (result: PostResult) => void = () => {}): Post {
  return async (url, { headers, body, timeoutMs }) => {
    const startedAt = clock.now()
    const asked = { url, method: 'POST', headers, body, maxBytes: EXCERPT_BYTES, timeoutMs, as: 'excerpt' } as const
    const result = postResult(await exchange(asked), startedAt, clock.now())
    onResult(result)
    return result
  }
}

/** Exchange → Ask. Rejects only on headers that HTTP cannot carry. */
export function askBy(exchange: Exchange): Ask {
  return (url, { headers, body, maxBytes, timeoutMs }) =>
    exchange({ url, method: body === null ? 'GET' : 'POST', headers, body, maxBytes, timeoutMs, as: 'text' })
}

/** POSTs from this thread over kept connections. Throws if `ca` is not a certificate. */
export const createPost = (options: PostOptions): Post =>
  postBy(createExchange({ ...options, keepsAlive: true }).exchange, options.clock)

/** Requests of either kind from this thread. */
export const createAsk = (options: RequestOptions): Ask =>
  askBy(createExchange({ ...options, keepsAlive: false }).exchange)

function postResult(result: ExchangeResult, startedAt: number, endedAt: number): PostResult {
  if (result.kind === 'blocked') return { ...result, durationMs: 0 }
  const durationMs = endedAt - startedAt
  if (result.kind === 'no_answer') return { ...result, durationMs }
  return {
    kind: 'answered',
    status: result.status,
    retryAfterSeconds: retryAfterSeconds(result.headers['retry-after'], startedAt),
    location: result.headers.location ?? null,
    excerpt: result.text ?? '',
    durationMs,
  }
}
