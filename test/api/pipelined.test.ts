import { afterAll, expect, test } from 'bun:test'
import net from 'node:net'
import tls from 'node:tls'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { systemClock } from '../../src/os/clock.ts'
import { createListener } from '../../src/web/api/listener.ts'

/** What Bun 1.4.5 does with bytes that arrive before a response. */

const done: string[] = []
const options = {
  fetch: async (request: Request) => {
    const { pathname } = new URL(request.url)
    const body = await request.text()
    done.push(`${request.method} ${pathname} ${body.length}`)
    await Bun.sleep(20)
    return new Response(`done ${pathname}`)
  },
  maxBodyBytes: 1_000_000,
  idleSeconds: 60,
  watch: () => () => {},
  onShut: () => {},
}
const plain = createListener(options)
const secure = createListener(options)
const certificate = await selfSignedCertificate({ names: ['127.0.0.1'], now: systemClock.now() })
const ports = {
  HTTP: plain.open({ host: '127.0.0.1', port: 0 }).port,
  HTTPS: secure.open({ host: '127.0.0.1', port: 0 }, certificate).port,
}
afterAll(() => Promise.all([plain.cut(), secure.cut()]))

/** Writes all bytes at once → everything received up to the end of the connection, or up to the last of so many answers. */
function spoken(scheme: keyof typeof ports, bytes: string, answers = Number.POSITIVE_INFINITY): Promise<string> {
  done.length = 0
  const { promise, resolve } = Promise.withResolvers<string>()
  const to = { host: '127.0.0.1', port: ports[scheme] }
  const socket = scheme === 'HTTP' ? net.connect(to) : tls.connect({ ...to, rejectUnauthorized: false })
  let received = ''
  socket.on('error', () => {})
  socket.on('data', (piece) => {
    received += piece
    if (received.split('done /').length > answers) socket.destroy()
  })
  socket.on('close', () => resolve(received))
  socket.once(scheme === 'HTTP' ? 'connect' : 'secureConnect', () => socket.write(bytes))
  return promise
}

const request = (method: string, path: string, body = 'hello', more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`
const chunked = (trailers: string) =>
  `POST /t HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n${trailers}\r\n`
const POST = request('POST', '/1')

const PIPELINED = [
  ['two more', POST + request('POST', '/2') + request('POST', '/3')],
  ['a GET', `${POST}GET /2 HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a DELETE', request('PATCH', '/1') + request('DELETE', '/2', '')],
  ['a large one', POST + request('PUT', '/2', 'x'.repeat(100_000))],
] as const

test.each(PIPELINED)('of a request with %s behind it nothing is done over HTTP', async (_, bytes) => {
  expect(await spoken('HTTP', bytes)).toBe('')
  expect(done).toEqual([])
})

// Bun waits for the client to close TLS, and reports nothing until then.
test.each(PIPELINED)('of requests with %s behind the first, that one alone is done over HTTPS', async (_, bytes) => {
  expect(await spoken('HTTPS', bytes)).toBe('')
  expect(done).toHaveLength(1)
})

for (const scheme of ['HTTP', 'HTTPS'] as const) {
  test.each([
    ['a line end', `${POST}\r\n`],
    ['a bare LF', `${POST}\n`],
    ['something else', `${POST}nonsense\r\n\r\n`],
    ['trailers', chunked('X: y\r\n')],
  ])(`a request with %s behind it gets 400 over ${scheme}, and nothing is done`, async (_, bytes) => {
    expect(await spoken(scheme, bytes)).toStartWith('HTTP/1.1 400 ')
    expect(done).toEqual([])
  })

  test.each([
    ['half of another behind it', `${POST}POST /2`],
    ['chunks', chunked('')],
    ['two equal lengths', request('POST', '/1', 'hello', 'Content-Length: 5\r\n')],
    ['a large body', request('POST', '/1', 'x'.repeat(900_000))],
    ['no body', request('DELETE', '/1', '')],
  ])(`a request with %s is answered over ${scheme}`, async (_, bytes) => {
    expect(await spoken(scheme, bytes, 1)).toContain('200 OK')
    expect(done).toHaveLength(1)
  })

  test(`a request behind Connection: close is not done over ${scheme}, and the one before is answered`, async () => {
    const bytes = request('POST', '/1', 'hello', 'Connection: close\r\n') + request('POST', '/2')
    expect(await spoken(scheme, bytes)).toContain('done /1')
    expect(done).toEqual(['POST /1 5'])
  })
}
