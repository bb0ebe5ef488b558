import type { ApiKey } from '../../model/api-key.ts'
import type { MintId } from '../../os/ids.ts'
import type { ApiResponse, Operation } from './operation.ts'
import { PERSONAL, type Rendered } from './rendered-response.ts'

/** Data collected while a request is served, for its log line and response headers. */
export interface Exchange {
  requestId: string
  operation: Operation | null
  key: ApiKey | null
  headers: Record<string, string>
}

/** Request → its exchange. A valid `X-Request-Id` of the client is kept, so that its log and ours can be correlated;
 *  otherwise a new ID is created. */
export function openExchange(request: Request, mintId: MintId): Exchange {
  const given = request.headers.get('x-request-id')
  const requestId = given !== null && SANE_REQUEST_ID.test(given) ? given : mintId('req')
  return { requestId, operation: null, key: null, headers: { 'x-request-id': requestId, ...PERSONAL } }
}

/** Adds `X-Request-Id` and `nosniff` to the response of a page, and `no-store` unless the page sets `Cache-Control`.
 *  Changes and returns the same object. */
export function withRequestId(response: Response, { requestId }: Exchange): Response {
  const { headers } = response
  headers.set('x-request-id', requestId)
  headers.set('x-content-type-options', 'nosniff')
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  return response
}

/** Streaming API response → Response. For HEAD the stream is cancelled, because no client would read or end it. */
export function begin(answer: ApiResponse & { body: ReadableStream }, request: Request, exchange: Exchange): Response {
  const { status, body, headers, contentType = STREAM_TYPE } = answer
  if (request.method !== 'HEAD') return send({ status, body, headers, contentType }, exchange)
  void body.cancel()
  return send({ status, body: '', headers, contentType }, exchange)
}

/** Rendered response → Response with the headers of the exchange. Headers of the rendered response take precedence. */
export function send(
  rendered: Omit<Rendered, 'body'> & { body: Rendered['body'] | ReadableStream },
  exchange: Exchange,
): Response {
  const { headers } = exchange
  headers['content-type'] = rendered.contentType
  for (const [name, value] of Object.entries(rendered.headers ?? {})) headers[name.toLowerCase()] = value
  return new Response(rendered.body, { status: rendered.status, headers })
}

const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/
const STREAM_TYPE = 'application/octet-stream'
