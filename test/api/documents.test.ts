import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi

beforeAll(async () => {
  made = await createTestApi()
})
afterAll(() => made.close())

const get = (path: string, headers: Record<string, string> = {}) => made.ask('GET', path, { key: null, headers })

describe('/openapi.json', () => {
  test('is public, and the same each time', async () => {
    const first = await get('/openapi.json')
    expect(first.status).toBe(200)
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(first.headers.get('access-control-allow-origin')).toBe('*')
    expect(Object.keys(first.body.paths).length).toBeGreaterThan(20)
    const other = await createTestApi()
    expect((await other.ask('GET', '/openapi.json', { key: null })).text).toBe(first.text)
    await other.close()
  })

  test('is 304 to a client that has it', async () => {
    const etag = (await get('/openapi.json')).headers.get('etag')!
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get('/openapi.json', { 'if-none-match': known })
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
    }
    expect((await get('/openapi.json', { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('is compressed in the best way that the client accepts', async () => {
    const { text } = await get('/openapi.json')
    const request = (accepted: string) =>
      made.api.fetch(new Request('http://localhost/openapi.json', { headers: { 'accept-encoding': accepted } }))
    const decoded = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const [accepted, coding] of [
      ['gzip, br', 'br'],
      ['gzip', 'gzip'],
    ] as const) {
      for (let time = 0; time < 2; time++) {
        const response = await request(accepted)
        expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([
          coding,
          'Accept-Encoding',
        ])
        const bytes = await response.bytes()
        expect(bytes.length).toBeLessThan(66_000)
        expect(decoded[coding](bytes).toString()).toBe(text)
      }
    }
    expect((await request('identity')).headers.get('content-encoding')).toBeNull()
  })

  test('names no machine and does not depend on where it runs', async () => {
    const { text } = await get('/openapi.json')
    expect(text).not.toContain('127.0.0.1')
    expect(text).not.toContain('postrider.test')
  })
})
