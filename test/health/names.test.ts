import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { clearVerdicts, HOSTNAME, IPV4, IPV6, startTestMachine, type TestMachine, verdictTexts } from './setup.ts'

/** DNS records of the machine and of the sending domains. */
let machine: TestMachine
beforeAll(clearVerdicts)
beforeEach(async () => {
  machine = await startTestMachine()
})
afterEach(() => machine.stop())

describe('hostname', () => {
  test('that leads to an address of this machine passes', async () => {
    const found = await machine.check('hostname')
    expect(found).toEqual({
      name: 'hostname',
      status: 'pass',
      message: `${HOSTNAME} resolves to ${IPV4}`,
      advice: null,
    })
  })

  test('without an address, or with a foreign one, fails and says which to publish', async () => {
    machine.zone.set(HOSTNAME, 'A', ['11.0.0.1'])
    const foreign = await machine.check('hostname')
    expect(foreign).toMatchObject({
      status: 'fail',
      message: `${HOSTNAME} resolves to 11.0.0.1, but 11.0.0.1 is not this machine`,
    })
    expect(foreign.advice).toContain(IPV4)
    machine.zone.set(HOSTNAME, 'A', ['11.0.0.1', '11.0.0.2'])
    const two = 'but 11.0.0.1 and 11.0.0.2 are not this machine'
    expect((await machine.check('hostname')).message).toEndWith(two)
    machine.zone.remove(HOSTNAME)
    expect(await machine.check('hostname')).toMatchObject({
      status: 'fail',
      message: `${HOSTNAME} has no address in DNS`,
    })
  })

  test('behind NAT with a public address may be right: this machine cannot verify it', async () => {
    const behindNat = { ownAddresses: () => ['10.0.0.5'] }
    const found = await machine.check('hostname', { deps: behindNat })
    expect(found).toMatchObject({ status: 'warn' })
    expect(found.message).toContain('10.0.0.5')
    machine.zone.set(HOSTNAME, 'A', ['10.0.0.9'])
    expect(await machine.check('hostname', { deps: behindNat })).toMatchObject({ status: 'fail' })
  })

  test('with a DNS failure is not a fault of the name', async () => {
    for (const name of [HOSTNAME, 'gmail.com']) machine.zone.fail(name, 'SERVFAIL')
    expect(await machine.check('hostname')).toMatchObject({ status: 'skip' })
    expect(await machine.check('reverse_dns_ipv4')).toMatchObject({ status: 'skip' })
  })
})

describe('an AAAA record', () => {
  const listeners = [
    { key: 'http.listen', host: '127.0.0.1', port: 8025 },
    { key: 'http.listen_tls', host: '0.0.0.0', port: 443 },
    { key: 'smtp.inbound.listen', host: '11.22.33.44', port: 25 },
  ]
  const authority = { names: [HOSTNAME, 'api.sender.example'], held: null, trouble: null }
  const looked = (hosts = listeners) =>
    machine.check('ipv6_listeners', { installation: { listeners: hosts, authority } })

  test('without a listener on IPv6 warns, with the settings for both families', async () => {
    expect(await looked()).toMatchObject({ status: 'skip', message: `${HOSTNAME} has no AAAA record` })
    machine.zone.set('api.sender.example', 'AAAA', [IPV6])
    expect(await looked()).toMatchObject({
      status: 'warn',
      message: 'api.sender.example has an AAAA record, but http.listen_tls, smtp.inbound.listen accept IPv4 only',
      advice:
        'Set http.listen_tls = "[::]:443", smtp.inbound.listen = "[::]:25". Each then accepts both families. Or remove the AAAA record.',
    })
    machine.zone.set(HOSTNAME, 'AAAA', [IPV6])
    expect(await looked(listeners.map((each) => ({ ...each, host: '::' })))).toMatchObject({ status: 'pass' })
    for (const name of [HOSTNAME, 'gmail.com']) machine.zone.fail(name, 'SERVFAIL')
    expect(await looked()).toMatchObject({ status: 'skip' })
  })
})

