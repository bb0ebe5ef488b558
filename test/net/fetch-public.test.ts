import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { createPost, type Post, type PostOptions, type PostResult } from '../../src/net/https/requests.ts'
import { createAddressGuard } from '../../src/net/ip.ts'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { TEST_LIMIT_MS, until } from '../support/patience.ts'

let certificate: Certificate
let zone: Zone
let resolver: Resolver
let server: Bun.Server<unknown>
let seen: { url: string; headers: Headers; body: string; peerPort: number }[]
let respond: (request: Request) => Response | Promise<Response>
let post: Post
const opened: (() => void)[] = []

beforeAll(async () => {
  certificate = await selfSignedCertificate({
    names: ['hook.test', 'two.test', '*.many.test', '127.0.0.1'],
    now: Date.now(),
  })
  zone = await startZone(
    ['hook.test', 'two.test', 'wrong.test'].map((name) => ({ name, type: 'A', data: '127.0.0.1' })),
  )
  resolver = createResolver({
    servers: [zone.address],
    clock: systemClock,
    random: systemRandom,
    maxCacheEntries: 0,
    timeoutMs: TEST_LIMIT_MS,
  })
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key: certificate.keyPem, cert: certificate.certificatePem },
    fetch: async (request) => {
      const peerPort = server.requestIP(request)?.port ?? 0
      seen.push({ url: request.url, headers: request.headers, body: await request.text(), peerPort })
      return respond(request)
    },
  })
  post = postWith({})
})
afterEach(() => {
  respond = () => new Response('ok')
  seen = []
  for (const close of opened.splice(0)) close()
  zone.set('two.test', 'A', ['127.0.0.1'])
  zone.remove('two.test', 'AAAA')
})
seen = []
respond = () => new Response('ok')
afterAll(async () => {
  await server.stop(true)
  await zone.stop()
})

function postWith(more: Partial<PostOptions>): Post {
  const mayConnect = createAddressGuard(['127.0.0.0/8'])
  const ca = certificate.certificatePem
  return createPost({ resolver, mayConnect, ca, clock: systemClock, userAgent: 'Postrider/test', ...more })
}
const urlOf = (host: string, path = '/in?x=1') => `https://${host}:${server.port}${path}`
/** A connection with TLS takes longer on a busy machine. */
const ENOUGH_FOR_HEAD_MS = 3_000
const request = (timeoutMs = TEST_LIMIT_MS) => ({ headers: { 'X-Own': 'yes' }, body: '{"a":1}', timeoutMs })

