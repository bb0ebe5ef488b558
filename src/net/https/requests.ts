import type { Clock } from '../../os/clock.ts'
import { EXCERPT_BYTES, retryAfterSeconds } from './answer-excerpt.ts'
import { createExchange, type Exchange, type ExchangeOptions, type ExchangeResult } from './exchange.ts'

export { checkWebhookUrl } from '../webhook-url.ts'

/** What became of one POST. `answered` is any status, redirects too: none is followed. `excerpt` is the text of
 *  at most the first 4 KiB. `blocked` never opened a connection. `error` is one of a few short phrases. */
export type PostResult =
  | { kind: 'answered'; status: number; retryAfterSeconds: number | null; excerpt: string; durationMs: number }
  | { kind: 'blocked'; reason: string; durationMs: number }
  | { kind: 'no_answer'; error: string; durationMs: number }

export type Post = (
  url: string,
  request: { headers: Record<string, string>; body: Uint8Array | string; timeoutMs: number },
) => Promise<PostResult>

/** What a GET gave. `text` is the whole body as UTF-8, null where it was longer than asked for or is none. */
export type GetResult =
  | { kind: 'answered'; status: number; contentType: string | null; text: string | null }
  | { kind: 'blocked'; reason: string }
  | { kind: 'no_answer'; error: string }

export type Get = (url: string, request: { maxBytes: number; timeoutMs: number }) => Promise<GetResult>

/** A request of either kind, and its answer with all headers (names in lower case); the rest as with GetResult. */
export type Ask = (
  url: string,
  request: { headers: Record<string, string>; body: string | null; maxBytes: number; timeoutMs: number },
) => Promise<AskResult>

export type AskResult =
  | { kind: 'answered'; status: number; headers: Readonly<Record<string, string | undefined>>; text: string | null }
  | Exclude<GetResult, { kind: 'answered' }>

/** Where requests may go, in this thread. */
export type RequestOptions = Omit<ExchangeOptions, 'keepsAlive'>
export interface PostOptions extends RequestOptions {
  clock: Clock
}

/** A way to do requests → POSTs with an answer of 4 KiB. `timeoutMs` covers everything up to the end of the answer, on the
 *  machine's own timer even under a test clock. Content-Length, Host and Accept-Encoding are ours, User-Agent unless given.
 *  `body` must not be touched afterwards: a large one is handed over. `onResult` sees each result. Rejects only on headers that HTTP cannot carry. */
export function postBy(exchange: Exchange, clock: Clock, onResult: (result: PostResult) => void = () => {}): Post {
  return async (url, { headers, body, timeoutMs }) => {
    const startedAt = clock.now()
    const asked = { url, method: 'POST', headers, body, maxBytes: EXCERPT_BYTES, timeoutMs, as: 'excerpt' } as const
    const result = postResult(await exchange(asked), startedAt, clock.now())
    onResult(result)
    return result
  }
}

/** The same for what is read: no redirect followed. Never rejects. */
export function getBy(exchange: Exchange): Get {
  const ask = askBy(exchange)
  return async (url, limits) => {
    const answer = await ask(url, { headers: {}, body: null, ...limits })
    if (answer.kind !== 'answered') return answer
    const { status, headers, text } = answer
    return { kind: 'answered', status, contentType: headers['content-type'] ?? null, text }
  }
}

/** The same for requests that have headers, or a body (then a POST). */
export function askBy(exchange: Exchange): Ask {
  return (url, { headers, body, maxBytes, timeoutMs }) =>
    exchange({ url, method: body === null ? 'GET' : 'POST', headers, body, maxBytes, timeoutMs, as: 'text' })
}

/** POSTs from this thread, over connections that are kept. Throws on a `ca` that is no certificate. */
export const createPost = (options: PostOptions): Post =>
  postBy(createExchange({ ...options, keepsAlive: true }).exchange, options.clock)

/** GETs from this thread. */
export const createGet = (options: RequestOptions): Get =>
  getBy(createExchange({ ...options, keepsAlive: false }).exchange)

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
    excerpt: result.text ?? '',
    durationMs,
  }
}
