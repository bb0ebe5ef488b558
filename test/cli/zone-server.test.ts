import { afterEach, beforeEach, expect, test } from 'bun:test'
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import packet from 'dns-packet'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { framedMessages, frameMessage } from '../../src/net/dns/frame.ts'

let zone: Zone
beforeEach(async () => {
  zone = await startZone([
    { name: '*.wild.test', type: 'A', data: '192.0.2.1' },
    { name: 'own.wild.test', type: 'TXT', data: 'here' },
    { name: 'a.deep.wild.test', type: 'A', data: '192.0.2.2' },
  ])
})
afterEach(() => zone.stop())

test('a wildcard matches only names that do not exist', async () => {
  expect(await ask('any.wild.test', 'A')).toMatchObject({
    rcode: 'NOERROR',
    answers: [{ name: 'any.wild.test', data: '192.0.2.1' }],
  })
  expect((await ask('x.y.wild.test', 'A')).answers).toHaveLength(1)
  expect(await ask('own.wild.test', 'A')).toMatchObject({ rcode: 'NOERROR', answers: [] }) // exists, without A
  expect(await ask('deep.wild.test', 'A')).toMatchObject({ rcode: 'NOERROR', answers: [] }) // exists because of a name below it
  expect(await ask('b.deep.wild.test', 'A')).toMatchObject({ rcode: 'NXDOMAIN' }) // deep.wild.test is the closer encloser
  expect(await ask('wild.test', 'A')).toMatchObject({ rcode: 'NOERROR', answers: [] })
})

test('listens on the given address', async () => {
  const elsewhere = await startZone([], { host: '127.0.0.9', port: 0 })
  const [host, port] = elsewhere.address.split(':')
  expect(host).toBe('127.0.0.9')
  await expect(startZone([], { host: host!, port: Number(port) })).rejects.toThrow()
  await elsewhere.stop()
})

test('negative answers carry a SOA', async () => {
  expect((await ask('nowhere.test', 'A')).authorities).toMatchObject([{ type: 'SOA', data: { minimum: 1 } }])
})

test('removes one type or the whole name', async () => {
  zone.set('own.wild.test', 'A', ['192.0.2.9'])
  zone.remove('own.wild.test', 'TXT')
  expect((await ask('OWN.wild.test', 'TXT')).answers).toEqual([])
  expect((await ask('own.wild.test', 'A')).answers).toMatchObject([{ data: '192.0.2.9' }])
  zone.remove('own.wild.test')
  expect((await ask('own.wild.test', 'A')).answers).toMatchObject([{ data: '192.0.2.1' }])
})

test('records the queries', async () => {
  await ask('One.test', 'MX')
  await ask('two.test', 'TLSA')
  expect(zone.queries).toEqual([
    { name: 'one.test', type: 'MX' },
    { name: 'two.test', type: 'TLSA' },
  ])
})

test('survives garbage on both ports', async () => {
  const { port } = net.SocketAddress.parse(zone.address)!
  const socket = net.connect(port, '127.0.0.1')
  socket.end(frameMessage(Buffer.from('noise')))
  const udp = dgram.createSocket('udp4')
  udp.send('noise', port, '127.0.0.1')
  await once(socket, 'connect')
  expect((await ask('any.wild.test', 'A')).answers).toHaveLength(1)
  socket.destroy()
  udp.close()
})

test('truncates an answer over 512 bytes without EDNS, and sends all of it over TCP, several queries on one connection', async () => {
  zone.set('long.test', 'TXT', ['x'.repeat(600)])
  expect(await ask('long.test', 'TXT')).toMatchObject({ flag_tc: true, answers: [] })
  const { port } = net.SocketAddress.parse(zone.address)!
  const socket = net.connect(port, '127.0.0.1')
  const take = framedMessages()
  const answers: packet.DecodedPacket[] = []
  const two = Buffer.concat([1, 2].map((id) => frameMessage(query(id, 'long.test', 'TXT'))))
  socket.write(two.subarray(0, 20)) // a message may arrive in pieces
  socket.write(two.subarray(20))
  for await (const bytes of socket) {
    answers.push(...take(bytes).map((message) => packet.decode(message)))
    if (answers.length === 2) break
  }
  expect(answers.map(({ id }) => id)).toEqual([1, 2])
  expect(answers[0]!.answers).toHaveLength(1)
})

function query(id: number, name: string, type: packet.RecordType): Buffer {
  return packet.encode({ type: 'query', id, questions: [{ name, type }] })
}

async function ask(name: string, type: packet.RecordType) {
  const { port } = net.SocketAddress.parse(zone.address)!
  const socket = dgram.createSocket('udp4')
  socket.send(query(7, name, type), port, '127.0.0.1')
  const [message] = await once(socket, 'message')
  socket.close()
  return packet.decode(message) as packet.DecodedPacket & { rcode: string }
}