describe('an answer', () => {
  test('has status, text and time, and the request arrives as given', async () => {
    const result = await post(urlOf('hook.test'), request())
    expect(result).toMatchObject({ kind: 'answered', status: 200, retryAfterSeconds: null, excerpt: 'ok' })
    expect(result.durationMs).toBeGreaterThanOrEqual(0)
    const { url, headers, body } = seen[0]!
    expect(url).toBe(urlOf('hook.test'))
    expect(body).toBe('{"a":1}')
    expect(headers.get('x-own')).toBe('yes')
    expect(headers.get('user-agent')).toBe('Postrider/test')
    expect(headers.get('accept-encoding')).toBe('identity')
    expect(headers.get('content-length')).toBe('7')
  })

  test('comes for a request that was sent byte for byte', async () => {
    const body = new TextEncoder().encode('{"ü":"€"}')
    await post(urlOf('hook.test'), { ...request(), body })
    expect(seen[0]!.body).toBe('{"ü":"€"}')
  })

  // threat: webhook-private-addresses
  // threat: failing-webhook-endpoints
  test('is returned and not followed when it is a redirect', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      respond = () => new Response(null, { status, headers: { location: urlOf('hook.test', '/elsewhere?token=1') } })
      const location = `${urlOf('hook.test', '/elsewhere')}?…`
      expect(await post(urlOf('hook.test'), request())).toMatchObject({ kind: 'answered', status, location })
    }
    expect(seen.map(({ url }) => new URL(url).pathname)).toEqual(Array(5).fill('/in'))
  })

  test.each([204, 400, 410, 500])('with status %p is returned', async (status) => {
    respond = () => new Response(null, { status })
    expect(await post(urlOf('hook.test'), request())).toMatchObject({ kind: 'answered', status, excerpt: '' })
  })

  test('Retry-After is read as seconds and as a date', async () => {
    respond = () => new Response('later', { status: 429, headers: { 'retry-after': '120' } })
    expect(await post(urlOf('hook.test'), request())).toMatchObject({ status: 429, retryAfterSeconds: 120 })
    const clock = { ...systemClock, now: () => Date.UTC(2026, 0, 1) }
    const at = 'Thu, 01 Jan 2026 00:01:30 GMT'
    respond = () => new Response('later', { status: 503, headers: { 'retry-after': at } })
    expect(await postWith({ clock })(urlOf('hook.test'), request())).toMatchObject({
      status: 503,
      retryAfterSeconds: 90,
    })
  })

  // threat: failing-webhook-endpoints
  test('without end is read up to 4 KiB', async () => {
    let isLeft = false
    const body = () =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(10_000).fill(97)),
        cancel: () => {
          isLeft = true
        },
      })
    respond = () => new Response(body())
    expect(await post(urlOf('hook.test'), request())).toMatchObject({ kind: 'answered', excerpt: 'a'.repeat(4096) })
    await until('the connection to be left', () => isLeft)
  })

  // threat: failing-webhook-endpoints
  test.each([
    ['drips past the deadline', 'Content-Length: 100\r\n\r\nhalf', 'half', ''],
    ['never begins', 'Transfer-Encoding: chunked\r\n\r\n', '', ''],
    ['has no last chunk', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', 'half', ''],
    ['ends with a connection that stays open', 'Connection: close\r\n\r\nhalf', 'half', ''],
    ['comes behind interim answers', 'Content-Length: 9\r\n\r\nhalf', 'half', 'HTTP/1.1 103 x\r\n\r\n'],
  ])('whose body %s counts by its head', async (_, rest, excerpt, interim) => {
    const answered = async (status: number) => {
      const { port } = await listenTls((socket) =>
        socket.once('data', () => socket.write(`${interim}HTTP/1.1 ${status} x\r\nRetry-After: 7\r\n${rest}`)),
      )
      const result = await post(`https://hook.test:${port}/`, request(ENOUGH_FOR_HEAD_MS))
      expect(result).toMatchObject({ kind: 'answered', status, excerpt, retryAfterSeconds: 7 })
    }
    await Promise.all([200, 202, 503].map(answered))
  })

  test.each([
    ['breaks off', 'Content-Length: 100\r\n\r\nhalf', 'half'],
    ['breaks off in a chunk', 'Transfer-Encoding: chunked\r\n\r\n9\r\nhalf', 'half'],
    ['has malformed chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nx\r\n', 'half'],
    ['has endless chunk extensions', `Transfer-Encoding: chunked\r\n\r\n4;${'e'.repeat(500)}`, ''],
    ['has endless trailers', `Transfer-Encoding: chunked\r\n\r\n0\r\n${'X: y\r\n'.repeat(2_000)}`, ''],
  ])('whose body %s counts by its head', async (_, rest, excerpt) => {
    const { port } = await listenTls((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(`HTTP/1.1 201 x\r\n${rest}`))
    })
    expect(await post(`https://hook.test:${port}/`, request())).toMatchObject({ status: 201, excerpt })
  })

  test.each([
    ['one header of 60 KB', `X: ${'a'.repeat(60_000)}\r\n`, '', ''],
    ['sixty cookies', `Set-Cookie: a=${'b'.repeat(1_000)}\r\n`.repeat(60), '', ''],
    ['nine hundred small headers', 'X-Small: y\r\n'.repeat(900), '', ''],
    ['a long policy in folded lines', `Content-Security-Policy: a\r\n${` ${'b'.repeat(500)}\r\n`.repeat(100)}`, '', ''],
    ['many trailers', '', 'X-Late: y\r\n'.repeat(900), ''],
    ['a large head behind interim answers', `X: ${'a'.repeat(60_000)}\r\n`, '', 'HTTP/1.1 103 x\r\nLink: </a>\r\n\r\n'],
  ])('may have %s', async (_, headers, trailers, interim) => {
    const { port } = await listenTls((socket) =>
      socket.once('data', () =>
        socket.write(
          `${interim}HTTP/1.1 200 OK\r\n${headers}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${trailers}\r\n`,
        ),
      ),
    )
    expect(await post(`https://hook.test:${port}/`, request())).toMatchObject({ status: 200, excerpt: 'ok' })
  })

  // threat: failing-webhook-endpoints
  test('with a gzip body is neither unpacked nor shown', async () => {
    const packed = Bun.gzipSync(new Uint8Array(1_000_000))
    respond = () => new Response(packed.subarray(0, 1000), { headers: { 'content-encoding': 'gzip' } })
    expect(await post(urlOf('hook.test'), request())).toMatchObject({ kind: 'answered', status: 200, excerpt: '' })
  })

  test('several POSTs to one name share a connection, those to other names do not', async () => {
    for (const host of ['hook.test', 'hook.test', 'hook.test', 'two.test']) await post(urlOf(host), request())
    const [first, second, third, other] = seen.map(({ peerPort }) => peerPort)
    expect([second, third]).toEqual([first, first])
    expect(other).not.toBe(first)
  })

  test('connections to a hundred names at one address are kept, and each carries only the posts to its name', async () => {
    const hosts = Array.from({ length: 100 }, (_, number) => `n${number}.many.test`)
    for (const host of hosts) zone.set(host, 'A', ['127.0.0.1'])
    for (let round = 0; round < 2; round++) for (const host of hosts) await post(urlOf(host), request())
    const ports = seen.map(({ peerPort }) => peerPort)
    expect(new Set(ports).size).toBe(100)
    expect(ports.slice(100)).toEqual(ports.slice(0, 100))
  })

  test('more than 256 slow endpoints do not delay another', async () => {
    const slow: (() => void)[] = []
    respond = ({ url }) =>
      url.endsWith('/slow') ? new Promise((resolve) => slow.push(() => resolve(new Response()))) : new Response('ok')
    const waiting = Array.from({ length: 300 }, () => post(urlOf('127.0.0.1', '/slow'), request()))
    await until('300 requests', () => slow.length === 300)
    expect(await post(urlOf('127.0.0.1', '/fast'), request())).toMatchObject({ status: 200 })
    for (const answer of slow) answer()
    expect((await Promise.all(waiting)).every(({ kind }) => kind === 'answered')).toBe(true)
  })

  test('ignores a proxy named in the environment', async () => {
    let proxied = 0
    const proxy = await listen((socket) => {
      proxied++
      socket.destroy()
    })
    const before = { ...process.env }
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY']) {
      process.env[name] = `http://127.0.0.1:${proxy.port}`
    }
    try {
      expect(await postWith({})(urlOf('hook.test'), request())).toMatchObject({ kind: 'answered' })
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
      Object.assign(process.env, before)
    }
    expect(proxied).toBe(0)
  })
})

