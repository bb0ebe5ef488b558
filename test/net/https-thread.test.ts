import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import type { ExchangeJob } from '../../src/net/https/exchange.ts'
import { postBy } from '../../src/net/https/requests.ts'
import { createHttpsThread, type FromHttpsThread, type HttpsKind } from '../../src/net/https/thread.ts'
import { serveHttps } from '../../src/net/https/worker.ts'
import { systemClock } from '../../src/os/clock.ts'
import { type PoolEvent, threadRunner } from '../../src/os/thread-pool.ts'
import { CERTIFICATE } from '../smtp-server/setup.ts'
import { slowness } from '../support/cpu-cost.ts'
import { type HostilePeer, MISBEHAVIOURS, startHostilePeer } from '../support/hostile-peer.ts'
import { TEST_LIMIT_MS, until } from '../support/patience.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { keptLog } from '../webhooks/setup.ts'

const REAL = new URL('../../src/net/https/worker.ts', import.meta.url).href
const STUCK = new URL('./stuck-worker.ts', import.meta.url).href

let hostile: HostilePeer
let receiver: Receiver
let threads: { stop(): void }[] = []
beforeAll(async () => {
  hostile = await startHostilePeer({ key: CERTIFICATE.keyPem, cert: CERTIFICATE.certificatePem })
  receiver = await startReceiver()
})
afterEach(() => {
  for (const thread of threads) thread.stop()
  threads = []
  receiver.script(200)
})
afterAll(async () => {
  hostile.close()
  await receiver.stop()
})

function startThread(
  options: { worker?: string; idleMs?: number; computeMs?: number; onEvent?: (event: PoolEvent) => void } = {},
) {
  const { log, lines } = keptLog()
  const kind = { allowed: ['127.0.0.0/8'], keepsAlive: true, userAgent: 'test', dns: { servers: ['127.0.0.1:1'] } }
  let started = 0
  const thread = createHttpsThread({
    start: () => {
      started++
      return threadRunner(() => new Worker(options.worker ?? REAL, { smol: true }))()
    },
    kinds: {
      hostile: { ...kind, ca: CERTIFICATE.certificatePem },
      endpoints: { ...kind, ca: receiver.ca },
      strict: { ...kind, allowed: [] },
    } satisfies Record<string, HttpsKind>,
    clock: systemClock,
    log,
    ...options,
  })
  threads.push(thread)
  return { thread, lines, started: () => started, post: postBy(thread.exchange('endpoints'), systemClock) }
}

const job = (url: string, more: Partial<ExchangeJob> = {}): ExchangeJob => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{}',
  maxBytes: 4096,
  timeoutMs: TEST_LIMIT_MS,
  as: 'excerpt',
  ...more,
})
const request = { headers: {}, body: '{"a":1}', timeoutMs: TEST_LIMIT_MS }

test('a request starts a thread for itself, and its answer is small', async () => {
  const { post, started, thread } = startThread()
  expect(started()).toBe(0)
  receiver.script({ status: 429, headers: { 'retry-after': '7', 'x-other': 'y'.repeat(1000) }, body: 'later' })
  expect(await post(receiver.url, request)).toMatchObject({
    kind: 'answered',
    status: 429,
    retryAfterSeconds: 7,
    excerpt: 'later',
  })
  const { headers } = (await thread.exchange('endpoints')(job(receiver.url))) as { headers: object }
  expect(headers).toEqual({ 'retry-after': '7' })
  expect(started()).toBe(1)
  expect(receiver.requests.at(-1)!.body).toBe('{}')
  expect(thread.state().underWay).toBe(0)
})

test('a probe that finds nothing ends neither the thread nor the posts beside it', async () => {
  const { thread, post, started, lines } = startThread()
  const nothing = { ip: '127.0.0.1', port: 1, host: 'mail.example', path: '/', maxBytes: 256, timeoutMs: TEST_LIMIT_MS }
  const [found, answered] = await Promise.all([thread.probe(nothing), post(receiver.url, request)])
  expect(found).toBeNull()
  expect(answered).toMatchObject({ status: 200 })
  expect(await post(receiver.url, request)).toMatchObject({ status: 200 })
  expect(started()).toBe(1)
  expect(lines).toEqual([])
})

test('the address guard holds in the thread', async () => {
  const { thread } = startThread()
  expect(await thread.exchange('strict')(job(receiver.url))).toEqual({
    kind: 'blocked',
    reason: '127.0.0.1 is not a public address',
  })
})