describe('reverse DNS', () => {
  test('agrees, differs but leads back, leads elsewhere, or is missing', async () => {
    const status = async () => (await machine.check('reverse_dns_ipv4')).status
    expect(await status()).toBe('pass')
    const name = 'vps44.hosting.example'
    machine.zone.set('44.33.22.11.in-addr.arpa', 'PTR', [name])
    expect(await status()).toBe('fail')
    machine.zone.set(name, 'A', [IPV4])
    expect(await status()).toBe('warn')
    machine.zone.remove('44.33.22.11.in-addr.arpa')
    const missing = await machine.check('reverse_dns_ipv4')
    expect(missing).toMatchObject({ status: 'fail', message: `${IPV4} has no reverse DNS (PTR)` })
    expect(missing.advice).toContain(HOSTNAME)
  })

  test('for an IPv6 address without a name advises to set it, or to send by IPv4 only', async () => {
    const both = { ownAddresses: () => [IPV4, IPV6] }
    const found = await machine.check('reverse_dns_ipv6', { deps: both })
    expect(found.status).toBe('fail')
    expect(found.advice).toContain('source_address')
    const bound = { installation: { sourceAddress: IPV4 }, deps: both }
    expect(await machine.check('reverse_dns_ipv6', bound)).toMatchObject({ status: 'skip' })
    expect(await machine.check('reverse_dns_ipv6')).toMatchObject({ status: 'skip' })
  })

  test('is skipped behind a smarthost, as are all checks of our address', async () => {
    const installation = { smarthost: { host: 'smtp.example', port: 587 } }
    expect(await machine.check('reverse_dns_ipv4', { installation })).toMatchObject({ status: 'skip' })
    expect(await machine.check('blocklists', { installation })).toMatchObject({ status: 'skip' })
    expect(await machine.check('outbound_port_25', { installation })).toMatchObject({ status: 'skip' })
  })
})

describe('sending addresses', () => {
  const look = (sendingAddresses: { address: string; hostname: string }[], own: string[] = []) =>
    machine.check('sending_addresses', {
      installation: { sendingAddresses },
      deps: { ownAddresses: () => [...own, '192.0.2.1'] },
    })
  const out2 = { address: '127.0.0.2', hostname: 'out2.sender.test' }
  const out3 = { address: '127.0.0.3', hostname: 'out3.sender.test' }

  test('pass SPF at the return path, of both families', async () => {
    const v6 = { address: '2001:db8::2', hostname: 'out2.sender.test' }
    const checked = (sendingAddresses: { address: string; hostname: string }[], spf: string) => {
      machine.zone.set('bounces.sender.example', 'TXT', [spf])
      return machine.check('spf', { installation: { sendingAddresses } })
    }
    const both = 'v=spf1 ip4:127.0.0.0/24 ip6:2001:db8::2 ~all'
    expect(await checked([out2, v6], both)).toMatchObject({ status: 'pass' })
    expect(await checked([out2, v6], 'v=spf1 a:mail.sender.test ip4:127.0.0.2 ~all')).toMatchObject({
      status: 'fail',
      message: 'the SPF record of bounces.sender.example does not pass the sending address 2001:db8::2',
      advice: 'Add ip6:2001:db8::2 to it. Run `postrider dns check sender.example`.',
    })
    expect(await checked([out2, v6], 'v=spf1 a:mail.sender.test ~all')).toMatchObject({
      status: 'fail',
      advice: 'Add ip4:127.0.0.2 ip6:2001:db8::2 to it. Run `postrider dns check sender.example`.',
    })
    expect(await checked([out2], 'v=spf1 a:mail.sender.test ip6:2001:db8::2 ~all')).toMatchObject({ status: 'fail' })
    expect(await checked([], 'v=spf1 a:mail.sender.test ~all')).toMatchObject({ status: 'pass' })
  })

  test('are each on this machine, and resolve to their name and back', async () => {
    expect(await look([])).toMatchObject({ status: 'skip' })
    machine.zone.set('2.0.0.127.in-addr.arpa', 'PTR', ['out2.sender.test'])
    machine.zone.set('out2.sender.test', 'A', ['127.0.0.2'])
    expect(await look([out2])).toMatchObject({ status: 'pass' })
    expect(await look([out2, out3])).toMatchObject({ status: 'fail', message: '127.0.0.3 has no reverse DNS (PTR)' })
    machine.zone.set('3.0.0.127.in-addr.arpa', 'PTR', ['elsewhere.test'])
    const other = await look([out2, out3])
    expect(other).toMatchObject({ status: 'warn' })
    expect(other.advice).toContain('Set the reverse DNS (PTR) of 127.0.0.3 to out3.sender.test')
    const out4 = { address: '127.0.0.4', hostname: 'out4.sender.test' }
    expect(await look([out2, out3, out4])).toMatchObject({
      status: 'fail',
      message:
        '127.0.0.4 has no reverse DNS (PTR); 127.0.0.3 resolves to elsewhere.test, and out3.sender.test is not confirmed for it',
      advice: expect.stringMatching(/of 127\.0\.0\.4 to out4.*\n.*of 127\.0\.0\.3 to out3/),
    })
    machine.zone.fail('4.0.0.127.in-addr.arpa', 'SERVFAIL')
    expect(await look([out4])).toMatchObject({ status: 'skip' })
    const foreign = await look([{ address: '192.0.2.7', hostname: 'out7.sender.test' }])
    expect(foreign).toMatchObject({ status: 'fail', message: 'this machine does not have 192.0.2.7' })
    const ours = { installation: { sendingAddresses: [out2] } }
    expect(await machine.check('reverse_dns_ipv4', ours)).toMatchObject({ status: 'skip' })
  })
})