describe('blocked', () => {
  test('a name that resolves to a private address gets no connection', async () => {
    let connections = 0
    const canary = await listen(() => connections++)
    const strict = postWith({ mayConnect: createAddressGuard([]) })
    const six = net.createServer(() => connections++).listen(canary.port, '::1')
    six.on('error', () => {})
    zone.set('six.test', 'AAAA', ['::1', '::ffff:127.0.0.1'])
    for (const host of [
      'hook.test',
      'six.test',
      'localhost',
      'a.localhost.',
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0',
    ]) {
      expect(await strict(`https://${host}:${canary.port}/`, request())).toMatchObject({ kind: 'blocked' })
    }
    expect(connections).toBe(0)
    six.close()
  })

  // threat: webhook-private-addresses
  test('a name that becomes private between two POSTs is blocked at the second', async () => {
    const asked: string[] = []
    const only = (ip: string) => {
      asked.push(ip)
      return ip === '127.0.0.1'
    }
    const guarded = postWith({ mayConnect: only })
    zone.set('hook.test', 'A', ['127.0.0.1'], 0)
    expect(await guarded(urlOf('hook.test'), request())).toMatchObject({ kind: 'answered' })
    zone.set('hook.test', 'A', ['127.0.0.2'], 0)
    expect(await guarded(urlOf('hook.test'), request())).toMatchObject({
      kind: 'blocked',
      reason: 'hook.test resolves to 127.0.0.2, which is not a public address',
    })
    zone.set('hook.test', 'A', ['127.0.0.1'])
    expect(asked).toEqual(['127.0.0.1', '127.0.0.2'])
    expect(seen).toHaveLength(1)
  })

  test('of mixed addresses only the permitted ones are tried', async () => {
    zone.set('mixed.test', 'A', ['10.0.0.1', '127.0.0.1', '169.254.169.254'])
    expect(await post(urlOf('mixed.test'), request())).toEqual({
      kind: 'no_answer',
      error: 'certificate is for another name',
      durationMs: expect.any(Number) as unknown as number,
    })
  })

  test.each(['http://hook.test/', 'https://user:pass@hook.test/', 'nonsense', 'https://hook.test:25/'])(
    '%s',
    async (url) => {
      expect(await post(url, request())).toMatchObject({ kind: 'blocked' })
    },
  )
})

