import type { ApiKey } from '../model/api-key.ts'
import type { MintId } from '../os/ids.ts'
import type { ApiResponse, Operation } from './operation.ts'
import { PERSONAL, type Rendered } from './rendered-response.ts'

/** One request and the facts collected about it, for the log and the response headers. */
export interface Exchange {
  requestId: string
  operation: Operation | null
  key: ApiKey | null
  headers: Record<string, string>
}

/** Request → its exchange, with the client's request ID if valid, so that both logs can be correlated; otherwise a new
 *  ID. */
export function openExchange(request: Request, mintId: MintId): Exchange {
  const given = request.headers.get('x-request-id')
  const requestId = given !== null && SANE_REQUEST_ID.test(given) ? given : mintId('req')
  return { requestId, operation: null, key: null, headers: { 'x-request-id': requestId, ...PERSONAL } }
}

/** Page response → the same with the request ID, no MIME sniffing, and no caching unless the page allows it. */
export function withRequestId(response: Response, { requestId }: Exchange): Response {
  const { headers } = response
  headers.set('x-request-id', requestId)
  headers.set('x-content-type-options', 'nosniff')
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  return response
}

/** A streaming response. HEAD gets no stream, because no client would read or end it. */
export function begin(answer: ApiResponse & { body: ReadableStream }, request: Request, exchange: Exchange): Response {
  const { status, body, headers, contentType = STREAM_TYPE } = answer
  if (request.method !== 'HEAD') return send({ status, body, headers, contentType }, exchange)
  void body.cancel()
  return send({ status, body: '', headers, contentType }, exchange)
}

/** Rendered response → Response, with the headers collected in the exchange. */
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
