import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { reverseName } from '../../src/net/dns/reverse-name.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { createAddressCounters, hourOf } from '../../src/sending/outbound/senders/address-counters.ts'
import type { Store } from '../../src/storage/store.ts'
import { sendingAddressOperations } from '../../src/web/api/routes/sending-addresses.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'

let zone: Zone
let resolver: Resolver
let api: TestApi
let operator: Record<string, string>
beforeAll(async () => {
  zone = await startZone()
  zone.set(reverseName('127.0.0.2'), 'PTR', ['out2.example.com'])
  zone.set('out2.example.com', 'A', ['127.0.0.2'])
  zone.set(reverseName('127.0.0.3'), 'PTR', ['elsewhere.example'])
  zone.set('3.0.0.127.zen.spamhaus.org', 'A', ['127.0.0.2'])
  const clock = systemClock
  resolver = createResolver({ servers: [zone.address], trustedServers: [], clock, random: systemRandom })
  const addresses = [
    { address: '127.0.0.2', hostname: 'out2.example.com', pool: 'dedicated', node: null, warmup: null },
    { address: '127.0.0.3', hostname: 'out3.example.com', pool: 'default', node: 'two', warmup: null },
  ]
  const uses = () => [{ address: '127.0.0.3', attempts: 7, delivered: 5 }]
  const countersOf = (store: Store) => createAddressCounters({ store, clock: { now: () => START }, uses })
  api = await createTestApi({
    operations: ({ store }) =>
      sendingAddressOperations({ store, addresses, resolver, looksOutside: true, counters: countersOf(store) }),
  })
  operator = { ...(await api.signIn()), 'x-operator': '1' }
  await api.store.dedicatedAddresses.assign('127.0.0.2', api.own.organization.id, START)
  const hour = hourOf(START)
  await api.store.addressUses.add(hour - 23, [{ address: '127.0.0.3', attempts: 2, delivered: 1 }])
  await api.store.addressUses.add(hour - 24, [{ address: '127.0.0.3', attempts: 50, delivered: 50 }])
  const rest = { address: '127.0.0.3', rule: 'block-list', times: 1, since: START, until: START + 60_000 }
  await api.store.addressRests.change(
    [
      { ...rest, destination: 'google.com' },
      { ...rest, destination: 'over.example', until: START },
    ],
    [],
  )
})
afterAll(async () => {
  await api.close()
  resolver.close()
  await zone.stop()
})

test('each address has its DNS, organization, use and rests', async () => {
  const { body } = await api.ask('GET', '/v1/sending-addresses', { key: null, headers: operator })
  expect(body.data).toEqual([
    {
      address: '127.0.0.2',
      hostname: 'out2.example.com',
      pool: 'dedicated',
      node: null,
      organization_id: api.own.organization.id,
      ptr: 'out2.example.com',
      forward_confirmed: true,
      blocklists: [],
      attempts: 0,
      delivered: 0,
      resting: [],
      warmup: null,
    },
    {
      address: '127.0.0.3',
      hostname: 'out3.example.com',
      pool: 'default',
      node: 'two',
      organization_id: null,
      ptr: 'elsewhere.example',
      forward_confirmed: false,
      blocklists: ['zen.spamhaus.org'],
      attempts: 9,
      delivered: 6,
      resting: [{ site: 'google.com', because: 'block-list', until: new Date(START + 60_000).toISOString() }],
      warmup: null,
    },
  ])
})

// threat: dedicated-address-of-another-organization
test('is for the operator only', async () => {
  const { status } = await api.ask('GET', '/v1/sending-addresses', { key: api.own.keys.admin })
  expect(status).toBe(403)
})
