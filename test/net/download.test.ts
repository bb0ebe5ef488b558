import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { type Download, type Downloaded, downloadBy } from '../../src/net/https/download.ts'
import { createExchange } from '../../src/net/https/exchange.ts'
import { FILE_LIMITS } from '../../src/net/https/limits.ts'
import { createHttpsThread } from '../../src/net/https/thread.ts'
import { createAddressGuard } from '../../src/net/ip.ts'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { threadRunner } from '../../src/os/thread-pool.ts'
import { type FileServer, fileAnswer, redirectTo, startFileServer } from '../support/file-server.ts'
import { MISBEHAVIOURS, startHostilePeer } from '../support/hostile-peer.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'

/** Only 127.0.0.1 counts as public here. */
const PUBLIC = ['127.0.0.1/32']

let certificate: Certificate
let zone: Zone
let resolver: Resolver
let server: FileServer
/** Listens at the same port of 127.0.0.2, which is not public. */
let canary: { stop(closeActive: boolean): void }
let canaryConnections = 0
let download: Download

beforeAll(async () => {
  certificate = await selfSignedCertificate({ names: ['files.test', 'mixed.test', '127.0.0.1'], now: Date.now() })
  zone = await startZone([
    { name: 'files.test', type: 'A', data: '127.0.0.1', ttlSeconds: 0 },
    { name: 'mixed.test', type: 'A', data: '127.0.0.2' },
    { name: 'inner.test', type: 'A', data: '10.0.0.1' },
  ])
  zone.set('mixed.test', 'A', ['127.0.0.2', '127.0.0.1', '169.254.169.254'])
  resolver = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom, maxCacheEntries: 0 })
  const pair = { key: certificate.keyPem, cert: certificate.certificatePem }
  server = await startFileServer(pair)
  const { port } = server
  const socket = { open: () => void canaryConnections++, data: () => {} }
  canary = Bun.listen({ hostname: '127.0.0.2', port, socket })
  const { exchange } = createExchange({
    resolver,
    mayConnect: createAddressGuard(PUBLIC),
    ca: certificate.certificatePem,
    userAgent: 'Postrider/test',
    keepsAlive: false,
  })
  download = downloadBy(exchange, systemClock.steady.now)
})
afterAll(async () => {
  server.stop()
  canary.stop(true)
  resolver.close()
  await zone.stop()
})

/** Run after each test. */
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

const granted = async () => true
const get = (url: string, change: Partial<Parameters<Download>[1]> = {}) =>
  download(url, { maxBytes: 1_000_000, timeoutMs: TEST_LIMIT_MS, enter: granted, ...change })
const at = (path: string, change?: Partial<Parameters<Download>[1]>) => get(server.url(path), change)
const textOf = (result: Downloaded) => (result.kind === 'file' ? Buffer.from(result.bytes).toString() : result)
const failed = (why: string): Downloaded => ({ kind: 'failed', why })

