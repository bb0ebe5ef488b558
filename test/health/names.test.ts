import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { HOSTNAME, IPV4, IPV6, startWorld, type TestWorld } from './setup.ts'

/** DNS records of the machine and of the sending domains. */
let world: TestWorld
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.stop())

describe('hostname', () => {
  test('that leads to an address of this machine passes', async () => {
    const found = await world.check('hostname')
    expect(found).toEqual({
      name: 'hostname',
      status: 'pass',
      message: `${HOSTNAME} resolves to ${IPV4}`,
      advice: null,
    })
  })

  test('without an address, or with a foreign one, fails and says which to publish', async () => {
    world.zone.set(HOSTNAME, 'A', ['11.0.0.1'])
    const foreign = await world.check('hostname')
    expect(foreign).toMatchObject({
      status: 'fail',
      message: `${HOSTNAME} resolves to 11.0.0.1, but 11.0.0.1 is not this machine`,
    })
    expect(foreign.advice).toContain(IPV4)
    world.zone.remove(HOSTNAME)
    expect(await world.check('hostname')).toMatchObject({
      status: 'fail',
      message: `${HOSTNAME} has no address in DNS`,
    })
  })

  test('behind NAT with a public address may be right: this machine cannot verify it', async () => {
    const behindNat = { ownAddresses: () => ['10.0.0.5'] }
    const found = await world.check('hostname', { world: behindNat })
    expect(found).toMatchObject({ status: 'warn' })
    expect(found.message).toContain('10.0.0.5')
    world.zone.set(HOSTNAME, 'A', ['10.0.0.9'])
    expect(await world.check('hostname', { world: behindNat })).toMatchObject({ status: 'fail' })
  })

  test('with a DNS failure is not a fault of the name', async () => {
    for (const name of [HOSTNAME, 'gmail.com']) world.zone.fail(name, 'SERVFAIL')
    expect(await world.check('hostname')).toMatchObject({ status: 'skip' })
    expect(await world.check('reverse_dns_ipv4')).toMatchObject({ status: 'skip' })
  })
})

describe('reverse DNS', () => {
  test('agrees, differs but leads back, leads elsewhere, or is missing', async () => {
    const status = async () => (await world.check('reverse_dns_ipv4')).status
    expect(await status()).toBe('pass')
    const name = 'vps44.hosting.example'
    world.zone.set('44.33.22.11.in-addr.arpa', 'PTR', [name])
    expect(await status()).toBe('fail')
    world.zone.set(name, 'A', [IPV4])
    expect(await status()).toBe('warn')
    world.zone.remove('44.33.22.11.in-addr.arpa')
    const missing = await world.check('reverse_dns_ipv4')
    expect(missing).toMatchObject({ status: 'fail', message: `${IPV4} has no reverse DNS (PTR)` })
    expect(missing.advice).toContain(HOSTNAME)
  })

  test('for an IPv6 address without a name advises to set it, or to send by IPv4 only', async () => {
    const both = { ownAddresses: () => [IPV4, IPV6] }
    const found = await world.check('reverse_dns_ipv6', { world: both })
    expect(found.status).toBe('fail')
    expect(found.advice).toContain('source_address')
    const bound = { installation: { sourceAddress: IPV4 }, world: both }
    expect(await world.check('reverse_dns_ipv6', bound)).toMatchObject({ status: 'skip' })
    expect(await world.check('reverse_dns_ipv6')).toMatchObject({ status: 'skip' })
  })

  test('is skipped behind a smarthost, as are all checks of our address', async () => {
    const installation = { smarthost: { host: 'smtp.example', port: 587 } }
    expect(await world.check('reverse_dns_ipv4', { installation })).toMatchObject({ status: 'skip' })
    expect(await world.check('blocklists', { installation })).toMatchObject({ status: 'skip' })
    expect(await world.check('outbound_port_25', { installation })).toMatchObject({ status: 'skip' })
  })
})

