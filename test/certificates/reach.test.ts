import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { createPlainPages } from '../../src/domains/certificates/plain-pages.ts'
import { reachOf } from '../../src/domains/certificates/reach.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { probeHttp } from '../../src/net/https/probe.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'

/** Where a name leads, by DNS over UDP and servers on loopback addresses: 127.0.0.1 is this machine, 127.0.0.2
 *  another. */

const pages = createPlainPages(() => '')
let zone: Zone
let resolver: Resolver
let ours: ReturnType<typeof Bun.serve>
let theirs: ReturnType<typeof Bun.serve>
const probed: string[] = []

beforeAll(async () => {
  ours = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: pages.fetch })
  theirs = Bun.serve({ hostname: '127.0.0.2', port: ours.port!, fetch: () => new Response('welcome') })
  zone = await startZone([
    { name: 'here.test', type: 'A', data: '127.0.0.1' },
    { name: 'alias.test', type: 'CNAME', data: 'here.test' },
    { name: 'both.test', type: 'A', data: '127.0.0.1' },
    { name: 'both.test', type: 'A', data: '127.0.0.2' },
    { name: 'empty.test', type: 'TXT', data: 'no address' },
    { name: 'private.test', type: 'A', data: '10.1.2.3' },
    { name: 'public.test', type: 'A', data: '203.0.113.9' },
    { name: 'world.test', type: 'A', data: '198.41.0.4' },
    { name: 'dual.test', type: 'A', data: '127.0.0.1' },
    { name: 'dual.test', type: 'AAAA', data: '::1' },
    { name: 'cloud.test', type: 'A', data: '198.41.0.4' },
    { name: 'cloud.test', type: 'AAAA', data: '::1' },
    { name: 'six.test', type: 'A', data: '127.0.0.1' },
    { name: 'six.test', type: 'AAAA', data: '2001:500:2::c' },
  ])
  zone.fail('broken.test', 'SERVFAIL')
  resolver = createResolver({
    servers: [zone.address],
    clock: systemClock,
    random: systemRandom,
    timeoutMs: TEST_LIMIT_MS,
  })
})
afterAll(async () => {
  resolver.close()
  await Promise.all([zone.stop(), ours.stop(true), theirs.stop(true)])
})

const look = (name: string, own: string[] = ['127.0.0.1'], port = ours.port!) =>
  reachOf(name, {
    resolver,
    pages,
    random: systemRandom,
    ownAddresses: () => own,
    probe: (at) => {
      probed.push(at.ip)
      return at.ip.startsWith('127.') || at.ip === '::1'
        ? probeHttp({ ...at, maxBytes: 256, timeoutMs: TEST_LIMIT_MS })
        : Promise.resolve(null)
    },
    port,
  })

test.each(['here.test', 'alias.test'])('%s leads here', async (name) => {
  expect(await look(name)).toEqual({ kind: 'here' })
})

test.each([
  ['empty.test', 'empty.test has no A or AAAA record'],
  ['nothing.test', 'nothing.test has no A or AAAA record'],
  ['broken.test', 'DNS did not respond for broken.test'],
  [
    'both.test',
    'the A record of both.test leads to 127.0.0.2, which is not this machine: correct or remove the record',
  ],
  [
    'private.test',
    'the A record of private.test leads to 10.1.2.3, which is not this machine: correct or remove the record',
  ],
])('%s does not: %s', async (name, reason) => {
  expect(await look(name)).toEqual({ kind: 'elsewhere', reason })
})

// threat: certificate-order-disturbed
test('does not probe private addresses of others', async () => {
  await look('private.test')
  expect(probed).not.toContain('10.1.2.3')
  expect(probed).not.toContain('127.0.0.2')
})

test('a silent public address may be forwarded to a machine with only private addresses', async () => {
  expect(await look('world.test', ['127.0.0.1', '10.0.0.5'])).toEqual({ kind: 'unknown' })
  expect(await look('world.test', ['127.0.0.1', '192.5.5.241'])).toEqual({
    kind: 'elsewhere',
    reason: 'the A record of world.test leads to 198.41.0.4, which is not this machine: correct or remove the record',
  })
})

test('one IPv6 address elsewhere is enough to fail', async () => {
  expect((await look('six.test', ['127.0.0.1', '192.5.5.241'])).kind).toBe('elsewhere')
})

test('reports an own address without an answer by its port', async () => {
  const closed = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  const { port } = closed
  closed.stop(true)
  expect(await look('here.test', ['127.0.0.1'], port)).toEqual({
    kind: 'elsewhere',
    reason: `the A record of here.test leads to 127.0.0.1, an address of this machine, but nothing answers there on port ${port}: set http.listen_redirect to "0.0.0.0:${port}", or remove the record`,
  })
})

const OWN = ['127.0.0.1', '::1']

test('a name with an A and an AAAA record leads here if this machine answers over both', async () => {
  expect(await look('dual.test', OWN)).toEqual({
    kind: 'elsewhere',
    reason: `the AAAA record of dual.test leads to ::1, an address of this machine, but nothing answers there on port ${ours.port}: set http.listen_redirect to "[::]:${ours.port}", or remove the record`,
  })
  const both = Bun.serve({ hostname: '::', port: 0, fetch: pages.fetch })
  expect(await look('dual.test', OWN, both.port!)).toEqual({ kind: 'here' })
  await both.stop(true)
})

test('a public IPv6 address does not make a forwarded IPv4 address wrong', async () => {
  const both = Bun.serve({ hostname: '::', port: 0, fetch: pages.fetch })
  const own = [...OWN, '10.0.0.5', '2001:500:2::c']
  expect(await look('cloud.test', own, both.port!)).toEqual({ kind: 'unknown' })
  await both.stop(true)
})
