import { afterAll, beforeAll, expect, test } from 'bun:test'
import dgram from 'node:dgram'
import net from 'node:net'
import packet, { type DecodedPacket } from 'dns-packet'
import { packedManual } from '../../src/cli/manual/packed.ts'
import { makeConfig } from '../../src/config/load.ts'
import { answer } from '../../src/domains/name-server/answer.ts'
import { createCounts } from '../../src/domains/name-server/counts.ts'
import { serveAddress } from '../../src/domains/name-server/serve.ts'
import { silentLog } from '../../src/os/log.ts'
import { startServer } from '../../src/server/server.ts'
import { until } from '../support/patience.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { query } from './zone.ts'

const ZONE = 'pm.example.net'
const LIMIT = 50
let server: TestServer
let port: number

beforeAll(async () => {
  server = await startTestServer({
    remote: { port: 9, open: () => 0 },
    config: { dns: { zone: ZONE, listen: ['127.0.0.1:0', '[::1]:0'], responses_per_second: LIMIT } },
  })
  port = Number(server.running().listening.dns?.split(' ')[0]?.split(':')[1])
})
afterAll(() => server.close())

test('a domain is in the zone soon after it was added, and not after it was deleted', async () => {
  const domain = (await server.ask('POST', '/v1/domains', { name: 'shop.example' })).body
  const [key] = domain.dns_records
  await until('the key', async () => (await ask(key.value)).answers?.length === 1)
  expect((await server.ask('DELETE', `/v1/domains/${domain.id}`)).status).toBe(200)
  await until('NXDOMAIN', async () => ((await ask(key.value)).flags! & 15) === 3)
})

test('a bug in one answer costs that answer, over UDP and TCP, and is reported', async () => {
  const counts = createCounts()
  const served = await serveAddress({
    host: '127.0.0.1',
    port: 0,
    zone: () => null, // answers SERVFAIL
    permit: () => 'answer',
    count: counts,
    now: () => performance.now(),
    answerOf: (asked, ...rest) => {
      if (asked.includes('poison')) throw new Error('a bug')
      return answer(asked, ...rest)
    },
  })
  try {
    const socket = dgram.createSocket('udp4')
    socket.send(query(`poison.${ZONE}`, 'TXT'), served.port, '127.0.0.1')
    const stream = net.connect(served.port, '127.0.0.1')
    const asked = query(`poison.${ZONE}`, 'TXT')
    stream.write(Buffer.concat([Buffer.from([0, asked.length]), asked]))
    await new Promise((resolve) => stream.once('close', resolve))
    const other = await ask(ZONE, 'TXT', { host: '127.0.0.1', port: served.port })
    expect(other.flags! & 15).toBe(2)
    socket.close()
    expect(counts.take()).toMatchObject({ failed: 2, lastError: expect.stringContaining('a bug') })
  } finally {
    served.stop()
  }
})

test('no tenant adds a name inside the zone', async () => {
  for (const name of [ZONE, `shop.${ZONE}`]) {
    const { status, body } = await server.ask('POST', '/v1/domains', { name })
    expect([status, body.error.details.reason]).toEqual([409, 'server_name'])
  }
  const added = (await server.ask('POST', '/v1/domains', { name: 'example.net' })).body
  const { status } = await server.ask('PATCH', `/v1/domains/${added.id}`, { tracking: { host: ZONE } })
  expect(status).toBe(409)
})

test('both addresses answer, over UDP and TCP', async () => {
  const [v4, v6] = server
    .running()
    .listening.dns!.split(' ')
    .map((at) => Number(at.split(':').at(-1)))
  const isAnswered = async (host: string, at: number) =>
    (await ask(ZONE, 'SOA', { host, port: at })).answers?.length === 1
  await until('an answer by IPv4', () => isAnswered('127.0.0.1', v4!))
  await until('an answer by IPv6', () => isAnswered('::1', v6!))
  for (const [host, at] of [
    ['127.0.0.1', v4],
    ['::1', v6],
  ] as const) {
    const socket = net.connect(at!, host)
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.destroy()
  }
})