describe('a file', () => {
  test('has its bytes and type; the request carries nothing but what is necessary', async () => {
    server.set('/a?b=1', fileAnswer('hello', 'Content-Type: text/plain; charset=utf-8'))
    server.requests.length = 0
    const result = await get(`${server.url('/a?b=1')}#part`)
    expect(result).toEqual({
      kind: 'file',
      bytes: new Uint8Array(Buffer.from('hello')),
      contentType: 'text/plain; charset=utf-8',
    })
    expect(server.requests[0]!.split('\r\n')).toEqual([
      'GET /a?b=1 HTTP/1.1',
      `Host: 127.0.0.1:${server.port}`,
      'user-agent: Postrider/test',
      'accept: */*',
      'Accept-Encoding: identity',
      'Connection: close',
      '',
      '',
    ])
  })

  test('may come in many small chunks, and is the same', async () => {
    const piece = 'abcdefghij'.repeat(20)
    const count = 12_000 // more than an answer of a webhook may have
    server.set(
      '/chunks',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${`c8\r\n${piece}\r\n`.repeat(count)}0\r\n\r\n`,
    )
    const result = await at('/chunks', { maxBytes: 3_000_000 })
    expect(result.kind === 'file' && Bun.hash(result.bytes)).toEqual(Bun.hash(piece.repeat(count)))
  })

  test('asks for memory once, with its length, or the limit without one; up to 256 KiB it does not', async () => {
    const asked: number[] = []
    let onEnter = () => {}
    const enter = async (sizeBytes: number) => {
      onEnter()
      return asked.push(sizeBytes) > 0
    }
    const content = new Uint8Array(600_000).fill(7)
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    const half = Buffer.concat([Buffer.from('493e0\r\n'), content.subarray(300_000), Buffer.from('\r\n')])
    server.set('/known', fileAnswer(content))
    server.set('/small', fileAnswer(content.subarray(0, FILE_LIMITS.smallBytes)))
    server.set('/unknown', (socket) => {
      socket.write(Buffer.concat([Buffer.from(head), half]))
      onEnter = () => void socket.write(Buffer.concat([half, Buffer.from('0\r\n\r\n')]))
    })
    for (const path of ['/small', '/known', '/unknown']) {
      const result = await at(path, { enter })
      expect(result.kind === 'file' && result.bytes.byteLength).toBe(path === '/small' ? 262_144 : 600_000)
    }
    expect(asked).toEqual([600_000, 1_000_000])
  })

  test('is refused when no memory becomes free', async () => {
    server.set('/known', fileAnswer(new Uint8Array(600_000)))
    expect(await at('/known', { enter: async () => false })).toEqual({ kind: 'busy' })
  })
})

describe('redirects', () => {
  test('are followed three times, relative ones too, without cookies', async () => {
    server.set('/r3', redirectTo('/r2'))
    server.set('/r2', redirectTo(server.url('/r1'), '307 Temporary Redirect'))
    server.set('/r1', redirectTo('end', '301 Moved Permanently'))
    server.set('/end', fileAnswer('end'))
    server.set('/r4', redirectTo('/r3'))
    server.requests.length = 0
    expect(textOf(await at('/r3'))).toBe('end')
    expect(server.requests.some((head) => /cookie|referer|authorization/i.test(head))).toBe(false)
    expect(await at('/r4')).toEqual(failed('too many redirects'))
  })

  // threat: file-url-private-addresses
  test.each([
    ['http://127.0.0.1/', 'it redirects to a URL that is not accepted'],
    ['https://ann:secret@files.test/', 'it redirects to a URL that is not accepted'],
    ['https://files.test:22/', 'it redirects to a URL that is not accepted'],
    ['file:///etc/passwd', 'it redirects to a URL that is not accepted'],
    ['https://127.0.0.2:PORT/', 'the target of a redirect has no public address'],
    ['https://[::1]:PORT/', 'the target of a redirect has no public address'],
    ['https://169.254.169.254/latest/meta-data/', 'the target of a redirect has no public address'],
    ['https://inner.test/', 'the target of a redirect has no public address'],
    ['https://2130706434:PORT/', 'the target of a redirect has no public address'],
    ['//', 'the server answered 302'],
  ])('to %s end the download', async (location, why) => {
    server.set('/out', redirectTo(location.replace('PORT', String(server.port))))
    expect(await at('/out')).toEqual(failed(why))
    expect(canaryConnections).toBe(0)
  })

  test('without a Location are a status', async () => {
    server.set('/lost', fileAnswer('', 'X: y', '302 Found'))
    expect(await at('/lost')).toEqual(failed('the server answered 302'))
  })

  // threat: file-url-private-addresses
  test('to a name whose address became private in between are blocked', async () => {
    server.set('/again', (socket) => {
      zone.set('files.test', 'A', ['127.0.0.2'], 0)
      socket.write(redirectTo('/end'))
    })
    server.set('/end', fileAnswer('end'))
    expect(await get(`https://files.test:${server.port}/again`)).toEqual(
      failed('the target of a redirect has no public address'),
    )
    zone.set('files.test', 'A', ['127.0.0.1'], 0)
    expect(textOf(await get(`https://files.test:${server.port}/end`))).toBe('end')
    expect(canaryConnections).toBe(0)
  })
})

// threat: file-url-private-addresses
describe('a host', () => {
  test('with public and private addresses is reached at the public ones only', async () => {
    server.set('/end', fileAnswer('end'))
    expect(textOf(await get(`https://mixed.test:${server.port}/end`))).toBe('end')
    expect(canaryConnections).toBe(0)
  })

  test.each([
    ['https://inner.test/', 'inner.test has no public address'],
    ['https://127.0.0.2/', '127.0.0.2 has no public address'],
    ['https://none.test/', 'host not found'],
    ['http://files.test/', 'the URL must start with https://'],
    ['https://ann@files.test/', 'the URL must not contain a user name or password'],
  ])('%s is refused, without the address', async (url, why) => {
    expect(await get(url)).toEqual(failed(why))
  })

  test('with another certificate is refused', async () => {
    zone.set('wrong.test', 'A', ['127.0.0.1'])
    expect(await get(`https://wrong.test:${server.port}/end`)).toEqual(failed('certificate is for another name'))
  })
})

