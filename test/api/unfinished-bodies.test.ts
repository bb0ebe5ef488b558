import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { createMemory } from '../../src/os/memory.ts'
import { createCompatApi } from '../../src/server/external-api.ts'
import { rule } from '../../src/web/api/access.ts'
import { operation } from '../../src/web/api/operation.ts'
import { resend } from '../../src/web/compat/resend/resend.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { until } from '../support/patience.ts'

/** Request bodies that do not end, over real sockets. */

const MIB = 2 ** 20
let made: TestApi
let ports: { clear: number; tls: number }

beforeAll(async () => {
  const clock = createFakeClock(START)
  const memory = createMemory({ limitBytes: 1e12, largestMailBytes: 0, clock, residentBytes: () => 0 })
  made = await createTestApi({
    memory: { ...memory, limitBytes: 64 * MIB }, // unfinished bodies get 4 MiB
    bodyBytes: MIB,
    compatApis: (operations) => [
      createCompatApi(resend, operations, { downloadUrl: () => '', signingSecret: async () => null }),
    ],
    pages: [
      {
        method: 'POST',
        path: '/t/*',
        handle: async (_request, _params, _peer, readBody) => new Response(`${(await readBody(4_096)).byteLength}`),
      },
    ],
  })
  const certificate = await selfSignedCertificate({ names: ['one.test'], now: Date.now() })
  const at = { host: '127.0.0.1', port: 0 }
  ports = { clear: (await made.api.listen(at)).port, tls: (await made.api.listen(at, certificate)).port }
})
afterAll(() => made.close())

/** A request whose answer is read until its connection ends. */
interface Post {
  socket: Socket
  answer: string
  isClosed: boolean
}

/** Sends the head of a POST and the start of its body. */
function post(path: string, [head, start]: readonly [string, string], { port = ports.clear, key = '' } = {}): Post {
  const to = { host: '127.0.0.1', port }
  const socket = port === ports.tls ? connectSecurely({ ...to, rejectUnauthorized: false }) : connect(to)
  const made: Post = { socket, answer: '', isClosed: false }
  socket.on('data', (bytes) => {
    made.answer += bytes
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    made.isClosed = true
  })
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nX-Operator: 1\r\n${head}\r\n\r\n`,
  )
  socket.write(start)
  return made
}

const PATHS = ['/v1/send', '/compat/resend/emails', '/mcp', '/session', '/t/x']
const UNFINISHED = [
  ['Content-Length: 3000', '{'],
  ['Transfer-Encoding: chunked', '1\r\n{\r\n'],
] as const

// threat: slow-bodies
test.each(['clear', 'tls'] as const)(
  'a body that does not end gets 408 after 30 seconds on every path, and its connection ends: %s',
  async (kind) => {
    const key = made.own.keys.send.value
    const posts = PATHS.flatMap((path) => UNFINISHED.map((body) => post(path, body, { port: ports[kind], key })))
    await until('all are in progress', () => made.api.underWay() === posts.length)
    await made.clock.advance(29_000)
    expect(made.api.underWay()).toBe(posts.length)
    await made.clock.advance(3_000)
    await until('all connections have ended', () => posts.every(({ isClosed }) => isClosed))
    const shown = posts.map(({ answer }) => [answer.slice(0, 12), answer.includes('too slowly')])
    expect(shown).toEqual(posts.map(() => ['HTTP/1.1 408', true]))
  },
)

// threat: slow-bodies
test('unfinished bodies of one key leave room for others', async () => {
  const key = made.own.keys.send.value
  const start = `{"text":"${'a'.repeat(200_000)}`
  const posts = Array.from({ length: 60 }, () => post('/v1/send', ['Content-Length: 250000', start], { key }))
  await until('all are refused or read', () => {
    const refused = posts.filter(({ answer }) => answer.startsWith('HTTP/1.1 503')).length
    return refused > 0 && refused + made.api.underWay() === posts.length
  })
  expect(made.api.underWay()).toBeWithin(1, 8) // a third of 4 MiB
  const body = '{"text":"x"}'
  const head = `Connection: close\r\nContent-Length: ${body.length}`
  const victim = post('/v1/send', [head, body], { key: made.other.keys.send.value })
  await until('the other organization has an answer', () => victim.isClosed)
  expect(victim.answer).toStartWith('HTTP/1.1 400 ') // `from` is missing: the body was read
  for (const { socket } of posts) socket.destroy()
  await until('all have ended', () => made.api.underWay() === 0)
})

// threat: memory-exhaustion
test('a body that an operation does not take is discarded, and the connection stays usable', async () => {
  const gate = Promise.withResolvers<void>()
  const plain = await createTestApi({
    bodyBytes: 40 * MIB,
    operations: () => [
      operation({
        id: 'wait',
        method: 'POST',
        path: '/v1/wait',
        tag: 'Messages',
        access: rule('send', 'developer', 'no_records', 'organization'),
        summary: '',
        handle: async () => {
          await gate.promise
          return { status: 200, body: { is: 'done' } }
        },
      }),
    ],
  })
  try {
    const { port } = await plain.api.listen({ host: '127.0.0.1', port: 0 })
    const head = `Content-Length: ${40 * MIB}`
    const { socket, ...rest } = post('/v1/wait', [head, ''], { port, key: plain.own.keys.send.value })
    const sent = Promise.withResolvers<void>()
    socket.write(Buffer.alloc(40 * MIB), () => sent.resolve())
    await sent.promise // Bun stops reading after a megabyte of a body that it keeps
    expect(rest.answer).toBe('')
    gate.resolve()
    let answer = ''
    socket.on('data', (bytes) => {
      answer += bytes
    })
    await until('the response', () => answer.endsWith('{"is":"done"}'))
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    await until('the next response', () => answer.endsWith('{"status":"ok"}'))
  } finally {
    await plain.close()
  }
})
