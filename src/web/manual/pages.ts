import type { PackedFile } from '../dashboard/pack.ts'
import { openOnce, respond } from '../dashboard/static-files.ts'

/** Routes without authentication (web/api/route-table.ts). */
interface ManualRoute {
  method: 'GET'
  path: string
  handle: (request: Request, params: Record<string, string>) => Promise<Response>
}

/** `/manual/…`: the pages of the manual as HTML and Markdown, and their assets; `/docs`: the API reference, which reads
 *  `/openapi.json`; `/llms.txt`: the list of the pages. The same for everyone, without a key. The fonts come from the
 *  files of the dashboard. */
export function manualPages(
  files: () => Promise<PackedFile[]>,
  dashboardFiles: () => Promise<PackedFile[]>,
): ManualRoute[] {
  const open = openOnce(files)
  const openDashboard = openOnce(dashboardFiles)
  const page = async (request: Request, params: Record<string, string>) => {
    const all = await open()
    const name = params['*'] ?? ''
    const found = all.get(name === '' ? 'index.html' : `${name}.html`) ?? all.get(name)
    if (NOT_A_PAGE.test(name) || (found !== undefined && !OTHERS.includes(name))) return respond(request, found, PAGE)
    return respond(request, all.get('missing.html'), PAGE, 404)
  }
  const asset = async (request: Request, params: Record<string, string>) => {
    const name = params['*'] ?? ''
    const served = name.endsWith('.woff2') ? (await openDashboard()).get(name) : (await open()).get(`assets/${name}`)
    return respond(request, served, ASSET)
  }
  // The router treats `/manual/` as `/manual`. Links are relative, so the page needs the slash.
  const root = async (request: Request) =>
    new URL(request.url).pathname.endsWith('/') ? page(request, {}) : Response.redirect('/manual/', 302)
  const fixed = (name: string) => async (request: Request) => respond(request, (await open()).get(name), PAGE)
  return [
    { method: 'GET', path: '/llms.txt', handle: fixed('llms.txt') },
    { method: 'GET', path: '/docs', handle: fixed('docs.html') },
    { method: 'GET', path: '/manual', handle: root },
    { method: 'GET', path: '/manual/*', handle: page },
    { method: 'GET', path: '/manual/assets/*', handle: asset },
  ]
}

/** Files that are not pages of the manual. */
const OTHERS = ['docs', 'missing']

/** A program asks for these, and reads no HTML. */
const NOT_A_PAGE = /\.\w{1,5}$/

const ALWAYS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', vary: 'Accept-Encoding' }
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'", // a key of the reader goes to this server only
  "img-src 'self' data:", // the style has small pictures
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
/** All names below `assets/` except the icon's and the fonts' contain a content hash; these change with the executable. */
const ASSET = { ...ALWAYS, 'cache-control': 'public, max-age=86400' }
