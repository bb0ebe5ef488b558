import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { acceptedCoding, type ContentCoding } from '../../net/content-coding.ts'
import { createTurnLimiter, type TurnLimiter } from '../../os/turn-limiter.ts'
import type { Operation } from './operation.ts'
import { JSON_TYPE } from './rendered-response.ts'
import type { Page } from './route-table.ts'

/** Operations and version → the page `/openapi.json`, the OpenAPI document, which needs no key. */
export function documentPages(operations: readonly Operation[], version: string): Page[] {
  // Built on the first request: it takes 0.2 s, which would delay the start of the server.
  let made: Promise<Served> | null = null
  const make = async () => {
    const { openApiDocument } = await import('./openapi/document.ts')
    return served(Buffer.from(JSON.stringify(await openApiDocument(operations, version))))
  }
  const openApi = () => {
    made ??= make()
    return made
  }
  // Requests that waited for the document would all be answered in one turn.
  const turns = createTurnLimiter()
  const handle = async (request: Request) => answer(request, await openApi(), turns)
  return [{ method: 'GET', path: '/openapi.json', handle }]
}

interface Served {
  etag: string
  /** The body in a coding, compressed on the first request for it. */
  bodyIn: (coding: ContentCoding | null) => Promise<Uint8Array<ArrayBuffer>>
}

/** 450 kB become 37 kB in 80 ms, on another thread. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
const COMPRESS = {
  br: (body: Uint8Array) => promisify(brotliCompress)(body, BROTLI),
  gzip: (body: Uint8Array) => promisify(gzip)(body, { level: 9 }),
}

function served(body: Uint8Array<ArrayBuffer>): Served {
  const compressed = new Map<ContentCoding, Promise<Uint8Array<ArrayBuffer>>>()
  const bodyIn = async (coding: ContentCoding | null) => {
    if (coding === null) return body
    const bytes = compressed.get(coding) ?? COMPRESS[coding](body).then((made) => new Uint8Array(made))
    compressed.set(coding, bytes)
    return bytes
  }
  return { etag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"`, bodyIn }
}

/** 200 with the body, or 304 if `If-None-Match` lists its ETag or is `*` (RFC 9110 §13.1.2). */
async function answer(request: Request, { etag, bodyIn }: Served, turns: TurnLimiter): Promise<Response> {
  const headers = {
    'content-type': JSON_TYPE,
    etag,
    'cache-control': 'no-cache', // always revalidate: a 304 is cheap, and updates appear immediately
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
  }
  const known = request.headers.get('if-none-match')?.split(',') ?? []
  const isKnown = known.some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*')
  if (isKnown) return new Response(null, { status: 304, headers })
  const coding = acceptedCoding(request.headers.get('accept-encoding'))
  const body = await bodyIn(coding)
  const init = { headers: coding === null ? headers : { ...headers, 'content-encoding': coding } }
  return turns.enter(body.byteLength, () => new Response(body, init))
}
