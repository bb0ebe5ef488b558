import { describe, expect, test } from 'bun:test'
import type { Resolver } from '../net/dns/resolver.ts'
import { type Sender, spfAllows } from './spf.ts'

const SENDER: Sender = { hostname: 'mail.sender.test', addresses: ['192.0.2.7', '2001:db8::7'] }

/** A resolver with these records, and the names looked up so far. */
function zone(records: Record<string, string[] | 'temporary'>) {
  const asked: string[] = []
  const lookup =
    <T>(type: string, make: (text: string) => T) =>
    async (name: string) => {
      asked.push(`${type} ${name}`)
      const found = records[`${type} ${name}`]
      if (found === 'temporary') return { kind: 'temporary', detail: 'SERVFAIL' }
      return found === undefined ? { kind: 'none' } : { kind: 'records', records: found.map(make), ttl: 60 }
    }
  const resolver = {
    a: lookup('A', (ip) => ip),
    mx: lookup('MX', (exchange) => ({ exchange, preference: 10 })),
    txt: lookup('TXT', (text) => text),
  } as unknown as Resolver
  return { asked, verdict: (record: string, sender = SENDER) => spfAllows(record, 'shop.test', sender, resolver) }
}

describe('an SPF record', () => {
  test.each([
    ['v=spf1 a:web.shop.test -all', 'yes', 'an a: host with an address of the sender'],
    ['v=spf1 a:other.shop.test -all', 'no', 'an a: host with other addresses'],
    ['v=spf1 a -all', 'no', 'the domain itself without the address'],
    ['v=spf1 a:mail.sender.test -all', 'yes', 'the host name of the sender'],
    ['v=spf1 mx -all', 'yes', 'an MX record with the host name of the sender'],
    ['v=spf1 mx:other.shop.test -all', 'no', 'an MX record with another host'],
    ['v=spf1 -a:web.shop.test ~mx ?all', 'no', 'only terms that do not pass'],
    ['v=spf1 ip4:192.0.2.0/29 -all', 'yes', 'a network with an address of the sender'],
    ['v=spf1 ip4:192.0.2.8/29 -all', 'no', 'the network beside it'],
    ['v=spf1 ip6:2001:db8::/32 -all', 'yes', 'an IPv6 network with an address of the sender'],
    ['v=spf1 include:_spf.shop.test -all', 'yes', 'an included record that passes'],
    ['v=spf1 redirect=_spf.shop.test', 'yes', 'a redirect to a record that passes'],
    ['v=spf1 include:down.shop.test -all', 'unknown', 'an included record that DNS cannot read'],
    ['v=spf1 a:down.shop.test -all', 'unknown', 'a host that DNS cannot read'],
  ])('%s gives %s: %s', async (record, verdict) => {
    const { verdict: verdictOf } = zone({
      'A shop.test': ['198.51.100.1'],
      'A web.shop.test': ['198.51.100.1', '192.0.2.7'],
      'A other.shop.test': ['198.51.100.2'],
      'A down.shop.test': 'temporary',
      'MX shop.test': ['MX1.else.test', 'MAIL.sender.test.'],
      'MX other.shop.test': ['mx1.else.test'],
      'TXT _spf.shop.test': ['google-site-verification=1', 'v=spf1 ip4:192.0.2.7 -all'],
      'TXT down.shop.test': 'temporary',
    })
    expect(await verdictOf(record)).toBe(verdict as 'yes')
  })

  test('is unknown where the sender’s addresses are unknown', async () => {
    const { verdict } = zone({ 'A web.shop.test': ['192.0.2.7'] })
    const sender = { ...SENDER, addresses: null }
    expect(await verdict('v=spf1 a:web.shop.test -all', sender)).toBe('unknown')
    expect(await verdict('v=spf1 ip4:192.0.2.7 -all', sender)).toBe('unknown')
  })

  test('covers a single address by its addresses, not by the name of the server', async () => {
    const { verdict } = zone({ 'A mail.sender.test': ['192.0.2.9'], 'MX shop.test': ['mail.sender.test'] })
    const only = (address: string) => ({ ...SENDER, addresses: [address], isOnly: true })
    expect(await verdict('v=spf1 a:mail.sender.test -all', only('192.0.2.7'))).toBe('no')
    expect(await verdict('v=spf1 a:mail.sender.test -all', only('192.0.2.9'))).toBe('yes')
    expect(await verdict('v=spf1 mx -all', only('192.0.2.7'))).toBe('no')
    expect(await verdict('v=spf1 ip4:192.0.2.7 -all', only('192.0.2.7'))).toBe('yes')
  })

  test('is evaluated with at most ten lookups, as receivers do', async () => {
    const hosts = (count: number) => Array.from({ length: count }, (_, n) => `a:h${n}.shop.test`).join(' ')
    const found = zone({ 'A web.shop.test': ['192.0.2.7'] })
    expect(await found.verdict(`v=spf1 ${hosts(9)} a:web.shop.test -all`)).toBe('yes')
    const beyond = zone({ 'A web.shop.test': ['192.0.2.7'], 'MX shop.test': ['mail.sender.test'] })
    expect(await beyond.verdict(`v=spf1 ${hosts(10)} a:web.shop.test mx include:web.shop.test -all`)).toBe('no')
    expect(beyond.asked).toHaveLength(10)
    const loop = zone({ 'TXT shop.test': ['v=spf1 include:shop.test -all'] })
    expect(await loop.verdict('v=spf1 include:shop.test -all')).toBe('no')
    expect(loop.asked).toHaveLength(10)
  })
})