describe('no answer', () => {
  const noAnswer = (error: string): PostResult => ({
    kind: 'no_answer',
    error,
    durationMs: expect.any(Number) as unknown as number,
  })

  test('when the certificate is for another name', async () => {
    expect(await post(urlOf('wrong.test'), request())).toEqual(noAnswer('certificate is for another name'))
    expect(seen).toEqual([])
  })

  test('when an address in the URL is not in the certificate, though Host would fit', async () => {
    expect(await post(urlOf('127.0.0.2'), { ...request(), headers: { Host: 'hook.test' } })).toMatchObject({
      kind: 'no_answer',
    })
    const named = await selfSignedCertificate({ names: ['hook.test'], now: Date.now() })
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: { key: named.keyPem, cert: named.certificatePem },
      fetch: () => new Response(),
    })
    const result = await postWith({ ca: named.certificatePem })(`https://127.0.0.1:${other.port}/`, {
      ...request(),
      headers: { host: 'hook.test' },
    })
    expect(result).toEqual(noAnswer('certificate is for another name'))
    await other.stop(true)
  })

  test('when an IPv6 address in the URL is not in the certificate', async () => {
    const six = await listenTls(() => {}, '::1')
    const toSix = postWith({ mayConnect: createAddressGuard(['::1/128']) })
    expect(await toSix(`https://[::1]:${six.port}/`, request())).toEqual(noAnswer('certificate is for another name'))
  })

  // threat: failing-webhook-endpoints
  test('when no trusted authority signed the certificate, whatever the environment says', async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      const result = await postWith({ ca: undefined })(urlOf('hook.test'), request())
      expect(result).toEqual(noAnswer('certificate is not trusted'))
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
    expect(seen).toEqual([])
  })

  test('when the name is unknown or DNS fails', async () => {
    zone.fail('trouble.test', 'SERVFAIL')
    expect(await post(urlOf('nowhere.test'), request())).toEqual(noAnswer('host not found'))
    expect(await post(urlOf('trouble.test'), request())).toEqual(noAnswer('DNS lookup failed'))
  })

  test('when DNS is silent for longer than the request may take', async () => {
    zone.fail('silent.test', 'timeout')
    expect(await post(urlOf('silent.test'), request(50))).toEqual(noAnswer('timeout'))
  })

  test('when no server listens', async () => {
    const gone = await listen(() => {})
    gone.close()
    expect(await post(`https://hook.test:${gone.port}/?secret=1`, request())).toEqual(noAnswer('connection refused'))
  })

  // threat: failing-webhook-endpoints
  test('when the peer speaks no TLS, or hangs up', async () => {
    const plain = await listen((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
    expect(await post(`https://hook.test:${plain.port}/`, request())).toMatchObject({ kind: 'no_answer' })
    const closing = await listenTls((socket) => socket.once('data', () => socket.destroy()))
    expect(await post(`https://hook.test:${closing.port}/`, request())).toEqual(noAnswer('connection closed'))
  })

  test('when the head of the answer never ends', async () => {
    const endless = await listenTls((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = () => {
        if (!socket.destroyed) socket.write(`X-More: ${'a'.repeat(4000)}\r\n`, () => setImmediate(more))
      }
      more()
    })
    expect(await post(`https://hook.test:${endless.port}/`, request())).toEqual(
      noAnswer('response headers are too large'),
    )
  })

  test('when the peer never sends a greeting or never answers', async () => {
    const mute = await listen(() => {})
    expect(await post(`https://hook.test:${mute.port}/`, request(100))).toEqual(noAnswer('timeout'))
    respond = () => new Promise(() => {})
    expect(await post(urlOf('hook.test'), request(100))).toEqual(noAnswer('timeout'))
  })
})

