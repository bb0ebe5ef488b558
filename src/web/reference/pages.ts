import type { PackedFile } from '../dashboard/pack.ts'
import { openOnce, respond } from '../dashboard/static-files.ts'

/** Routes without authentication (web/api/route-table.ts). */
interface ReferenceRoute {
  method: 'GET'
  path: string
  handle: (request: Request, params: Record<string, string>) => Promise<Response>
}

/** `/docs`: the API reference, one page for all operations, and its assets. The same for everyone, without a key; it
 *  reads `/openapi.json`. The fonts come from the files of the dashboard. */
export function referencePages(
  files: () => Promise<PackedFile[]>,
  dashboardFiles: () => Promise<PackedFile[]>,
): ReferenceRoute[] {
  const open = openOnce(files)
  const openDashboard = openOnce(dashboardFiles)
  const page = async (request: Request) => respond(request, (await open()).get('index.html'), PAGE)
  const asset = async (request: Request, params: Record<string, string>) => {
    const name = params['*'] ?? ''
    const all = name.endsWith('.woff2') ? await openDashboard() : await open()
    return respond(request, name === 'index.html' ? undefined : all.get(name), ASSET)
  }
  return [
    { method: 'GET', path: '/docs', handle: page },
    { method: 'GET', path: '/docs/assets/*', handle: asset },
  ]
}

const ALWAYS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', vary: 'Accept-Encoding' }
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'", // a key of the reader goes to this server only
  "img-src 'self' data:", // the icon can be inlined
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
const ASSET = { ...ALWAYS, 'cache-control': 'public, max-age=31536000, immutable' }
