import type { PackedFile } from '../dashboard/pack.ts'
import { openOnce, respond } from '../dashboard/static-files.ts'

/** Routes without authentication (web/api/route-table.ts). */
interface ManualRoute {
  method: 'GET'
  path: string
  handle: (request: Request, params: Record<string, string>) => Promise<Response>
}

/** `/manual/…`: the pages of the manual as HTML and Markdown, and their assets; `/llms.txt`: the list of the pages. The
 *  same for everyone, without a key. */
export function manualPages(files: () => Promise<PackedFile[]>): ManualRoute[] {
  const open = openOnce(files)
  const page = async (request: Request, params: Record<string, string>) => {
    const all = await open()
    const name = params['*'] ?? ''
    if (name.startsWith('assets/')) return respond(request, all.get(name), ASSET)
    return respond(request, all.get(name === '' ? 'index.html' : `${name}.html`) ?? all.get(name), PAGE)
  }
  // The router treats `/manual/` as `/manual`. Links are relative, so the page needs the slash.
  const root = async (request: Request) =>
    new URL(request.url).pathname.endsWith('/') ? page(request, {}) : Response.redirect('/manual/', 302)
  const list = async (request: Request) => respond(request, (await open()).get('llms.txt'), PAGE)
  return [
    { method: 'GET', path: '/llms.txt', handle: list },
    { method: 'GET', path: '/manual', handle: root },
    { method: 'GET', path: '/manual/*', handle: page },
  ]
}

const ALWAYS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', vary: 'Accept-Encoding' }
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
const PAGE = {
  ...ALWAYS,
  'cache-control': 'no-cache',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': POLICY,
}
/** All names below `assets/` except the icon's contain a content hash; the icon changes with the executable. */
const ASSET = { ...ALWAYS, 'cache-control': 'public, max-age=86400' }
