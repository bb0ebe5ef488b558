/** An HTTPS endpoint that answers our posts with anything: each ends with it, with a status or an error text. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import fc from 'fast-check'
import { createPost, type Post } from '../../src/net/https/requests.ts'
import { systemClock } from '../../src/os/clock.ts'
import { CERTIFICATE } from '../smtp-server/setup.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'
import { silentResolver } from '../support/silent-resolver.ts'
import { runs } from './runs.ts'

let server: tls.Server
let post: Post
let url: string
let answer = ''

beforeAll(async () => {
  server = tls.createServer({ key: CERTIFICATE.keyPem, cert: CERTIFICATE.certificatePem }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.from(answer, 'latin1')))
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  post = createPost({
    resolver: silentResolver,
    mayConnect: () => true,
    ca: CERTIFICATE.certificatePem,
    clock: systemClock,
    userAgent: 'fuzz',
  })
})
afterAll(() => void server.close())

const status = fc.constantFrom(
  ...Array<string>(8).fill('HTTP/1.1 200 OK'),

  'HTTP/1.1 200 OK',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 429 x',
  'HTTP/1.1 301 x',
  'HTTP/1.0 500',
  'HTTP/1.1 999 x',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK',
  'HTTP/1.1 101 x',
  'HTTP/1.1 099 x',
  'HTTP/1.1 20',
  'HTTP/2 200',
  'HTTP/1.1 -1 x',
  'SMTP',
  '',
  '\0',
  'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 500 x',
)
const header = fc.constantFrom(
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Content-Length: 1, 2',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Content-Encoding: gzip',
  'Retry-After: 60',
  'Retry-After: -1',
  'Retry-After: 999999999999',
  'Retry-After: Sat, 21 Nov 2026 12:00:00 GMT',
  'Retry-After: Sat, 99 Nov 9999 99:00:00 GMT',
  'Location: https://127.0.0.1/',
  'Connection: keep-alive',
  'Connection: upgrade',
  'x',
  ': x',
  'X: \xff',
  'X:\0',
  ' folded',
  `X: ${'y'.repeat(20_000)}`,
  'Trailer: x',
  'Set-Cookie: a',
)
const body = fc.constantFrom(
  '',
  'hello',
  '5\r\nhello\r\n0\r\n\r\n',
  'ffffffffffffffff\r\n',
  'x\r\n',
  '-1\r\n',
  '0\r\nA: b\r\n\r\n',
  'z'.repeat(100_000),
  '\xff\xfe\0\u0085',
  '\x1f\x8b\x08',
  'HTTP/1.1 200 OK\r\n\r\n',
  '\r\n'.repeat(50),
)
const answers = fc
  .tuple(
    status,
    fc.array(header, { maxLength: 2 }),
    fc.constantFrom('\r\n\r\n', '\r\n\r\n', '\r\n\r\n', '\n\n', '\r\n', ''),
    body,
  )
  .map(([first, headers, end, rest]) => [first, ...headers].join('\r\n') + end + rest)

test('every post ends with its answer', async () => {
  const run = fc.asyncProperty(answers, async (given) => {
    answer = given
    const result = await post(url, {
      headers: { 'content-type': 'application/json' },
      body: '{}',
      timeoutMs: 2 * TEST_LIMIT_MS,
    })
    if (result.kind === 'answered') {
      expect(result.status).toBeWithin(0, 1_000)
      expect(result.excerpt).toMatch(/^[^\x00-\x1f\x7f-\x9f]{0,4096}$/)
      expect(result.retryAfterSeconds ?? 0).toBeGreaterThanOrEqual(0)
    } else {
      expect(result.kind).toBe('no_answer')
      expect(result.kind === 'no_answer' && result.error).toMatch(/^[A-Za-z ]+$/)
    }
  })
  await fc.assert(run, runs<[string]>({ target: 'posts', property: 'answers' }, 150, 81))
})