test('a large body is transferred and arrives unchanged; a view into a larger buffer is copied', async () => {
  const { post } = startThread()
  const body = new Uint8Array(30_000_000)
  for (let at = 0; at < body.length; at += 997) body[at] = at % 251
  const sum = Bun.hash(body)
  expect(await post(receiver.url, { ...request, body })).toMatchObject({ status: 200 })
  expect(body.byteLength).toBe(0)
  expect(Bun.hash(receiver.requests.at(-1)!.bytes)).toBe(sum)

  const larger = new Uint8Array(1_000_000).fill(65)
  expect(await post(receiver.url, { ...request, body: larger.subarray(0, 100_000) })).toMatchObject({ status: 200 })
  expect(larger.byteLength).toBe(1_000_000)
  expect(receiver.requests.at(-1)!.bytes.byteLength).toBe(100_000)
})

test('headers that HTTP cannot carry reject, and an invalid CA throws at once', async () => {
  const { post, thread } = startThread()
  await expect(post(receiver.url, { ...request, headers: { 'X-A': 'b\r\nX-C: d' } })).rejects.toThrow(
    'invalid header value',
  )
  expect(thread.state().underWay).toBe(0)
  const start = threadRunner(() => new Worker(REAL))
  const kind = { allowed: [], keepsAlive: true, userAgent: 'x', dns: { servers: [] }, ca: 'not PEM' }
  expect(() => createHttpsThread({ start, kinds: { kind }, clock: systemClock, log: keptLog().log })).toThrow()
})

/** CPU time of the main thread for one flood. */
const MOST_MS = 5

const PHRASES =
  /^(too many interim responses|response (headers are too large|has too many (headers|chunks)|chunks are malformed|switches protocols|arrives in too many pieces)|timeout)$/

// threat: endless-interim-answers
test('an endpoint that misbehaves gets an error phrase, and a healthy webhook its answers meanwhile', async () => {
  const { thread, post, lines } = startThread()
  const exchange = thread.exchange('hostile')
  const numbers = Object.keys(MISBEHAVIOURS).map((_, number) => number)
  const sentBefore = hostile.sentBytes()
  const attacks = numbers.flatMap((number) =>
    Array.from({ length: 10 }, () =>
      exchange(job(`https://127.0.0.1:${hostile.port}/${number}`, { timeoutMs: 3_000 })),
    ),
  )
  let healthy = 0
  let isOver = false
  const beside = (async () => {
    while (!isOver) if ((await post(receiver.url, request)).kind === 'answered') healthy++
  })()
  const results = await Promise.all(attacks)
  isOver = true
  await beside
  expect(healthy).toBeGreaterThan(0)
  for (const [at, result] of results.entries()) {
    const name = Object.keys(MISBEHAVIOURS)[Math.floor(at / 10)]!
    if (result.kind === 'answered') expect(name).toMatch(/body|chunk|trailers/)
    else expect(`${name}: ${result.kind === 'no_answer' && PHRASES.test(result.error)}`).toBe(`${name}: true`)
  }
  // What the sockets accepted on either side, not everything that was sent.
  expect((hostile.sentBytes() - sentBefore) / results.length).toBeLessThan(8_000_000)
  expect(lines).toEqual([])
})

// threat: endless-interim-answers
test(`floods of every kind cost the main thread under ${MOST_MS} ms each`, async () => {
  const { thread } = startThread()
  const exchange = thread.exchange('hostile')
  await exchange(job(`https://127.0.0.1:${hostile.port}/`)) // the thread runs, and the roots are loaded
  const folder = mkdtempSync(join(tmpdir(), 'postrider-hostile-'))
  writeFileSync(join(folder, 'cert.pem'), CERTIFICATE.certificatePem)
  writeFileSync(join(folder, 'key.pem'), CERTIFICATE.keyPem)
  const program = new URL('../support/hostile-peer-process.ts', import.meta.url).pathname
  const peer = Bun.spawn([process.execPath, program, join(folder, 'cert.pem'), join(folder, 'key.pem')], {
    stdout: 'pipe',
  })
  const port = Number(new TextDecoder().decode((await peer.stdout.getReader().read()).value))
  try {
    const cpuMs = () => (process.threadCpuUsage().user + process.threadCpuUsage().system) / 1000
    const numbers = Object.values(MISBEHAVIOURS).flatMap(({ everyMs }, number) =>
      everyMs === undefined ? [number] : [],
    )
    const costs: number[] = []
    for (let run = 0; run < 3; run++) {
      const before = cpuMs()
      await Promise.all(numbers.map((number) => exchange(job(`https://127.0.0.1:${port}/${number}`))))
      costs.push((cpuMs() - before) / numbers.length)
    }
    const least = Math.min(...costs)
    if (least >= MOST_MS) expect(least).toBeLessThan(MOST_MS * (await slowness()))
  } finally {
    peer.kill()
    rmSync(folder, { recursive: true })
  }
})

