import { afterEach, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { connect, type TLSSocket } from 'node:tls'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import type { Supply } from '../../src/os/descriptors.ts'
import { createListener } from '../../src/web/api/listener.ts'
import type { Page } from '../../src/web/api/route-table.ts'
import { createTestApi, type TestApi } from '../support/api.ts'
import { until } from '../support/patience.ts'

/** The API over HTTPS, and a change of its certificate while it runs. */

const made = (name: string) => selfSignedCertificate({ names: [name, '127.0.0.1'], now: Date.now() })
const [one, other] = await Promise.all([made('one.test'), made('other.test')])

let open: TestApi | undefined
afterEach(async () => {
  await open?.api.stop(0)
  await open?.close()
})

async function listen(options: Parameters<typeof createTestApi>[0] = {}): Promise<{ api: TestApi; port: number }> {
  const api = await createTestApi(options)
  open = api
  const { port } = await api.api.listen({ host: '127.0.0.1', port: 0 }, one)
  return { api, port }
}

const serialOf = ({ certificatePem }: Certificate) => new X509Certificate(certificatePem).serialNumber

const dial = (port: number, options: object = {}) =>
  new Promise<TLSSocket>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => resolve(socket))
    socket.once('error', reject)
  })

/** Reads from the socket until the text contains `end`. */
const read = (socket: TLSSocket, end: string) =>
  new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
      if (text.includes(end)) resolve(text)
    })
    socket.once('close', () => resolve(text))
  })

const get = (port: number, path = '/healthz') =>
  fetch(`https://127.0.0.1:${port}${path}`, { tls: { ca: one.certificatePem } })

describe('HTTPS', () => {
  test('answers like HTTP beside it, under TLS 1.2 or later, and identifies the caller', async () => {
    const peers: (string | null)[] = []
    const page: Page = {
      method: 'GET',
      path: '/t/*',
      handle: async (_request, _params, peer) => {
        peers.push(peer())
        return new Response('here')
      },
    }
    const { api, port } = await listen({ pages: [page] })
    const plain = await api.api.listen({ host: '127.0.0.1', port: 0 })
    expect(await (await get(port, '/t/x')).text()).toBe('here')
    expect(await (await fetch(`http://127.0.0.1:${plain.port}/t/x`)).text()).toBe('here')
    expect(peers).toEqual(['127.0.0.1', '127.0.0.1'])
    expect((await dial(port, { maxVersion: 'TLSv1.2' })).getProtocol()).toBe('TLSv1.2')
    await expect(dial(port, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).rejects.toThrow()
    expect((await get(port)).headers.get('strict-transport-security')).toBeNull()
  })

  test('sends HSTS where it is configured, and HTTP does not', async () => {
    const { api, port } = await listen({ hstsSeconds: 3600 })
    const plain = await api.api.listen({ host: '127.0.0.1', port: 0 })
    const header = 'strict-transport-security'
    expect((await get(port)).headers.get(header)).toBe('max-age=3600')
    expect((await get(port, '/nothing')).headers.get(header)).toBe('max-age=3600')
    expect((await fetch(`http://127.0.0.1:${plain.port}/healthz`)).headers.get(header)).toBeNull()
  })

  test('does not share its port with another server', async () => {
    const { port } = await listen()
    const second = await createTestApi()
    await expect(second.api.listen({ host: '127.0.0.1', port }, other)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await second.close()
  })
})

describe('a change of certificate', () => {
  test('applies to the next connection; a request under way is answered with Connection: close', async () => {
    const { api, port } = await listen()
    const standing = await dial(port)
    standing.write('GET /healthz HTTP/1.1\r\nHost: a\r\n') // the first half of a request
    api.api.useCertificate(other)
    const fresh = await dial(port)
    expect(fresh.getPeerX509Certificate()?.serialNumber).toBe(serialOf(other))
    fresh.destroy()
    const answer = read(standing, '"ok"')
    standing.write('\r\n')
    expect(await answer).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is)
    expect(standing.getPeerX509Certificate()?.serialNumber).toBe(serialOf(one))
    standing.destroy()
    for (const next of [one, other, one]) {
      api.api.useCertificate(next)
      // The kernel distributes connections over all listening sockets, so one of ten would reach an old socket.
      for (let n = 0; n < 10; n++) {
        const client = await dial(port)
        expect(client.getPeerX509Certificate()?.serialNumber).toBe(serialOf(next))
        client.destroy()
      }
    }
  })

  test('applies once connections are accepted again when the descriptors were short', async () => {
    let report = (_supply: Supply) => {}
    const { api, port } = await listen({
      watchDescriptors: (reported) => {
        report = reported
        return () => {}
      },
    })
    api.api.useCertificate(other) // now one socket is replaced and one listens
    report('short')
    await expect(dial(port)).rejects.toThrow()
    api.api.useCertificate(one)
    report('ample')
    const client = await dial(port)
    expect(client.getPeerX509Certificate()?.serialNumber).toBe(serialOf(one))
    client.destroy()
  })

  test('resets only connections that the old socket has not accepted yet', async () => {
    let served = 0
    const listener = createListener({
      fetch: () => {
        served++
        return new Response('ok')
      },
      maxBodyBytes: 1,
      idleSeconds: 10,
      watch: () => () => {},
      onShut: () => {},
    })
    const { port } = listener.open({ host: '127.0.0.1', port: 0 }, one)
    await using client = Bun.spawn([process.execPath, '-e', CLIENT, String(port), String(CONNECTIONS)], {
      stdout: 'pipe',
    })
    const reported = new Response(client.stdout).text()
    let isOver = false
    void client.exited.then(() => {
      isOver = true
    })
    let changes = 0
    while (!isOver) {
      listener.useCertificate(changes++ % 2 === 0 ? other : one)
      const next = served + SERVED_BY_EACH
      await until('more connections', () => isOver || served >= next)
    }
    await listener.cut()
    const { answered, serials } = JSON.parse(await reported)
    expect(serials.sort()).toEqual([serialOf(one), serialOf(other)].sort())
    expect(changes).toBeGreaterThan(3)
    expect(answered).toBeLessThanOrEqual(CONNECTIONS)
    expect(answered).toBeGreaterThanOrEqual(CONNECTIONS - AT_ONCE * changes)
  })
})

const CONNECTIONS = 400
const AT_ONCE = 8
/** Connections before the next change of certificate. */
const SERVED_BY_EACH = 25

/** Connects repeatedly, eight at a time, and counts the answered connections. In a separate process, like a real
 *  client. */
const CLIENT = `
const { connect } = require('node:tls')
const [port, count] = process.argv.slice(-2).map(Number)
const serials = new Set()
let left = count, answered = 0
const once = () => new Promise((resolve) => {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
    serials.add(socket.getPeerX509Certificate().serialNumber)
    socket.write('GET /healthz HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n')
  })
  let text = ''
  socket.on('data', (bytes) => { text += bytes })
  socket.on('error', () => {})
  socket.on('close', () => { if (text.startsWith('HTTP/1.1 200')) answered++; resolve() })
})
Promise.all(Array.from({ length: ${AT_ONCE} }, async () => { while (left-- > 0) await once() })).then(() => {
  console.log(JSON.stringify({ answered, serials: [...serials] }))
})`
