import { describe, expect, test } from 'bun:test'
import { WARMUP_PLANS as MODEL_PLANS } from '../model/warmup-plan.ts'
import { WARMUP_PLANS } from './kinds.ts'
import { formatFaults, readConfig } from './load.ts'

const HOST = 'hostname = "mail.example.com"\n'
const ADDRESS = '[[sending.addresses]]\naddress = "192.0.2.1"\n'

const read = (text: string, env: Record<string, string> = {}) =>
  readConfig({ text: HOST + text, file: 'config.toml', env })
const faultsOf = (text: string, env: Record<string, string> = {}) => formatFaults(read(text, env).faults ?? [])
const sendingOf = (text: string, env: Record<string, string> = {}) => {
  const { config, faults } = read(text, env)
  if (config === undefined) throw new Error(formatFaults(faults))
  return config.sending
}

describe('sending addresses', () => {
  test('there are none by default, and two streams', () => {
    const { addresses, assignments, streams } = sendingOf('')
    expect({ addresses, assignments }).toEqual({ addresses: [], assignments: [] })
    expect(streams.transactional).toEqual({ pool: '', unsubscribe: false })
    expect(streams.bulk).toEqual({ pool: '', unsubscribe: true })
  })

  test('have a pool, a host name and a node, and IPv6 in its shortest form', () => {
    const text = `${ADDRESS}
[[sending.addresses]]
address = "2001:DB8:0:0::7"
hostname = "Out7.example.com"
pool = "bulk"
node = "two"
[sending.streams.newsletter]
pool = "bulk"
[[sending.assignments]]
pool = "bulk"
organization = "org_0123456789abcdef"
domain = "Example.ORG"
`
    const { addresses, streams, assignments } = sendingOf(text)
    expect(addresses).toEqual([
      { address: '192.0.2.1', hostname: null, pool: 'default', node: null, warmup: null },
      { address: '2001:db8::7', hostname: 'out7.example.com', pool: 'bulk', node: 'two', warmup: null },
    ])
    expect(streams.newsletter).toEqual({ pool: 'bulk', unsubscribe: false })
    expect(assignments).toEqual([{ pool: 'bulk', organization: 'org_0123456789abcdef', domain: 'example.org' }])
  })

  test('have a warm-up with a start and a plan, as a table or on the line', () => {
    const inline = `${ADDRESS}warmup = { started_on = "2026-11-24" }\n`
    expect(sendingOf(inline).addresses[0]?.warmup).toEqual({ startedOn: '2026-11-24', plan: 'standard' })
    const table = `${ADDRESS}[sending.addresses.warmup]\nstarted_on = "2024-02-29"\nplan = "slow"\n`
    expect(sendingOf(table).addresses[0]?.warmup).toEqual({ startedOn: '2024-02-29', plan: 'slow' })
    const expected = 'config.toml:4: sending.addresses.0.warmup: expected a table such as { started_on'
    for (const wrong of ['"standard"', '{ started_on = "2026-02-29" }', '{ plan = "standard" }', 'true', '{}']) {
      expect(faultsOf(`${ADDRESS}warmup = ${wrong}\n`)).toStartWith(expected)
    }
    const plan = '{ started_on = "2026-11-24", plan = "fast" }'
    expect(faultsOf(`${ADDRESS}warmup = ${plan}\n`)).toContain('with a plan of standard, slow, found')
  })

  test('have the plans that there are', () => {
    expect(WARMUP_PLANS).toEqual(MODEL_PLANS)
  })

  test('have no warm-up for an IPv6 address beside IPv4, which goes first', () => {
    const ipv6 = '[[sending.addresses]]\naddress = "2001:db8::7"\nwarmup = { started_on = "2026-11-24" }\n'
    expect(faultsOf(`${ADDRESS}${ipv6}`)).toContain('expected no warmup of 2001:db8::7')
    expect(sendingOf(ipv6).addresses).toHaveLength(1)
    const elsewhere = `${ADDRESS}node = "one"\n${ipv6}node = "two"\n`
    expect(sendingOf(elsewhere).addresses).toHaveLength(2)
  })

  test('come from the environment as JSON', () => {
    const env = { POSTRIDER_SENDING_ADDRESSES: '[{"address": "192.0.2.9"}]' }
    expect(sendingOf('', env).addresses.map(({ address }) => address)).toEqual(['192.0.2.9'])
    expect(faultsOf('', { POSTRIDER_SENDING_ADDRESSES: '192.0.2.9' })).toStartWith(
      'environment: POSTRIDER_SENDING_ADDRESSES: expected tables with address',
    )
  })

  test('every fault names file, line, table and key', () => {
    const text = `${ADDRESS}
[[sending.addresses]]
address = "192.0.2.300"
hostnam = "out.example.com"

[[sending.addresses]]
pool = "Wrong Name"
`
    expect(faultsOf(text).split('\n')).toEqual([
      'config.toml:6: sending.addresses.1.address: expected an IP address of this machine, each only once, found "192.0.2.300"',
      'config.toml:7: sending.addresses.1.hostnam: unknown key. Known: address, hostname, pool, node, warmup',
      'config.toml:9: sending.addresses.2.address: expected an IP address of this machine, each only once, but it is missing',
      'config.toml:10: sending.addresses.2.pool: expected a name of at most 32 lowercase letters, digits, "-" and "_", found "Wrong Name"',
    ])
  })

  test('an address stands there once, in whatever notation', () => {
    const text = '[[sending.addresses]]\naddress = "::1"\n[[sending.addresses]]\naddress = "0:0::0:1"\n'
    expect(faultsOf(text)).toBe(
      'config.toml:5: sending.addresses.1.address: expected an IP address of this machine, each only once, found "0:0::0:1"',
    )
  })

  test('need a default pool, and neither a source address nor a smarthost', () => {
    expect(faultsOf('[[sending.addresses]]\naddress = "192.0.2.1"\npool = "bulk"\n')).toContain(
      'expected at least one of [[sending.addresses]] in the pool "default"',
    )
    expect(faultsOf(`${ADDRESS}[delivery]\nsource_address = "192.0.2.1"\n`)).toContain('found both')
    expect(faultsOf(`${ADDRESS}[delivery]\nsmarthost = "smtp://relay.example.com"\n`)).toContain('delivery.smarthost')
  })

  test('a pool that is named exists, and is not the one of dedicated addresses', () => {
    const dedicated = `${ADDRESS}[[sending.addresses]]\naddress = "192.0.2.2"\npool = "dedicated"\n`
    expect(faultsOf('[sending.streams.bulk]\npool = "bulk"\n')).toBe(
      'config.toml:3: sending.streams.bulk.pool: expected the pool of one of [[sending.addresses]], found "bulk"',
    )
    const taken = `${dedicated}[[sending.assignments]]\npool = "dedicated"\ndomain = "example.org"\n`
    expect(faultsOf(taken)).toContain('whose addresses belong to one organization each')
    const streams = `${dedicated}[sending.streams.vip]\npool = "dedicated"\n`
    expect(faultsOf(streams)).toContain('whose addresses belong to one organization each')
  })

  test('an assignment names an organization by its ID, or a domain', () => {
    const assigned = (keys: string) => faultsOf(`${ADDRESS}[[sending.assignments]]\npool = "default"\n${keys}`)
    expect(assigned('domain = "example.org"\n')).toBe('')
    expect(assigned('')).toContain('sending.assignments.0.organization: expected the ID of an organization')
    expect(assigned('organization = "Acme"\n')).toContain('sending.assignments.0.organization')
  })

  test('a stream has a plain name', () => {
    expect(faultsOf('[sending.streams."a b"]\n')).toContain('lowercase letters')
  })

  test('only the plan pro has a dedicated address', () => {
    const { config } = read('')
    const plans = Object.entries(config?.plans ?? {}).filter(([, { dedicatedAddress }]) => dedicatedAddress)
    expect(plans.map(([name]) => name)).toEqual(['pro'])
  })
})