describe('an answer', () => {
  test.each([
    '204 No Content',
    '206 Partial Content',
    '304 Not Modified',
    '401 Unauthorized',
    '404 Not Found',
    '503 x',
  ])('with %s is no file, and its body is not read', async (status) => {
    server.set('/status', (socket) => socket.write(`HTTP/1.1 ${status}\r\nTransfer-Encoding: chunked\r\n\r\n`))
    expect(await at('/status')).toEqual(failed(`the server answered ${status.slice(0, 3)}`))
  })

  test.each([
    ['less than its Content-Length', 'Content-Length: 10\r\n\r\nshort', failed('connection closed')],
    ['a missing last chunk', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', failed('connection closed')],
    ['no length', 'X: y\r\n\r\nhello', failed('response has no length')],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello', failed('response has conflicting lengths')],
    ['a content coding', 'Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\n', failed('response is compressed')],
    ['a transfer coding', 'Transfer-Encoding: gzip, chunked\r\n\r\n', failed('response is compressed')],
    [
      'a large header',
      `X: ${'a'.repeat(100_000)}\r\nContent-Length: 1\r\n\r\nx`,
      failed('response headers are too large'),
    ],
    ['a Content-Length over the limit', 'Content-Length: 1000001\r\n\r\n', { kind: 'too_large' }],
  ] as const)('with %s is refused', async (_, rest, expected) => {
    server.set('/bad', (socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))
    expect(await at('/bad')).toEqual(expected as never)
  })

  test('without end is read up to the limit', async () => {
    server.set('/endless', (socket) => {
      const more = () => {
        if (!socket.destroyed) socket.write(`ffff\r\n${'x'.repeat(65_535)}\r\n`, more)
      }
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', more)
    })
    expect(await at('/endless')).toEqual({ kind: 'too_large' })
  })

  test('that drips ends with the time', async () => {
    server.set('/drip', (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 10)
      socket.on('close', () => clearInterval(timer))
    })
    expect(await at('/drip', { timeoutMs: 150 })).toEqual(failed('timeout'))
  })
})

// threat: endless-interim-answers
test('a server that misbehaves in any way ends its own download', async () => {
  const hostile = await startHostilePeer({ key: certificate.keyPem, cert: certificate.certificatePem })
  stops.push(hostile.close)
  const results = await Promise.all(
    Object.keys(MISBEHAVIOURS).map((_, number) =>
      get(`https://127.0.0.1:${hostile.port}/${number}`, { maxBytes: 100_000, timeoutMs: 1_000 }),
    ),
  )
  const causes = results.map((result) => (result.kind === 'failed' ? result.why : result.kind))
  expect(causes.filter((cause) => !HOSTILE.test(cause))).toEqual([])
})

const HOSTILE =
  /^(?:too many interim responses|response (?:headers are too large|has (?:too many (?:headers|chunks)|no length)|chunks are malformed|switches protocols|arrives in too many pieces)|timeout)$/

describe('in the HTTPS thread', () => {
  const thread = () => {
    const files = createHttpsThread({
      start: threadRunner(
        () => new Worker(new URL('../../src/net/https/worker.ts', import.meta.url).href, { smol: true }),
      ),
      kinds: {
        files: {
          allowed: PUBLIC,
          ca: certificate.certificatePem,
          keepsAlive: false,
          userAgent: 'x',
          dns: { servers: [zone.address] },
        },
      },
      clock: systemClock,
      log: silentLog,
    })
    stops.push(files.stop)
    return files
  }

  test('a large file waits for its memory, and nothing is read meanwhile', async () => {
    const files = thread()
    const inThread = downloadBy(files.exchange('files'), systemClock.steady.now)
    const content = new Uint8Array(12_000_000)
    for (let index = 0; index < content.length; index += 997) content[index] = index % 251
    let isFlushed = false
    server.set('/large', (socket) => void socket.write(fileAnswer(content), () => (isFlushed = true)))
    const grant = Promise.withResolvers<boolean>()
    const asked = Promise.withResolvers<number>()
    const result = inThread(server.url('/large'), {
      maxBytes: 25_000_000,
      timeoutMs: TEST_LIMIT_MS,
      enter: (sizeBytes) => {
        asked.resolve(sizeBytes)
        return grant.promise
      },
    })
    expect(await asked.promise).toBe(12_000_000)
    // Another request goes on meanwhile.
    server.set('/end', fileAnswer('end'))
    expect(textOf(await inThread(server.url('/end'), { maxBytes: 10, timeoutMs: TEST_LIMIT_MS, enter: granted }))).toBe(
      'end',
    )
    expect(isFlushed).toBe(false)
    grant.resolve(true)
    const file = await result
    expect(file.kind === 'file' && Bun.hash(file.bytes)).toEqual(Bun.hash(content))
  })

  test('a file that gets no memory is not read, and one whose wait is too long ends in time', async () => {
    const files = thread()
    const inThread = downloadBy(files.exchange('files'), systemClock.steady.now)
    server.set('/known', fileAnswer(new Uint8Array(600_000)))
    const limits = { maxBytes: 1_000_000, timeoutMs: TEST_LIMIT_MS }
    expect(await inThread(server.url('/known'), { ...limits, enter: async () => false })).toEqual({ kind: 'busy' })
    const never = () => new Promise<boolean>(() => {})
    expect(await inThread(server.url('/known'), { ...limits, timeoutMs: 100, enter: never })).toEqual(failed('timeout'))
    expect(files.state().underWay).toBe(0)
  })
})
