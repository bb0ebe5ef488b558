import { afterAll, beforeAll, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi
let key: string
beforeAll(async () => {
  made = await createTestApi()
  key = made.own.keys.admin.value
  for (let n = 0; n < 30; n++) await made.ask('POST', '/v1/templates', { key: made.own.keys.admin, body: named(n) })
})
afterAll(() => made.close())

const named = (n: number) => ({ name: `template ${n}`, text: 'Hello {{ name }}' })
const send = (path: string, encoding: string | null, init: RequestInit = {}) => {
  const headers: Record<string, string> = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  if (encoding !== null) headers['accept-encoding'] = encoding
  return made.api.fetch(new Request(`http://localhost${path}`, { ...init, headers }))
}
const LIST = '/v1/templates?limit=30'
const decoders: Record<string, (bytes: Uint8Array) => Uint8Array> = { br: brotliDecompressSync, gzip: gunzipSync }

test.each([
  ['br', 'gzip, deflate, br, zstd'],
  ['gzip', 'gzip'],
  ['gzip', 'br;q=0, GZIP;q=0.5'],
])('a list is sent with %s to a client that accepts "%s"', async (coding, accepted) => {
  const plain = await send(LIST, null)
  const response = await send(LIST, accepted)
  expect(response.headers.get('content-encoding')).toBe(coding)
  expect(response.headers.get('vary')).toBe('Authorization, Cookie, Accept-Encoding')
  expect(response.headers.get('content-type')).toBe(plain.headers.get('content-type')!)
  const bytes = await response.bytes()
  const text = await plain.text()
  expect(bytes.length).toBeLessThan(text.length / 2)
  expect(new TextDecoder().decode(decoders[coding]!(bytes))).toBe(text)
})

test.each([
  ['a client that accepts none', LIST, 'identity, br;q=0', {}],
  ['a response of less than a kilobyte', '/v1/templates?limit=1', 'br', {}],
  ['an error', '/v1/templates/tpl_none', 'br', {}],
  [
    'the response of another method',
    '/v1/templates',
    'br',
    { method: 'POST', body: JSON.stringify({ ...named(99), html: 'a'.repeat(2000) }) },
  ],
])('nothing is compressed for %s', async (_, path, accepted, init) => {
  const response = await send(path, accepted, init)
  expect(response.headers.get('content-encoding')).toBeNull()
  expect(await response.json()).toBeObject()
})
