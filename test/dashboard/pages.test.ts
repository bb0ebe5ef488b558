import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { bundleDashboard } from '../../src/web/dashboard/bundle.ts'
import { type PackedFile, pack, unpack } from '../../src/web/dashboard/pack.ts'
import { dashboardPages } from '../../src/web/dashboard/pages.ts'
import { createTestApi, type TestApi } from '../support/api.ts'

/** The dashboard's HTTP responses. */

let files: PackedFile[]
let made: TestApi
beforeAll(async () => {
  files = await bundleDashboard({ isForRelease: true })
  made = await createTestApi({ pages: dashboardPages(async () => unpack(pack(files))) })
})
afterAll(() => made.close())

const ask = async (path: string, headers: Record<string, string> = {}) => {
  const response = await made.api.fetch(new Request(`http://localhost${path}`, { headers, redirect: 'manual' }))
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
}
const textOf = (file: PackedFile) => brotliDecompressSync(file.br).toString()
const named = (name: string) => files.find((file) => file.name === name)!

// threat: active-content-in-mail
test('every path below the dashboard returns the same page with a strict content security policy', async () => {
  expect((await ask('/')).headers.get('location')).toEndWith('/dashboard/')
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/messages/msg_1']) {
    const { status, headers, bytes } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    expect(Buffer.from(bytes).toString()).toContain('<div id="app">')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
})

test('files are cached for a year, compressed as negotiated, and answered 304 when unchanged', async () => {
  const script = files.find(({ name }) => name.endsWith('.js'))!
  const path = `/dashboard/assets/${script.name}`
  const br = await ask(path, { 'accept-encoding': 'gzip, deflate, br' })
  expect(br.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(br.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect([br.headers.get('content-encoding'), br.headers.get('vary')]).toEqual(['br', 'Accept-Encoding'])
  const gzip = await ask(path, { 'accept-encoding': 'gzip, br;q=0' })
  const plain = await ask(path)
  expect([gzip.headers.get('content-encoding'), plain.headers.get('content-encoding')]).toEqual(['gzip', null])
  expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true)
  expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true)
  const again = await ask(path, { 'if-none-match': br.headers.get('etag')! })
  expect([again.status, again.bytes.length]).toEqual([304, 0])
  expect((await ask('/dashboard/assets/none.js')).status).toBe(404)
})

// threat: active-content-in-mail
test('the preview frame runs no scripts and loads only remote images, on request', async () => {
  const policy = async (path: string) => (await ask(path)).headers.get('content-security-policy')!
  const closed = await policy('/dashboard/preview')
  expect(closed).toContain("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
  expect(closed).toContain("frame-ancestors 'self'; sandbox allow-same-origin")
  expect(closed).not.toContain('http')
  expect(await policy('/dashboard/preview-with-images')).toContain('img-src data: https:;')
})

describe('the initial load', () => {
  /** The page, its style sheet and the statically imported scripts. */
  const first = () => {
    const html = textOf(named('index.html'))
    const names = new Set(['index.html'])
    const add = (name: string) => {
      if (names.has(name)) return
      names.add(name)
      for (const [, next] of textOf(named(name)).matchAll(/(?:from|import)"(?:\/dashboard\/assets\/|\.\/)([\w.-]+)"/g))
        add(next!)
    }
    for (const [, name] of html.matchAll(/"\/dashboard\/assets\/([\w.-]+)"/g)) add(name!)
    return [...names].map(named)
  }
  const fonts = () => files.filter(({ name }) => name.endsWith('.woff2'))
  const sum = (all: PackedFile[]) => all.reduce((bytes, { br }) => bytes + gzipSync(brotliDecompressSync(br)).length, 0)

  test('is at most 100 kB compressed', () => {
    expect(first().length).toBeGreaterThan(3)
    expect(first().length).toBeLessThan(files.length)
    expect(sum(first())).toBeLessThan(100_000)
  })

  test('is at most 120 kB compressed with the font', () => {
    const [latin] = fonts()
    expect(latin!.name).toStartWith('inter-latin-')
    expect(sum([...first(), latin!])).toBeLessThan(120_000)
  })

  test('names every file of the font, which has less than 60 kB', () => {
    const style = textOf(files.find(({ name }) => name.endsWith('.css'))!)
    const named = [...style.matchAll(/url\("?\/dashboard\/assets\/([\w.-]+\.woff2)"?\)/g)].map(([, name]) => name)
    expect(named).toEqual(fonts().map(({ name }) => name))
    expect(sum(fonts())).toBeLessThan(60_000)
  })

  // One sheet for all pages: the editor, the records and the inbox need 1 kB more than the rest, and no second request.
  test('has one style sheet of at most 8 kB compressed', () => {
    const styles = files.filter(({ name }) => name.endsWith('.css'))
    expect(styles.length).toBe(1)
    expect(sum(styles)).toBeLessThan(8_000)
  })

  test('names no other host', () => {
    for (const file of files) {
      const hosts = [...textOf(file).matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host)
      // XML namespaces and examples, which are never requested.
      const others = hosts.filter((host) => !/^www\.w3\.org$|(^|\.)example(\.com)?$/.test(host!))
      expect([file.name, others]).toEqual([file.name, []])
    }
  })
})