test.each(['/spin', '/spin-later'])(
  'a blocked thread (%s) is replaced; nothing is lost or posted again',
  async (path) => {
    const { post, started, thread, lines } = startThread({ worker: STUCK, computeMs: 300 })
    expect(await post(receiver.url, request)).toMatchObject({ status: 200 })
    receiver.script('hang')
    const before = receiver.requests.length
    const underWay = Array.from({ length: 5 }, () => post(receiver.url, request))
    await receiver.received(before + 5)
    const culprit = thread.exchange('endpoints')(job(`${receiver.url}${path}`))
    expect(await culprit).toEqual({ kind: 'no_answer', error: 'response took too long to read' })
    for (const each of await Promise.all(underWay)) {
      expect(each).toMatchObject({ kind: 'no_answer', error: 'interrupted' })
    }
    receiver.script(200)
    expect(await post(receiver.url, request)).toMatchObject({ status: 200 })
    expect(receiver.requests.length).toBe(before + 6)
    expect(started()).toBe(2)
    expect(thread.state().underWay).toBe(0)
    expect(lines.some(({ message }) => message === 'thread ended, starting a new one')).toBe(true)
  },
)

test('a thread that dies is replaced, and its requests and the log say why', async () => {
  const { post, thread, started, lines } = startThread({ worker: STUCK })
  const died = thread.exchange('endpoints')(job(`${receiver.url}/exit`))
  expect(await died).toEqual({ kind: 'no_answer', error: 'interrupted by an internal error' })
  expect(lines[0]).toMatchObject({
    message: 'thread ended, starting a new one',
    fields: { pool: 'https', cause: 'died', error: 'the thread exited with code 3' },
  })
  expect(await post(receiver.url, request)).toMatchObject({ status: 200 })
  expect(started()).toBe(2)
})

test('stop answers every request, also later ones', async () => {
  const { post, thread } = startThread()
  receiver.script('hang')
  const before = receiver.requests.length
  const underWay = post(receiver.url, request)
  await receiver.received(before + 1)
  thread.stop()
  thread.stop()
  expect(await underWay).toMatchObject({ kind: 'no_answer', error: 'interrupted' })
  expect(await post(receiver.url, request)).toMatchObject({ kind: 'no_answer', error: 'interrupted' })
  receiver.release(200)
})

test('a thread without work ends, and the next request starts another', async () => {
  const ended = Promise.withResolvers<void>()
  const onEvent = (event: PoolEvent) => event.kind === 'ended' && ended.resolve()
  const { post, started, thread } = startThread({ idleMs: 20, onEvent })
  await post(receiver.url, request)
  await ended.promise
  expect(await post(receiver.url, request)).toMatchObject({ status: 200 })
  expect(started()).toBe(2)
  expect(thread.state().underWay).toBe(0)
})

test('an unsolicited answer closes the kept connection', async () => {
  let connections = 0
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  const poison = 'HTTP/1.1 500 Poisoned\r\nContent-Length: 6\r\n\r\npoison'
  const sockets: tls.TLSSocket[] = []
  const server = tls.createServer({ key: CERTIFICATE.keyPem, cert: CERTIFICATE.certificatePem }, (socket) => {
    connections++
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', () => socket.write(ok))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const exchange = startThread().thread.exchange('hostile')
  expect(await exchange(job(url))).toMatchObject({ status: 200 })
  expect(await exchange(job(url))).toMatchObject({ status: 200 })
  expect(connections).toBe(1)
  sockets[0]!.write(poison)
  await once(sockets[0]!, 'close')
  expect(await exchange(job(url))).toMatchObject({ status: 200, text: 'ok' })
  expect(connections).toBe(2)
  for (const socket of sockets) socket.destroy()
  server.close()
})

test('a result that cannot be sent to the main thread fails alone', async () => {
  const posted: FromHttpsThread[] = []
  const post = (message: unknown, transfer: ArrayBuffer[] = []) => {
    posted.push(structuredClone(message as FromHttpsThread, { transfer }))
  }
  const answer = serveHttps(post as never, () => async (job) => (job as unknown as { answer: unknown }).answer as never)
  answer({ kind: 'start', board: null, settings: { kinds: { some: {} } } })
  const jobs = [() => {}, 'fine'].map((each, id) => ({ id, kind: 'some', exchange: { answer: each } }))
  answer({ kind: 'jobs', jobs })
  await until(
    'both results',
    () => posted.flatMap((each) => (each.kind === 'results' ? each.results : [])).length === 2,
  )
  const results = posted.flatMap((each) => (each.kind === 'results' ? each.results : []))
  expect(results).toEqual([
    { id: 0, failed: expect.any(String), stack: expect.any(String) },
    { id: 1, result: 'fine' as never },
  ])
})
