import { hash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { PackedFile } from './pack.ts'

/** What the HTTP server is to answer without a key (api/route-table.ts). */
export interface DashboardPage {
  method: 'GET'
  path: string
  handle: (request: Request, params: Record<string, string>) => Promise<Response>
}

/** `/dashboard/…`: one page for all paths below it, its files under `/dashboard/assets/`, and `/dashboard/preview`, the frame
 *  that mail is shown in. Everything is the same for everybody and says nothing of anybody: who may see what is decided
 *  by the API, which the page asks. Under a host name that is none of ours the page is not there: neither on the tracking
 *  host of a customer, nor for DNS rebinding.
 *
 *  Files have the hash of what is in them in their name and are kept for ever; the page is asked for each time. */
export function dashboardPages(
  files: () => Promise<PackedFile[]>,
  isKnownHost: (header: string | null) => boolean = () => true,
): DashboardPage[] {
  let opened: Promise<Map<string, Served>> | null = null
  const open = () => {
    opened ??= files().then((all) => new Map(all.map((file) => [file.name, serve(file)])))
    opened.catch(() => {
      opened = null
    })
    return opened
  }
  const shell = async (request: Request) => {
    if (!isKnownHost(request.headers.get('host')))
      return new Response(UNKNOWN_HOST, { status: 403, headers: UNKNOWN_HEADERS })
    return answer(request, (await open()).get('index.html'), SHELL)
  }
  const asset = async (request: Request, params: Record<string, string>) =>
    answer(request, (await open()).get(params['*'] ?? ''), ASSET)
  const frame = (policy: string) => async () => new Response(FRAME, { headers: { ...FRAME_HEADERS, ...csp(policy) } })

  return [
    { method: 'GET', path: '/', handle: async () => Response.redirect('/dashboard/', 302) },
    { method: 'GET', path: '/dashboard', handle: shell },
    { method: 'GET', path: '/dashboard/*', handle: shell },
    { method: 'GET', path: '/dashboard/assets/*', handle: asset },
    { method: 'GET', path: '/dashboard/preview', handle: frame(PREVIEW) },
    { method: 'GET', path: '/dashboard/preview-with-images', handle: frame(PREVIEW_WITH_IMAGES) },
  ]
}

interface Served {
  file: PackedFile
  type: string
  etag: string
}

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

function serve(file: PackedFile): Served {
  return {
    file,
    type: TYPES[file.name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    etag: `"${hash('sha256', file.br, 'base64url').slice(0, 22)}"`,
  }
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
  'The dashboard is not available under this host name. The operator can add it to http.allowed_hosts.\n'
const UNKNOWN_HEADERS = { ...ALWAYS, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
const ASSET = { ...ALWAYS, 'cache-control': 'public, max-age=31536000, immutable' }

/** An empty page, which ours fills with a mail: the mail's own styles, no script whatever happens, and no request to
 *  anywhere unless its images are wanted. */
const FRAME =
  '<!doctype html><html><head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Mail</title></head><body></body></html>'
const FRAME_HEADERS = { ...ALWAYS, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' }
const framePolicy = (images: string, sheets = '') =>
  `default-src 'none'; img-src ${images}; style-src 'unsafe-inline'${sheets}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-same-origin`
const PREVIEW = framePolicy('data:')
const PREVIEW_WITH_IMAGES = framePolicy('data: https:', ' data:') // for sheets that have no Referer (mail-html.ts)

/** In the way the client likes best; 304 when it has it already (RFC 9110 §12.5.3, §13.1.2). */
function answer(request: Request, served: Served | undefined, always: Record<string, string>): Response {
  if (served === undefined) return new Response('there is no such file\n', { status: 404, headers: ALWAYS })
  const { file, type, etag } = served
  const headers = { ...always, 'content-type': type, etag }
  const known = request.headers.get('if-none-match')?.split(',') ?? []
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === etag)) return new Response(null, { status: 304, headers })
  const accepted = request.headers.get('accept-encoding') ?? ''
  if (accepts(accepted, 'br')) return encoded(file.br, 'br', headers)
  if (accepts(accepted, 'gzip')) return encoded(file.gzip, 'gzip', headers)
  return new Response(new Uint8Array(gunzipSync(file.gzip)), { headers })
}

function encoded(bytes: Uint8Array, encoding: string, headers: Record<string, string>): Response {
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { ...headers, 'content-encoding': encoding } })
}

function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
