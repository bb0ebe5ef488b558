import { hash } from 'node:crypto'
import docs from './docs/page.html' with { type: 'text' }
import type { Operation } from './operation.ts'
import { JSON_TYPE } from './rendered-response.ts'
import type { Page } from './route-table.ts'

/** Operations and version → the pages `/openapi.json`, the OpenAPI document, and `/docs`, a self-contained reference
 *  page that loads only this document. Both need no key. */
export function documentPages(operations: readonly Operation[], version: string): Page[] {
  // Built on the first request: it takes 0.1 s, which would delay the start of the server.
  let made: Promise<Served> | null = null
  const make = async () => {
    const { openApiDocument } = await import('./openapi/document.ts')
    const open = { 'access-control-allow-origin': '*' }
    return served(JSON.stringify(await openApiDocument(operations, version)), JSON_TYPE, open)
  }
  const openApi = () => {
    made ??= make()
    return made
  }
  const html = docs as unknown as string // typed as a Bun bundle, which this import is not
  const page = served(html, 'text/html; charset=utf-8', {
    'content-security-policy': policyOf(html),
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  })
  return [
    { method: 'GET', path: '/openapi.json', handle: async (request) => answer(request, await openApi()) },
    { method: 'GET', path: '/docs', handle: (request) => answer(request, page) },
  ]
}

interface Served {
  body: string
  headers: Record<string, string>
}

function served(body: string, contentType: string, more: Record<string, string>): Served {
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  const headers = {
    'content-type': contentType,
    etag,
    'cache-control': 'no-cache', // always revalidate: a 304 is cheap, and updates appear immediately
    'x-content-type-options': 'nosniff',
    ...more,
  }
  return { body, headers }
}

/** 200 with the body, or 304 if `If-None-Match` lists its ETag or is `*` (RFC 9110 §13.1.2). */
function answer(request: Request, { body, headers }: Served): Response {
  const known = request.headers.get('if-none-match')?.split(',') ?? []
  const isKnown = known.some((tag) => tag.trim().replace(/^W\//, '') === headers.etag || tag.trim() === '*')
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(body, { headers })
}

/** Content-Security-Policy for a page: allows only its own inline styles and scripts, and requests to this server. */
function policyOf(html: string): string {
  const hashes = (tag: string) =>
    html
      .split(`<${tag}>`)
      .slice(1)
      .map((rest) => `'sha256-${hash('sha256', rest.slice(0, rest.indexOf(`</${tag}>`)), 'base64')}'`)
  return [
    "default-src 'none'",
    "connect-src 'self'",
    'img-src data:', // the page has an empty icon, so that browsers do not request /favicon.ico
    `style-src ${hashes('style').join(' ')}`,
    `script-src ${hashes('script').join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