describe('blocklists', () => {
  const list = (zone: string, codes: string[], labels = '44.33.22.11') =>
    machine.zone.set(`${labels}.${zone}`, 'A', codes)

  test('an address on none of them passes, and each list is asked with the address reversed', async () => {
    expect(await machine.check('blocklists')).toMatchObject({ status: 'pass' })
    const asked = machine.zone.queries.map(({ name }) => name)
    for (const zone of ['zen.spamhaus.org', 'bl.spamcop.net', 'b.barracudacentral.org']) {
      expect(asked).toContain(`44.33.22.11.${zone}`)
    }
  })

  test('a listing fails on a widely used list, and warns on others', async () => {
    list('bl.spamcop.net', ['127.0.0.2'])
    expect(await machine.check('blocklists')).toMatchObject({
      status: 'warn',
      message: `${IPV4} is listed on bl.spamcop.net`,
    })
    list('zen.spamhaus.org', ['127.0.0.3', '127.0.0.10'])
    const found = await machine.check('blocklists')
    expect(found.status).toBe('fail')
    expect(found.advice).toContain('Find and stop the cause')
  })

  test('a listed network is distinguished: its advice is to remove the single address', async () => {
    list('zen.spamhaus.org', ['127.0.0.11'])
    expect((await machine.check('blocklists')).advice).toContain('PBL')
  })

  test('a refused query is never a listing: codes for public resolvers, silence, and sold names', async () => {
    list('zen.spamhaus.org', ['127.255.255.254'])
    const partly = await machine.check('blocklists')
    expect(partly.status).toBe('pass')
    expect(partly.message).toContain('zen.spamhaus.org to these name servers')
    list('bl.spamcop.net', ['93.184.216.34'])
    machine.zone.fail('44.33.22.11.b.barracudacentral.org', 'REFUSED')
    machine.zone.fail('44.33.22.11.bl.spamcop.net', 'timeout')
    const found = await machine.check('blocklists', { deps: { resolver: machine.impatient } })
    expect(found).toMatchObject({ status: 'skip' })
  })

  test('IPv6 addresses are looked up by nibbles', async () => {
    const nibbles = `4.4${'.0'.repeat(26)}.0.0.6.2`
    list('zen.spamhaus.org', ['127.0.0.2'], nibbles)
    const found = await machine.check('blocklists', { deps: { ownAddresses: () => [IPV6] } })
    expect(found).toMatchObject({ status: 'fail', message: `${IPV6} is listed on zen.spamhaus.org` })
  })
})

