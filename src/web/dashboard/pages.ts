import type { PackedFile } from './pack.ts'
import { openOnce, respond } from './static-files.ts'

/** A route of the HTTP server that needs no API key (web/api/route-table.ts). */
export interface DashboardPage {
  method: 'GET'
  path: string
  handle: (request: Request, params: Record<string, string>) => Promise<Response>
}

/** Routes of the dashboard: `/dashboard/…` is one HTML page for all paths below it, `/dashboard/assets/` has its files,
 *  `/dashboard/starter-templates/` has templates to start from (starters/starters.ts), and `/dashboard/preview` is the
 *  frame that shows message content. These responses are the same for every client and
 *  contain no data: the page loads data from the API, which checks access. A request with an unknown host name gets
 *  403, so neither a customer's tracking domain nor DNS rebinding gives access to the page. If `files` rejects, the
 *  request fails and the next one tries again.
 *
 *  File names contain a hash of their content, so browsers cache files for a year; they revalidate the page each
 *  time. */
export function dashboardPages(
  files: () => Promise<PackedFile[]>,
  isKnownHost: (header: string | null) => boolean = () => true,
): DashboardPage[] {
  const load = openOnce(files)
  const shell = async (request: Request) => {
    if (!isKnownHost(request.headers.get('host')))
      return new Response(UNKNOWN_HOST, { status: 403, headers: UNKNOWN_HEADERS })
    return respond(request, (await load()).get('index.html'), SHELL)
  }
  const asset = async (request: Request, params: Record<string, string>) =>
    respond(request, (await load()).get(params['*'] ?? ''), ASSET)
  const starter = async (request: Request, params: Record<string, string>) =>
    respond(request, (await load()).get(`starter-templates/${params['*'] ?? ''}`), STARTER)
  const frame = (policy: string) => async () => new Response(FRAME, { headers: { ...FRAME_HEADERS, ...csp(policy) } })

  return [
    { method: 'GET', path: '/', handle: async () => Response.redirect('/dashboard/', 302) },
    { method: 'GET', path: '/dashboard', handle: shell },
    { method: 'GET', path: '/dashboard/*', handle: shell },
    { method: 'GET', path: '/dashboard/assets/*', handle: asset },
    { method: 'GET', path: '/dashboard/starter-templates/*', handle: starter },
    { method: 'GET', path: '/dashboard/preview', handle: frame(PREVIEW) },
    { method: 'GET', path: '/dashboard/preview-with-images', handle: frame(PREVIEW_WITH_IMAGES) },
  ]
}

const csp = (policy: string) => ({ 'content-security-policy': policy })
const ALWAYS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', vary: 'Accept-Encoding' }
const SHELL = {
  ...ALWAYS,
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  ...csp(
    [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "frame-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  ),
}
const UNKNOWN_HOST =
  'The dashboard is not available on this host name. The operator can add it to http.allowed_hosts.\n'
const UNKNOWN_HEADERS = { ...ALWAYS, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
const STARTER = { ...ALWAYS, 'cache-control': 'no-cache' }
const ASSET = { ...ALWAYS, 'cache-control': 'public, max-age=31536000, immutable' }

/** An empty page that the dashboard fills with a message. Its policy allows the message's own styles, no scripts, and
 *  no requests unless the operator loads remote images. */
const FRAME =
  '<!doctype html><html><head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Message</title></head><body></body></html>'
const FRAME_HEADERS = { ...ALWAYS, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' }
const framePolicy = (images: string, sheets = '') =>
  `default-src 'none'; img-src ${images}; style-src 'unsafe-inline'${sheets}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-same-origin`
const PREVIEW = framePolicy('data:')
/** Allows style sheets as data: URLs, whose images are requested without a Referer (mail-html.ts). */
const PREVIEW_WITH_IMAGES = framePolicy('data: https:', ' data:')
