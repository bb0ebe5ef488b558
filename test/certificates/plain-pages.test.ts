import { expect, test } from 'bun:test'
import { createPlainPages } from '../../src/domains/certificates/plain-pages.ts'
import { talk } from '../support/talk.ts'

const PUBLIC = 'https://api.example.com'
const pages = createPlainPages(() => PUBLIC)
const get = async (path: string, host = 'mail.example.com', method = 'GET') =>
  pages.fetch(new Request(`http://${host}${path}`, { method }))

test('answers an active token for any host name', async () => {
  const end = await pages.show('token-1', 'token-1.thumbprint')
  for (const host of ['mail.example.com', 'other.example.net']) {
    expect(await (await get('/.well-known/acme-challenge/token-1', host)).text()).toBe('token-1.thumbprint')
  }
  for (const path of ['token-2', '', '../token-1', 'token-1/', 'token%2D1']) {
    const answer = await get(`/.well-known/acme-challenge/${path}`)
    expect([path, await answer.text()]).not.toEqual([path, 'token-1.thumbprint'])
  }
  end()
  expect((await get('/.well-known/acme-challenge/token-1')).status).toBe(404)
})

// threat: redirect-to-another-site
test.each([
  ['/', '/'],
  ['/v1/messages?tag=a%20b', '/v1/messages?tag=a%20b'],
  ['//evil.example/x', '//evil.example/x'],
  ['/\\evil.example', '//evil.example'],
  ['/%0d%0aSet-Cookie:a=b', '/%0d%0aSet-Cookie:a=b'],
  ['/@evil.example', '/@evil.example'],
])('redirects %s to our own https address', async (path, to) => {
  const answer = await get(path, 'evil.example')
  expect([answer.status, answer.headers.get('location')]).toEqual([308, PUBLIC + to])
  expect(new URL(answer.headers.get('location')!).host).toBe('api.example.com')
})

test('redirects a POST with its method', async () => {
  expect((await get('/v1/messages/send', 'mail.example.com', 'POST')).status).toBe(308)
})

test('answers nothing without HTTPS', async () => {
  const answer = await createPlainPages(() => 'http://127.0.0.1:8025').fetch(new Request('http://a.example/v1'))
  expect([answer.status, answer.headers.get('location')]).toEqual([404, null])
})

test('answers HTTP/1.0 without a host and invalid hosts', async () => {
  const { fetch } = pages
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch })
  const answer = await talk(server.port!, ['GET /x HTTP/1.0\r\n\r\n'])
  const odd = await talk(server.port!, ['GET /x HTTP/1.1\r\nConnection: close\r\nHost: a b:99999\r\n\r\n'])
  await server.stop(true)
  for (const each of [answer, odd]) {
    expect(each).toMatch(/^HTTP\/1\.1 308 .*\r\nlocation: https:\/\/api\.example\.com\/x\r\n/is)
  }
})
