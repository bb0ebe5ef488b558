import { expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import { dashboardFiles } from '../../src/web/dashboard/files.ts'
import { referenceFiles } from '../../src/web/reference/files.ts'
import { referencePages } from '../../src/web/reference/pages.ts'

const routes = referencePages(referenceFiles, dashboardFiles)
const get = (path: string, headers: Record<string, string> = {}) => {
  const [page, assets] = routes
  const request = new Request(`http://localhost${path}`, { headers })
  return path === '/docs'
    ? page!.handle(request, {})
    : assets!.handle(request, { '*': path.replace('/docs/assets/', '') })
}

test('the page is public, has a strict policy, and runs no inline code', async () => {
  const response = await get('/docs')
  const html = await response.text()
  const policy = response.headers.get('content-security-policy')!.split('; ')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(policy).toContain("default-src 'none'")
  for (const kind of ['script', 'style', 'connect', 'font']) expect(policy).toContain(`${kind}-src 'self'`)
  expect(policy.join()).not.toMatch(/unsafe|https?:|\*/)
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=|https?:\/\//)
  expect(response.headers.get('x-frame-options')).toBe('DENY')
})

test('the page names only files that are served, and its style the fonts', async () => {
  const html = await (await get('/docs')).text()
  const names = [...html.matchAll(/"(\/docs\/assets\/[\w.-]+)"/g)].map(([, name]) => name!)
  const style = await (await get(names.find((name) => name.endsWith('.css'))!)).text()
  const fonts = [...style.matchAll(/url\("?(\/[\w./-]+)"?\)/g)].map(([, name]) => name!)
  expect([names.length >= 3, fonts.length]).toEqual([true, 2])
  for (const name of [...names, ...fonts]) {
    const { status, headers } = await get(name)
    expect([name, status, headers.get('cache-control')]).toEqual([name, 200, 'public, max-age=31536000, immutable'])
  }
})

test('the page and its files are compressed, and 304 to a browser that has them', async () => {
  const plain = await get('/docs')
  const response = await get('/docs', { 'accept-encoding': 'gzip, br' })
  expect(response.headers.get('content-encoding')).toBe('br')
  expect(brotliDecompressSync(await response.bytes()).toString()).toBe(await plain.text())
  expect((await get('/docs', { 'if-none-match': plain.headers.get('etag')! })).status).toBe(304)
})

test('any other file is not found', async () => {
  for (const name of ['index.html', 'none.js', '../index.html', 'main.woff2', ''])
    expect([name, (await get(`/docs/assets/${name}`)).status]).toEqual([name, 404])
})
