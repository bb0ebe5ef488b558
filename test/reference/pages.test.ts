import { expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import { packedManual } from '../../src/cli/manual/packed.ts'
import { dashboardFiles } from '../../src/web/dashboard/files.ts'
import { manualFiles } from '../../src/web/manual/files.ts'
import { manualPages } from '../../src/web/manual/pages.ts'

/** The pages of manual and API reference, and the files that they load. */

const routes = manualPages(async () => manualFiles(await packedManual()), dashboardFiles)
const get = (path: string, headers: Record<string, string> = {}) => {
  const route = routes.findLast((each) => path === each.path || path.startsWith(each.path.replace(/\*$/, '')))!
  const request = new Request(`http://localhost${path}`, { headers })
  return route.handle(request, { '*': path.slice(route.path.length - 1) })
}

const SHELLS = ['/docs', '/manual/', '/manual/tls', '/manual/no-such-page']

test.each(SHELLS)('%s is public, has a strict policy, and runs no inline code', async (path) => {
  const response = await get(path)
  const html = await response.text()
  const policy = response.headers.get('content-security-policy')!.split('; ')
  const status = path.includes('no-such') ? 404 : 200
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
  expect(policy).toContain("default-src 'none'")
  for (const kind of ['script', 'style', 'connect', 'font']) expect(policy).toContain(`${kind}-src 'self'`)
  expect(policy.join()).not.toMatch(/unsafe|https?:|\*/)
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/)
  expect(response.headers.get('x-frame-options')).toBe('DENY')
})

test('all pages name the same files, which are served, and their style the fonts', async () => {
  const pages = await Promise.all(SHELLS.map(async (path) => (await get(path)).text()))
  const named = new Set(
    pages.flatMap((html) => [...html.matchAll(/"(\/manual\/assets\/[\w.-]+)"/g)].map(([, name]) => name!)),
  )
  const style = await (await get([...named].find((name) => name.endsWith('.css'))!)).text()
  const fonts = [...style.matchAll(/url\("?(\/[\w./-]+)"?\)/g)].map(([, name]) => name!)
  // Style, two scripts, search index, icon, and the first of the fonts.
  expect([named.size, fonts.length]).toEqual([6, 2])
  for (const name of [...named, ...fonts]) {
    const { status, headers } = await get(name)
    expect([name, status, headers.get('cache-control')]).toEqual([name, 200, 'public, max-age=86400'])
  }
})

test('the page and its files are compressed, and 304 to a browser that has them', async () => {
  const plain = await get('/docs')
  const response = await get('/docs', { 'accept-encoding': 'gzip, br' })
  expect(response.headers.get('content-encoding')).toBe('br')
  expect(brotliDecompressSync(await response.bytes()).toString()).toBe(await plain.text())
  expect((await get('/docs', { 'if-none-match': plain.headers.get('etag')! })).status).toBe(304)
})

test('a wrong address is an HTML page, also for a browser that has it, and a wrong file is not', async () => {
  const page = await get('/manual/no-such-page')
  expect(await page.text()).toContain('<h1>Page not found</h1>')
  const again = await get('/manual/no-such-page', { 'if-none-match': page.headers.get('etag')! })
  expect(again.status).toBe(404)
  for (const name of ['docs', 'missing', 'tls/x', '<b>']) {
    const { status, headers } = await get(`/manual/${name}`)
    expect([name, status, headers.get('content-type')]).toEqual([name, 404, 'text/html; charset=utf-8'])
  }
  for (const name of ['none.md', 'assets/none.js', 'assets/../tls.html', 'assets/main.woff2', 'assets/']) {
    const { status, headers } = await get(`/manual/${name}`)
    expect([name, status, headers.get('content-type')]).toEqual([name, 404, null])
  }
})
