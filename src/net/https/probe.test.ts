import { expect, test } from 'bun:test'
import { once } from 'node:events'
import net from 'node:net'
import { TEST_LIMIT_MS } from '../../../test/support/patience.ts'
import { probeHttp } from './probe.ts'

/** A cleartext server that sends `answer` to any request, endlessly if it says so. */
async function startServer(answer: string, isEndless = false) {
  let request = ''
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      request = bytes.toString('latin1')
      const more = () => {
        if (!socket.destroyed) socket.write(answer, () => setImmediate(more))
      }
      if (isEndless) more()
      else socket.end(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { port: (server.address() as net.AddressInfo).port, request: () => request, stop }
}

const job = (port: number) => ({
  ip: '127.0.0.1',
  port,
  host: 'a.example',
  path: '/.well-known/x',
  maxBytes: 8,
  timeoutMs: 2 * TEST_LIMIT_MS, // what ends a probe here is the answer
})

test('reads a page up to the requested size; any other status is not a page', async () => {
  const page = await startServer('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789')
  expect(await probeHttp(job(page.port))).toBe('01234567')
  expect(page.request()).toStartWith(`GET /.well-known/x HTTP/1.1\r\nHost: a.example:${page.port}\r\n`)
  page.stop()
  const other = await startServer('HTTP/1.1 301 x\r\nLocation: /\r\nContent-Length: 1\r\n\r\nx')
  expect(await probeHttp(job(other.port))).toBeNull()
  other.stop()
  expect(await probeHttp(job(other.port))).toBeNull()
})

// threat: endless-interim-answers
test('leaves the host of a tenant’s name at once when it sends endless interim answers', async () => {
  const endless = await startServer('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000), true)
  expect(await probeHttp(job(endless.port))).toBeNull()
  endless.stop()
})
