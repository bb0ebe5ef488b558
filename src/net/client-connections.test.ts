import { expect, test } from 'bun:test'
import { once } from 'node:events'
import net from 'node:net'
import { until } from '../../test/support/patience.ts'
import { connectionLimits, openClientConnections, watchClientConnections } from './client-connections.ts'

const fetchPort = (server: Bun.Server<unknown>) => server.port!

/** That many connections from one address that send nothing. */
async function connections(port: number, count: number, localAddress: string, host = '127.0.0.1') {
  const sockets = Array.from({ length: count }, () => net.connect({ port, host, localAddress }))
  const closed = new Set<net.Socket>()
  for (const socket of sockets) {
    socket.on('error', () => {})
    socket.on('close', () => closed.add(socket))
  }
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  return { sockets, closed, end }
}
const serve = (hostname = '127.0.0.1') =>
  Bun.serve({ hostname, port: 0, idleTimeout: 60, fetch: () => new Response('ok') })

// threat: half-open-requests
test('a client that opens more connections than its share loses the newest; others keep theirs', async () => {
  const server = serve()
  const other = serve()
  const crowd = await connections(fetchPort(server), 60, '127.0.0.2')
  const few = await connections(fetchPort(server), 10, '127.0.0.3')
  const elsewhere = await connections(fetchPort(other), 40, '127.0.0.2')
  const exempt = await connections(fetchPort(server), 40, '127.0.0.4')
  const isExempt = (ip: string) => ip === '127.0.0.4'
  const { closeBeyond } = openClientConnections()
  expect(await fetch(`http://127.0.0.1:${server.port}/`).then((response) => response.text())).toBe('ok')

  let closed = 0
  // Until the server has accepted what the kernel holds for it.
  await until('40 connections to be closed', () => {
    for (const [client, count] of closeBeyond(20, [fetchPort(server)], isExempt)) {
      expect(client).toBe('127.0.0.2')
      closed += count
    }
    return closed >= 40
  })
  await until('the crowd to see it', () => crowd.closed.size === 40)
  expect([few.closed.size, elsewhere.closed.size, exempt.closed.size]).toEqual([0, 0, 0])
  expect(await fetch(`http://127.0.0.1:${server.port}/`).then((response) => response.text())).toBe('ok')
  for (const each of [crowd, few, elsewhere, exempt]) each.end()
  await Promise.all([server.stop(true), other.stop(true)])
})

test('an IPv6 client is its /64', async () => {
  const server = serve('::1')
  const crowd = await connections(fetchPort(server), 30, '::1', '::1')
  const { closeBeyond } = openClientConnections()
  const seen = new Set<string>()
  await until('20 connections to be closed', () => {
    for (const client of closeBeyond(10, [fetchPort(server)], () => false).keys()) seen.add(client)
    return crowd.closed.size >= 20
  })
  expect([...seen]).toEqual(['0:0:0:0::/64'])
  crowd.end()
  await server.stop(true)
})

test('no client is limited while few descriptors are open', async () => {
  const server = serve()
  const crowd = await connections(fetchPort(server), 100, '127.0.0.2')
  let used = 10
  const closed: [string, number][] = []
  const stop = watchClientConnections({
    descriptors: { limit: 1_024, used: () => used },
    ports: () => [fetchPort(server)],
    isExempt: () => false,
    onClosed: (...each) => closed.push(each),
    everyMs: 1,
  })
  await fetch(`http://127.0.0.1:${server.port}/`)
  expect(crowd.closed.size).toBe(0)
  used = 300
  await until('the newest to be closed', () => crowd.closed.size === 100 - 64)
  expect(closed.every(([client]) => client === '127.0.0.2')).toBe(true)
  stop()
  crowd.end()
  await server.stop(true)
})

test('the limit follows the descriptors that the process may have', () => {
  expect(connectionLimits(65_536)).toEqual({ crowdedAt: 4_096, most: 1_024 })
  expect(connectionLimits(1_024)).toEqual({ crowdedAt: 256, most: 64 })
  expect(connectionLimits(Number.POSITIVE_INFINITY)).toEqual({ crowdedAt: 4_096, most: 1_024 })
})
