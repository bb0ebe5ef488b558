import { hash } from 'node:crypto'
import docs from './docs/page.html' with { type: 'text' }
import type { Operation } from './operation.ts'
import { JSON_TYPE } from './rendered-response.ts'
import type { Page } from './route-table.ts'

/** `/openapi.json`: the document of all operations. `/docs`: a self-contained reference page that loads only this
 *  document and works offline. Both are public. */
export function documentPages(operations: readonly Operation[], version: string): Page[] {
  // Built on first use: it takes 0.1 s, which would delay the start.
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
    'cache-control': 'no-cache', // revalidate every time: 304 is cheap, and updates appear immediately
    'x-content-type-options': 'nosniff',
    ...more,
  }
  return { body, headers }
}

/** 304 if the client has the current version (RFC 9110 §13.1.2). */
function answer(request: Request, { body, headers }: Served): Response {
  const known = request.headers.get('if-none-match')?.split(',') ?? []
  const isKnown = known.some((tag) => tag.trim().replace(/^W\//, '') === headers.etag || tag.trim() === '*')
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(body, { headers })
}

/** Allows only this style, this script, and requests to this server. */
function policyOf(html: string): string {
  const hashes = (tag: string) =>
    html
      .split(`<${tag}>`)
      .slice(1)
      .map((rest) => `'sha256-${hash('sha256', rest.slice(0, rest.indexOf(`</${tag}>`)), 'base64')}'`)
  return [
    "default-src 'none'",
    "connect-src 'self'",
    'img-src data:', // an empty icon, so that browsers request none
    `style-src ${hashes('style').join(' ')}`,
    `script-src ${hashes('script').join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
