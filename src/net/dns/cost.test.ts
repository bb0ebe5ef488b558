import { expect, test } from 'bun:test'
import dgram from 'node:dgram'
import net from 'node:net'
import packet from 'dns-packet'
import { TEST_LIMIT_MS } from '../../../test/support/patience.ts'
import { bindTcpAndUdp } from '../../../test/support/tcp-and-udp.ts'
import { systemClock } from '../../os/clock.ts'
import { systemRandom } from '../../os/random.ts'
import { createDnsCache } from './cache.ts'
import { isCheap } from './cost.ts'
import { frameMessage } from './frame.ts'
import { createResolver } from './resolver.ts'

const LONG_NAME: Buffer = Buffer.from([...Array.from({ length: 126 }, () => [1, 97]).flat(), 0])
const QUESTION = Buffer.from([1, 97, 4, 116, 101, 115, 116, 0, 0, 0, 0, 1])
const NAME_AT = 12 + QUESTION.length + 12

/** A message of records of one type up to 64 KiB. Its names are those of the query, or `names`; data by `data`. */
function messageOf(
  type: number,
  count: number,
  data: (at: number, offset: number) => Uint8Array,
  owner = [0xc0, 12],
): Buffer {
  const question = Buffer.from(QUESTION)
  question.writeUInt16BE(type, 8)
  const pieces: Uint8Array[] = [Buffer.from([0, 1, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0]), question]
  let bytes = 12 + question.length
  let records = 0
  for (; records < count; records++) {
    const name = Buffer.from(records === 0 ? [0xc0, 12] : owner)
    const rdata = data(records, bytes + name.length + 10)
    const fixed = Buffer.from([0, type, 0, 1, 0, 0, 0, 60, rdata.length >> 8, rdata.length & 255])
    if (bytes + name.length + 10 + rdata.length > 65_535) break
    pieces.push(name, fixed, rdata)
    bytes += name.length + 10 + rdata.length
  }
  const message = Buffer.concat(pieces)
  message.writeUInt16BE(records, 6)
  return message
}

const pointer = (to: number): Buffer => Buffer.from([0xc0 | (to >> 8), to & 255])
const toLong = (at: number): Buffer => (at === 0 ? LONG_NAME : pointer(NAME_AT))

// threat: dns-answer-cost
test.each<[string, Buffer]>([
  ['names of 126 labels in owners and data', messageOf(2, 4_200, toLong, [0xc0, NAME_AT])],
  ['aliases of 126 labels', messageOf(5, 4_200, toLong)],
  [
    'exchanges of 126 labels',
    messageOf(15, 4_200, (at) => Buffer.concat([Buffer.from([0, 1]), at === 0 ? LONG_NAME : pointer(NAME_AT + 2)])),
  ],
  [
    'a chain of pointers alone',
    messageOf(12, 4_200, (at, offset) => (at === 0 ? Buffer.from([0]) : pointer(Math.min(offset - 14, 0x3f_ff)))),
  ],
  [
    'a TXT record of 32,000 strings',
    messageOf(16, 1, () => Buffer.from([1, 97].concat(...Array.from({ length: 30_000 }, () => [1, 97])))),
  ],
  ['a TXT record of 65,000 empty strings', messageOf(16, 1, () => Buffer.alloc(65_000))],
  ['four thousand addresses', messageOf(1, 4_200, () => Buffer.from([192, 0, 2, 1]))],
  ['bit maps of 60,000 bytes', messageOf(47, 1, () => Buffer.concat([Buffer.from([0]), Buffer.alloc(60_000, 0xff)]))],
])('an answer of %s is not parsed', (_, message) => {
  expect(isCheap(message)).toBe(false)
})

// threat: dns-answer-cost
test('such an answer over TCP is a DNS failure, without 150 ms of work', async () => {
  const hostile = messageOf(2, 4_200, toLong, [0xc0, NAME_AT])
  const answered = (id: Buffer, message: Buffer) => Buffer.concat([id, message.subarray(2)])
  const newTcp = () =>
    net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', (query: Buffer) => socket.write(frameMessage(answered(query.subarray(2, 4), hostile))))
    })
  const newUdp = () => {
    const socket = dgram.createSocket('udp4')
    return socket.on('message', (query, { port: to }) => {
      const truncated = Buffer.concat([
        Buffer.from([0, 0, 0x83, 0x80, 0, 1, 0, 0, 0, 0, 0, 0]),
        hostile.subarray(12, NAME_AT - 12),
      ])
      socket.send(answered(query.subarray(0, 2), truncated), to, '127.0.0.1')
    })
  }
  const { tcp, udp, port } = await bindTcpAndUdp(newTcp, newUdp)
  const options = { clock: systemClock, random: systemRandom, timeoutMs: TEST_LIMIT_MS }
  const resolver = createResolver({ servers: [`127.0.0.1:${port}`], ...options })
  expect(await resolver.ns('a.test')).toEqual({ kind: 'temporary', reason: 'response too large' })
  resolver.close()
  udp.close()
  tcp.close()
})

test('large valid answers are parsed', () => {
  const question = { name: 'a.test', type: 'TXT' as const }
  const answer = (answers: unknown[], type = 'TXT') =>
    packet.encode({
      type: 'response',
      id: 1,
      questions: [{ ...question, type: type as 'TXT' }],
      answers: answers as never,
    })
  const name = 'a.test'
  const texts = Array.from({ length: 60 }, (_, at) => ({
    name,
    type: 'TXT',
    data: [`${at}`.repeat(100), 'x'.repeat(255)],
  }))
  expect(isCheap(answer(texts))).toBe(true)
  expect(isCheap(answer([{ name, type: 'TXT', data: Array.from({ length: 250 }, () => 'x'.repeat(255)) }]))).toBe(true)
  const exchanges = Array.from({ length: 100 }, (_, at) => ({
    name,
    type: 'MX',
    data: { preference: 1, exchange: `mx${at}.a.b.c.test` },
  }))
  expect(isCheap(answer(exchanges, 'MX'))).toBe(true)
  const addresses = Array.from({ length: 900 }, () => ({ name, type: 'A', data: '192.0.2.1' }))
  expect(isCheap(answer(addresses, 'A'))).toBe(true)
})

// threat: dns-cache-memory
test('ten thousand large answers stay within the byte limit of the cache', () => {
  const cache = createDnsCache<string>({
    clock: { now: () => 0, sleep: async () => {} },
    maxEntries: 10_000,
    maxBytes: 1_000_000,
    bytesOf: (value) => value.length,
  })
  for (let at = 0; at < 10_000; at++) cache.set(`${at}`, 'x'.repeat(9_000), 86_400)
  const held = Array.from({ length: 10_000 }, (_, at) => cache.get(`${at}`)).filter((each) => each !== null)
  expect(held.length).toBeGreaterThan(90)
  expect(held.length * 9_000).toBeLessThan(1_000_000)
  cache.set('whole', 'x'.repeat(500_000), 86_400)
  expect(cache.get('whole')).toBeNull()
  expect(cache.get('9999')).not.toBeNull()
})