test('a client that has gone, and packets of any kind, disturb nobody', async () => {
  for (let n = 0; n < 20; n++) {
    const socket = dgram.createSocket('udp4')
    await new Promise<void>((resolve) => socket.send(query(ZONE, 'SOA'), port, '127.0.0.1', () => resolve()))
    await new Promise<void>((resolve) => socket.close(resolve)) // its port answers with ICMP
  }
  const socket = dgram.createSocket('udp4')
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(1), Buffer.alloc(60_000, 0xff), Buffer.alloc(12)])
    await new Promise((resolve) => socket.send(bytes, port, '127.0.0.1', resolve))
  socket.close()
  await until('an answer', async () => (await ask(ZONE, 'SOA')).answers?.length === 1)
})

test('a network above its rate is sent to TCP or gets no answer, and the metrics count both', async () => {
  const socket = dgram.createSocket('udp4')
  let [whole, truncated] = [0, 0]
  socket.on('message', (bytes) => {
    if (packet.decode(bytes).flag_tc) truncated++
    else whole++
  })
  const startedAt = performance.now()
  await until('the answers', () => {
    for (let n = 0; n < 20; n++) socket.send(query(ZONE, 'SOA'), port, '127.0.0.1')
    return whole >= LIMIT && truncated > LIMIT
  })
  socket.close()
  // Those of one second at once, and further ones as time passes.
  const seconds = (performance.now() - startedAt) / 1000
  expect(whole).toBeLessThan(LIMIT * (1 + seconds) + 1)
  await until('the counts', async () => {
    const { text } = await server.ask('GET', '/metrics')
    const numberOf = (action: string) =>
      Number(new RegExp(`rate_limited_total\\{action="${action}"\\} (\\d+)`).exec(text)?.[1])
    return numberOf('slip') > 0 && numberOf('drop') > 0
  })
})

test('a thread that ends is replaced at the same port with the same zone', async () => {
  const [key] = (await server.ask('POST', '/v1/domains', { name: 'other-shop.example' })).body.dns_records
  await until('the key', async () => (await ask(key.value)).answers?.length === 1)
  const [thread] = server.threads('domains/name-server/worker.ts')
  thread!.terminate()
  await until('another thread', () => {
    const threads = server.threads('domains/name-server/worker.ts')
    return threads.length === 1 && threads[0] !== thread
  })
  await until('the key again', async () => (await ask(key.value)).answers?.length === 1)
})

test('an address in use ends the start with a message that names the key', async () => {
  const taken = net.createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const at = `127.0.0.1:${(taken.address() as net.AddressInfo).port}`
  const start = (listen: string[]) =>
    startServer(
      makeConfig({
        hostname: 'mail.example.net',
        data_dir: `${server.dataDir}-other`,
        http: { listen: '127.0.0.1:0' },
        smtp: { inbound: { listen: 'off' } },
        dns: { zone: ZONE, listen },
      }),
      { log: silentLog, manual: packedManual },
    )
  await expect(start([at])).rejects.toThrow(`dns.listen: ${at} is in use by another program`)
  await new Promise((resolve) => taken.close(resolve))
  const udp = dgram.createSocket('udp4')
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
  const { port: free } = udp.address()
  await expect(start([`127.0.0.1:${free}`])).rejects.toThrow(
    `dns.listen: 127.0.0.1:${free} is in use by another program`,
  )
  await new Promise<void>((resolve) => udp.close(resolve))
})

/** Asks again, because a reply may be lost: over the limit of the rate, or while no thread listens. */
async function ask(
  name: string,
  type = 'TXT',
  at: { host: string; port: number } = { host: '127.0.0.1', port },
): Promise<DecodedPacket> {
  const socket = dgram.createSocket(net.isIPv6(at.host) ? 'udp6' : 'udp4')
  const reply = new Promise<DecodedPacket>((resolve) => {
    socket.on('message', (bytes) => resolve(packet.decode(bytes)))
  })
  const send = () => socket.send(query(name, type), at.port, at.host)
  send()
  const again = setInterval(send, 200)
  const given = await reply
  clearInterval(again)
  socket.close()
  return given
}