describe('blocklists', () => {
  const list = (zone: string, codes: string[], labels = '44.33.22.11') =>
    world.zone.set(`${labels}.${zone}`, 'A', codes)

  test('an address on none of them passes, and each list is asked with the address reversed', async () => {
    expect(await world.check('blocklists')).toMatchObject({ status: 'pass' })
    const asked = world.zone.queries.map(({ name }) => name)
    for (const zone of ['zen.spamhaus.org', 'bl.spamcop.net', 'b.barracudacentral.org']) {
      expect(asked).toContain(`44.33.22.11.${zone}`)
    }
  })

  test('a listing fails on a widely used list, and warns on others', async () => {
    list('bl.spamcop.net', ['127.0.0.2'])
    expect(await world.check('blocklists')).toMatchObject({
      status: 'warn',
      message: `${IPV4} is listed on bl.spamcop.net`,
    })
    list('zen.spamhaus.org', ['127.0.0.3', '127.0.0.10'])
    const found = await world.check('blocklists')
    expect(found.status).toBe('fail')
    expect(found.advice).toContain('Find and stop the cause')
  })

  test('a listed network is distinguished: its advice is to remove the single address', async () => {
    list('zen.spamhaus.org', ['127.0.0.11'])
    expect((await world.check('blocklists')).advice).toContain('PBL')
  })

  test('a refused query is never a listing: codes for public resolvers, silence, and sold names', async () => {
    list('zen.spamhaus.org', ['127.255.255.254'])
    const partly = await world.check('blocklists')
    expect(partly.status).toBe('pass')
    expect(partly.message).toContain('zen.spamhaus.org to these name servers')
    list('bl.spamcop.net', ['93.184.216.34'])
    world.zone.fail('44.33.22.11.b.barracudacentral.org', 'REFUSED')
    world.zone.fail('44.33.22.11.bl.spamcop.net', 'timeout')
    const found = await world.check('blocklists', { world: { resolver: world.impatient } })
    expect(found).toMatchObject({ status: 'skip' })
  })

  test('IPv6 addresses are looked up by nibbles', async () => {
    const nibbles = `4.4${'.0'.repeat(26)}.0.0.6.2`
    list('zen.spamhaus.org', ['127.0.0.2'], nibbles)
    const found = await world.check('blocklists', { world: { ownAddresses: () => [IPV6] } })
    expect(found).toMatchObject({ status: 'fail', message: `${IPV6} is listed on zen.spamhaus.org` })
  })
})

describe('records that domains publish already', () => {
  const spf = 'sender.example'
  const ours = 'bounces.sender.example'

  test('the SPF record of the domain is kept; two of them are one too many', async () => {
    expect(await world.check('spf')).toMatchObject({ status: 'pass' })
    world.zone.set(spf, 'TXT', ['v=spf1 include:_spf.office.example -all', 'google-site-verification=1'])
    expect((await world.check('spf')).message).toContain('can stay')
    world.zone.set(spf, 'TXT', ['v=spf1 include:_spf.office.example -all', 'v=spf1 ip4:11.0.0.0/8 ~all'])
    expect(await world.check('spf')).toMatchObject({
      status: 'warn',
      advice: 'Merge them into one: v=spf1 include:_spf.office.example ip4:11.0.0.0/8 -all',
    })
  })

  test('two SPF records at the return path are merged into one that permits us', async () => {
    world.zone.set(ours, 'TXT', ['v=spf1 include:other.example ?all', `v=spf1 a:${HOSTNAME} ~all`])
    expect(await world.check('spf')).toMatchObject({
      status: 'fail',
      advice: `Merge them into one: v=spf1 a:${HOSTNAME} include:other.example ?all`,
    })
  })

  test('any DMARC policy is kept, also of the parent domain; none, two and an invalid one are reported', async () => {
    const dmarc = async (name = spf) => {
      const domains = [{ name, returnPathHost: `bounces.${name}` }]
      return world.check('dmarc', { installation: { domains } })
    }
    expect((await dmarc()).message).toContain('p=reject')
    expect((await dmarc(`news.${spf}`)).message).toContain('p=reject')
    world.zone.set(`_dmarc.${spf}`, 'TXT', ['v=DMARC1; p=none', 'v=DMARC1; p=reject'])
    expect((await dmarc()).message).toContain('2 DMARC records')
    world.zone.set(`_dmarc.${spf}`, 'TXT', ['v=DMARC1; rua=mailto:x@sender.example'])
    expect((await dmarc()).message).toContain('has no policy')
    world.zone.remove(`_dmarc.${spf}`)
    expect(await dmarc()).toMatchObject({
      status: 'warn',
      advice: `Publish the TXT record _dmarc.${spf}: v=DMARC1; p=none`,
    })
  })
})

describe('name servers', () => {
  let silent: TestWorld
  beforeAll(async () => {
    silent = await startWorld()
    for (const name of [HOSTNAME, 'gmail.com']) silent.zone.fail(name, 'SERVFAIL')
  })
  afterAll(() => silent.stop())

  test('validate, validate remotely, do not validate, or do not answer', async () => {
    const status = async (change = {}) => (await world.check('name_servers', { world: change })).status
    expect(await status()).toBe('pass')
    expect(await status({ isTrusted: () => false })).toBe('warn')
    expect(await status({ validates: async () => false })).toBe('warn')
    expect(await silent.check('name_servers')).toMatchObject({ status: 'fail' })
    expect(await silent.check('clock')).toMatchObject({ status: 'skip', message: 'DNS does not respond' })
  })

  test('are asked only about our own names without outside checks', async () => {
    const inside = { world: { looksOutside: false } }
    for (const name of ['name_servers', 'hostname', 'reverse_dns_ipv4', 'outbound_port_25', 'blocklists', 'clock']) {
      await world.check(name, inside)
    }
    const asked = new Set(world.zone.queries.map(({ name }) => name))
    expect([...asked].toSorted()).toEqual(['44.33.22.11.in-addr.arpa', HOSTNAME])
  })
})