describe('several addresses', () => {
  test('the next one is tried where no connection can be made, A before AAAA', async () => {
    zone.set('two.test', 'A', ['127.0.0.9', '127.0.0.1'])
    expect(await post(urlOf('two.test'), request())).toMatchObject({ kind: 'answered' })
    zone.set('two.test', 'A', ['127.0.0.9'])
    zone.set('two.test', 'AAAA', ['::ffff:127.0.0.1'])
    expect(await post(urlOf('two.test'), request())).toMatchObject({ kind: 'answered' })
    // A request of an earlier test that ran into its time limit may arrive late.
    expect(seen.filter(({ url }) => url.includes('two.test'))).toHaveLength(2)
  })

  test('one that accepts the connection and stays silent leaves time for the next', async () => {
    await listen(() => {}, '127.0.0.9', server.port)
    zone.set('two.test', 'A', ['127.0.0.9', '127.0.0.1'])
    // It has half of the time, and the next one has the other half.
    expect(await post(urlOf('two.test'), request(4_000))).toMatchObject({ kind: 'answered' })
  })

  test('once a request was sent, no other address gets it', async () => {
    await listenTls((socket) => socket.once('data', () => socket.destroy()), '127.0.0.9', server.port)
    zone.set('two.test', 'A', ['127.0.0.9', '127.0.0.1'])
    expect(await post(urlOf('two.test'), request())).toMatchObject({ kind: 'no_answer', error: 'connection closed' })
    expect(seen).toEqual([])
  })
})

test('replaces a kept connection that the peer has closed', async () => {
  let requests = 0
  const once200 = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok'
  const sockets: tls.TLSSocket[] = []
  const fickle = await listenTls((socket) => {
    sockets.push(socket)
    let served = 0
    socket.on('data', () => {
      requests++
      if (served++ === 0) socket.write(once200)
      else socket.destroy() // the second request meets the end of the connection
    })
  })
  const url = `https://hook.test:${fickle.port}/`
  const small = { headers: {}, body: '', timeoutMs: TEST_LIMIT_MS }
  expect(await post(url, small)).toMatchObject({ kind: 'answered' })
  expect(await post(url, small)).toMatchObject({ kind: 'answered' })
  expect(sockets).toHaveLength(2)
  expect(requests).toBe(3)
})

test('headers that HTTP cannot carry reject, and an invalid CA throws', async () => {
  await expect(post(urlOf('hook.test'), { ...request(), headers: { 'X-A': 'b\r\nX-C: d' } })).rejects.toThrow()
  expect(() => postWith({ ca: 'not PEM' })).toThrow()
  expect(seen).toEqual([])
})

async function listen(onConnection: (socket: net.Socket) => void, host = '127.0.0.1', port: number | undefined = 0) {
  return start(net.createServer(onConnection), host, port)
}

async function listenTls(
  onConnection: (socket: tls.TLSSocket) => void,
  host = '127.0.0.1',
  port: number | undefined = 0,
) {
  return start(
    tls.createServer({ key: certificate.keyPem, cert: certificate.certificatePem }, onConnection),
    host,
    port,
  )
}

/** Closed after the test. */
async function start(listener: net.Server, host: string, port: number) {
  const sockets = new Set<net.Socket>()
  for (const event of ['connection', 'secureConnection']) {
    listener.on(event, (socket: net.Socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
    })
  }
  listener.on('tlsClientError', () => {})
  listener.listen(port, host)
  await once(listener, 'listening')
  const close = () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  }
  opened.push(close)
  return { port: (listener.address() as net.AddressInfo).port, close }
}