describe('records that domains publish already', () => {
  const spf = 'sender.example'
  const ours = 'bounces.sender.example'

  test('the SPF record of the domain is kept; two of them are one too many', async () => {
    expect(await machine.check('spf')).toMatchObject({ status: 'pass' })
    machine.zone.set(spf, 'TXT', ['v=spf1 include:_spf.office.example -all', 'google-site-verification=1'])
    expect((await machine.check('spf')).message).toContain('can stay')
    machine.zone.set(spf, 'TXT', ['v=spf1 include:_spf.office.example -all', 'v=spf1 ip4:11.0.0.0/8 ~all'])
    expect(await machine.check('spf')).toMatchObject({
      status: 'warn',
      advice: 'Merge them into one: v=spf1 include:_spf.office.example ip4:11.0.0.0/8 -all',
    })
  })

  test('two SPF records at the return path are merged into one that permits us', async () => {
    machine.zone.set(ours, 'TXT', ['v=spf1 include:other.example ?all', `v=spf1 a:${HOSTNAME} ~all`])
    expect(await machine.check('spf')).toMatchObject({
      status: 'fail',
      advice: `Merge them into one: v=spf1 a:${HOSTNAME} include:other.example ?all`,
    })
  })

  test('any DMARC policy is kept, also of the parent domain; none, two and an invalid one are reported', async () => {
    const dmarc = async (name = spf) => {
      const domains = [{ name, returnPathHost: `bounces.${name}` }]
      return machine.check('dmarc', { installation: { domains } })
    }
    expect((await dmarc()).message).toContain('p=reject')
    expect((await dmarc(`news.${spf}`)).message).toContain('p=reject')
    machine.zone.set(`_dmarc.${spf}`, 'TXT', ['v=DMARC1; p=none', 'v=DMARC1; p=reject'])
    expect((await dmarc()).message).toContain('2 DMARC records')
    machine.zone.set(`_dmarc.${spf}`, 'TXT', ['v=DMARC1; rua=mailto:x@sender.example'])
    expect((await dmarc()).message).toContain('has no policy')
    machine.zone.remove(`_dmarc.${spf}`)
    expect(await dmarc()).toMatchObject({
      status: 'warn',
      advice: `Publish the DMARC record that \`postrider dns show ${spf}\` prints. It also asks for reports.`,
    })
  })
})

describe('name servers', () => {
  let silent: TestMachine
  beforeAll(async () => {
    silent = await startTestMachine()
    for (const name of [HOSTNAME, 'gmail.com']) silent.zone.fail(name, 'SERVFAIL')
  })
  afterAll(() => silent.stop())

  test('validate, validate remotely, do not validate, or do not answer', async () => {
    const status = async (change = {}) => (await machine.check('name_servers', { deps: change })).status
    expect(await status()).toBe('pass')
    expect(await status({ isTrusted: () => false })).toBe('warn')
    expect(await status({ validates: async () => false })).toBe('warn')
    expect(await silent.check('name_servers')).toMatchObject({ status: 'fail' })
    expect(await silent.check('clock')).toMatchObject({ status: 'skip', message: 'DNS does not respond' })
  })

  test('are asked only about our own names without outside checks', async () => {
    const inside = { deps: { looksOutside: false } }
    for (const name of ['name_servers', 'hostname', 'reverse_dns_ipv4', 'outbound_port_25', 'blocklists', 'clock']) {
      await machine.check(name, inside)
    }
    const asked = new Set(machine.zone.queries.map(({ name }) => name))
    expect([...asked].toSorted()).toEqual(['44.33.22.11.in-addr.arpa', HOSTNAME])
  })
})

test('messages state what was found, and advice what to do', () => {
  expect(verdictTexts()).toMatchSnapshot()
})
