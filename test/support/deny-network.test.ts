import { describe, expect, test } from 'bun:test'
import { createSocket } from 'node:dgram'
import { lookup, Resolver, resolveMx } from 'node:dns'
import { lookup as lookupPromise, Resolver as PromiseResolver } from 'node:dns/promises'
import { request } from 'node:http'
import { connect, createServer, Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { isLoopback, takeDenials } from './deny-network.ts'

const OUTSIDE = '192.0.2.1'

const attempts: [name: string, attempt: () => unknown][] = [
  ['lookup', () => lookup('mail.example.com', () => {})],
  ['lookup with a promise', () => lookupPromise('mail.example.com')],
  ['resolveMx', () => resolveMx('example.com', () => {})],
  ['Resolver', () => new Resolver().resolveTxt('example.com', () => {})],
  ['Resolver with a promise', () => new PromiseResolver().resolve('example.com')],
  ['net.connect by port and host', () => connect(25, OUTSIDE)],
  ['net.connect by options', () => connect({ port: 25, host: 'mail.example.com' })],
  ['Socket.connect', () => new Socket().connect({ port: 25, host: '2001:db8::1' })],
  ['tls.connect', () => tlsConnect({ port: 465, host: OUTSIDE })],
  ['http.request', () => request(`http://${OUTSIDE}/`).end()],
  ['dgram.send', () => createSocket('udp4').send('x', 53, OUTSIDE)],
  ['dgram.send with a length', () => createSocket('udp4').send('x', 0, 1, 53, OUTSIDE, () => {})],
  ['dgram.connect', () => createSocket('udp4').connect(53, OUTSIDE)],
  ['fetch', () => fetch('https://example.com/')],
  ['fetch of a Request', () => fetch(new Request(`http://${OUTSIDE}:8080/`))],
  ['WebSocket', () => new WebSocket('wss://example.com/')],
  ['Bun.connect', () => Bun.connect({ hostname: OUTSIDE, port: 25, socket: { data() {} } })],
]

describe('the outside network', () => {
  test.each(attempts)('is denied to %s', async (_, attempt) => {
    let message = ''
    try {
      await attempt()
    } catch (error) {
      message = String(error)
    }
    expect(message).toContain('the outside network is denied to tests')
    expect(takeDenials()).toHaveLength(1)
  })

  test('is denied behind a custom lookup', async () => {
    const lookup = (_name: string, _options: unknown, done: (error: null, address: string, family: number) => void) =>
      done(null, OUTSIDE, 4)
    const socket = new Socket()
    socket.on('error', () => {})
    try {
      socket.connect({ port: 25, host: 'mail.example.test', lookup: lookup as never })
      await new Promise((resolve) => setImmediate(resolve))
    } catch {
      // Thrown or emitted as an event: denied either way.
    }
    socket.destroy()
    expect(takeDenials()).toEqual([`connect ${OUTSIDE}`])
  })
})

describe('the loopback', () => {
  test('is open to connect, fetch and datagrams', async () => {
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('hello') })
    expect(await (await fetch(`http://127.0.0.1:${server.port}/`)).text()).toBe('hello')
    await server.stop(true)

    const echo = createServer((socket) => socket.end('220 hello\r\n')).listen(0, '127.0.0.1')
    await new Promise((resolve) => echo.once('listening', resolve))
    const { port } = echo.address() as { port: number }
    for (const options of [
      { port, host: '127.0.0.1' },
      { port, host: 'localhost', family: 4 },
    ]) {
      const socket = connect(options)
      expect(String(await new Promise((resolve) => socket.once('data', resolve)))).toBe('220 hello\r\n')
      socket.destroy()
    }
    echo.close()

    const receiver = createSocket('udp4')
    const heard = new Promise((resolve) => receiver.once('message', (message) => resolve(String(message))))
    await new Promise<void>((resolve) => receiver.bind(0, '127.0.0.1', resolve))
    const sender = createSocket('udp4')
    sender.send('ping', receiver.address().port, '127.0.0.1')
    expect(await heard).toBe('ping')
    sender.close()
    receiver.close()
  })

  test('is every address of this machine', () => {
    const inside = [
      undefined,
      '',
      'localhost',
      'mx.localhost',
      '127.0.0.2',
      '::1',
      '[::1]',
      '::ffff:127.0.0.1',
      '0.0.0.0',
    ]
    const outside = [
      'example.com',
      'localhost.example.com',
      '10.0.0.1',
      '128.0.0.1',
      '::2',
      '::ffff:10.0.0.1',
      'notlocalhost',
    ]
    expect(inside.filter((host) => !isLoopback(host))).toEqual([])
    expect(outside.filter(isLoopback)).toEqual([])
  })
})
