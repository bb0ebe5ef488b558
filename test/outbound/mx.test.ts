import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { createAddressGuard } from '../../src/net/ip.ts'
import { systemClock } from '../../src/os/clock.ts'
import { type Random, systemRandom } from '../../src/os/random.ts'
import { findAddresses, findHosts, withoutAddress } from '../../src/sending/outbound/mx.ts'

let zone: Zone
let resolver: Resolver
beforeAll(async () => {
  zone = await startZone()
  resolver = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom })
})
afterAll(async () => {
  resolver.close()
  await zone.stop()
})

const rising = (): Random => {
  let calls = 0
  return { bytes: (size) => new Uint8Array(size), fraction: () => ++calls / 100 }
}
const falling = (): Random => {
  let calls = 100
  return { bytes: (size) => new Uint8Array(size), fraction: () => --calls / 100 }
}
const mx = (preference: number, exchange: string) => ({ preference, exchange })
const everywhere = () => true

test('tries hosts by preference, equal ones in random order, each once', async () => {
  const records = [mx(20, 'c.order.test'), mx(10, 'a.order.test'), mx(10, 'B.order.test'), mx(30, 'a.order.test')]
  zone.set('order.test', 'MX', records)
  const hosts = async (random: Random) => (await findHosts('order.test', resolver, random)) as { hosts: string[] }
  expect((await hosts(rising())).hosts).toEqual(['a.order.test', 'b.order.test', 'c.order.test'])
  expect((await hosts(falling())).hosts).toEqual(['b.order.test', 'a.order.test', 'c.order.test'])
})

// threat: odd-mx-records
test('keeps the first ten of thirteen MX hosts', async () => {
  zone.set(
    'many.test',
    'MX',
    Array.from({ length: 13 }, (_, i) => mx(i, `mx${i}.many.test`)),
  )
  const hosts = Array.from({ length: 10 }, (_, i) => `mx${i}.many.test`)
  expect(await findHosts('many.test', resolver, rising())).toMatchObject({ kind: 'hosts', hosts })
})

test('uses the domain itself as host without MX', async () => {
  zone.set('plain.test', 'A', ['192.0.2.1'])
  expect(await findHosts('plain.test', resolver, rising())).toMatchObject({ kind: 'hosts', hosts: ['plain.test'] })
})

test('uses an address literal as its own host', async () => {
  for (const [domain, host] of [
    ['[192.0.2.7]', '192.0.2.7'],
    ['[IPv6:2001:db8::7]', '2001:db8::7'],
  ] as const) {
    expect(await findHosts(domain, resolver, rising())).toMatchObject({ kind: 'hosts', hosts: [host] })
    expect((await findAddresses(host, resolver, everywhere)).addresses).toEqual([host])
  }
})

// threat: odd-mx-records
test('a null MX bounces hard with 5.1.10; beside other MX records it is ignored', async () => {
  zone.set('null.test', 'MX', [mx(0, '.')])
  zone.set('half-null.test', 'MX', [mx(0, '.'), mx(10, 'mx.half-null.test')])
  expect(await findHosts('null.test', resolver, rising())).toMatchObject({
    kind: 'nowhere',
    outcome: { kind: 'bounced', bounceType: 'hard', code: '5.1.10', cause: { class: 'no_domain' } },
  })
  expect(await findHosts('half-null.test', resolver, rising())).toMatchObject({ hosts: ['mx.half-null.test'] })
})

// threat: odd-mx-records
test('a domain that does not exist bounces hard with 5.1.2', async () => {
  expect(await findHosts('nowhere.test', resolver, rising())).toMatchObject({
    outcome: { kind: 'bounced', bounceType: 'hard', code: '5.1.2' },
  })
})

// threat: odd-mx-records
test('a DNS server that fails, refuses or does not answer defers and never bounces', async () => {
  const patience = { timeoutMs: 40, tries: 1 } // a query without a timely answer is a fault as well
  const asked = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom, ...patience })
  for (const how of ['SERVFAIL', 'REFUSED', 'timeout'] as const) {
    zone.fail(`${how}.fault.test`, how)
    expect(await findHosts(`${how}.fault.test`, asked, rising())).toMatchObject({
      outcome: { kind: 'deferred', code: '4.4.3', aboutRecipient: false, cause: { class: 'dns' } },
    })
  }
})

test('returns IPv4 before IPv6, at most four addresses, with both kinds among them', async () => {
  zone.set('wide.test', 'A', ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'])
  zone.set('wide.test', 'AAAA', ['2001:db8::1', '2001:db8::2', '2001:db8::3'])
  const { addresses } = await findAddresses('wide.test', resolver, everywhere)
  expect(addresses.map((address) => address.includes(':'))).toEqual([false, false, true, true])
  const four = await findAddresses('wide.test', resolver, everywhere, [4])
  expect(four.addresses.length).toBe(4)
  const six = await findAddresses('wide.test', resolver, everywhere, [6])
  expect(six.addresses.sort()).toEqual(['2001:db8::1', '2001:db8::2', '2001:db8::3'])
})

// threat: mx-private-addresses
// threat: odd-mx-records
test('never returns private and loopback addresses', async () => {
  const publicOnly = createAddressGuard([])
  zone.set('inner.test', 'A', ['127.0.0.1', '10.0.0.1', '169.254.169.254', '0.0.0.0'])
  zone.set('inner.test', 'AAAA', ['::1', '::ffff:127.0.0.1', 'fe80::1', 'fd00::1'])
  zone.set('mixed.test', 'A', ['10.0.0.1', '8.8.8.8'])
  zone.set('mixed.test', 'AAAA', [])
  expect(await findAddresses('inner.test', resolver, publicOnly)).toMatchObject({ addresses: [], reason: 'private' })
  expect(await findAddresses('mixed.test', resolver, publicOnly)).toMatchObject({
    addresses: ['8.8.8.8'],
    reason: 'found',
  })
  expect(await findAddresses('127.0.0.1', resolver, publicOnly)).toMatchObject({ addresses: [], reason: 'private' })
})

test('distinguishes a host without address from a DNS failure', async () => {
  zone.set('bare.test', 'TXT', ['x'])
  expect((await findAddresses('bare.test', resolver, everywhere)).reason).toBe('none')
  expect((await findAddresses('gone.test', resolver, everywhere)).reason).toBe('none')
  zone.fail('mute.test', 'SERVFAIL')
  expect((await findAddresses('mute.test', resolver, everywhere)).reason).toBe('temporary')
})

test('no address at all: hard for a domain without MX, deferred for MX hosts, private ones and DNS trouble', () => {
  expect(withoutAddress('d.test', ['d.test'], ['none'])).toMatchObject({ bounceType: 'hard', code: '5.1.2' })
  expect(withoutAddress('d.test', ['mx.d.test'], ['none'])).toMatchObject({ kind: 'deferred', code: '4.4.4' })
  expect(withoutAddress('d.test', ['d.test'], ['private'])).toMatchObject({ kind: 'deferred', code: '4.4.4' })
  expect(withoutAddress('d.test', ['a.d.test', 'b.d.test'], ['none', 'temporary'])).toMatchObject({ code: '4.4.3' })
  expect(withoutAddress(null, ['relay.test'], ['none'])).toMatchObject({ kind: 'deferred', code: '4.4.4' })
})
