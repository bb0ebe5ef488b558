import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { createAuthoritativeResolver } from '../../src/net/dns/authoritative.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'

describe('a resolver that asks authoritative servers', () => {
  /** A caching resolver, and the present content of the zone. */
  let memory: Zone
  let authority: Zone
  let resolver: Resolver
  let mayAsk: (ip: string) => boolean

  beforeEach(async () => {
    mayAsk = () => true
    memory = await startZone([
      { name: 'acme.example', type: 'NS', data: 'ns.hoster.example' },
      { name: 'ns.hoster.example', type: 'A', data: '127.0.0.1' },
      { name: 'other.example', type: 'TXT', data: 'remembered' },
    ])
    authority = await startZone([{ name: 'key._domainkey.acme.example', type: 'TXT', data: 'fresh' }])
    const deps = { clock: systemClock, random: systemRandom }
    const base = createResolver({ ...deps, servers: [memory.address], maxCacheEntries: 0, timeoutMs: TEST_LIMIT_MS })
    const port = Number(authority.address.split(':')[1])
    resolver = createAuthoritativeResolver({ ...deps, base, port, mayAsk: (ip) => mayAsk(ip) })
  })
  afterEach(async () => {
    resolver.close()
    await memory.stop()
    await authority.stop()
  })

  const txt = async (name: string) => {
    const lookup = await resolver.txt(name)
    return lookup.kind === 'records' ? lookup.records : lookup.kind
  }

  test('sees records that were published or removed a moment ago', async () => {
    expect(await txt('key._domainkey.acme.example')).toEqual(['fresh'])
    authority.set('key._domainkey.acme.example', 'TXT', ['fresher'])
    expect(await txt('key._domainkey.acme.example')).toEqual(['fresher'])
    authority.remove('key._domainkey.acme.example')
    memory.set('key._domainkey.acme.example', 'TXT', ['fresh'])
    expect(await txt('key._domainkey.acme.example')).toBe('nxdomain')
  })

  // threat: internal-addresses-by-dns-checks
  test('asks the fallback resolver where no authoritative server is known, allowed or answers', async () => {
    expect(await txt('other.example')).toEqual(['remembered'])
    memory.set('b.acme.example', 'TXT', ['remembered'])
    authority.fail('b.acme.example', 'REFUSED')
    expect(await txt('b.acme.example')).toEqual(['remembered'])
    mayAsk = () => false
    memory.set('c.acme.example', 'TXT', ['remembered'])
    authority.set('c.acme.example', 'TXT', ['fresh'])
    expect(await txt('c.acme.example')).toEqual(['remembered'])
  })

  test('follows an alias into another zone', async () => {
    authority.set('d.acme.example', 'CNAME', ['other.example'])
    memory.set('d.acme.example', 'CNAME', ['other.example'])
    expect(await txt('d.acme.example')).toEqual(['remembered'])
    expect(await resolver.cname('d.acme.example')).toMatchObject({ records: ['other.example'] })
  })
})
