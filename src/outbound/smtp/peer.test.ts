import { expect, test } from 'bun:test'
import { peerOf } from './peer.ts'

const smarthost = { host: 'relay.test', port: 587, implicitTls: false, user: 'shop', password: 's3cret' }
const settings = { smarthost, deliveryPort: 25, sourceAddress: null }
const at = (address: string, more = {}) => peerOf('relay.test', address, { demand: 'none' }, { ...settings, ...more })

// threat: smarthost-password
test('sends a password to a private address only over verified TLS, and to this machine without', () => {
  for (const address of [
    '10.0.0.5',
    '192.168.1.2',
    '172.16.0.1',
    '100.64.0.1',
    '169.254.1.1',
    'fd00::1',
    'fe80::1',
    '192.0.2.1',
    '::ffff:10.0.0.1',
  ]) {
    expect([address, at(address).demand]).toEqual([address, 'verified'])
  }
  for (const address of ['127.0.0.1', '127.8.8.8', '::1'])
    expect([address, at(address).demand]).toEqual([address, 'none'])
  const nameless = { ...smarthost, user: null, password: null }
  expect(at('10.0.0.5', { smarthost: nameless }).demand).toBe('none')
})

test('requires a pinned certificate everywhere, also on this machine and without a login', () => {
  const smarthostPins = ['ab'.repeat(32)]
  for (const address of ['127.0.0.1', '10.0.0.5', '192.0.2.1']) {
    const peer = at(address, { smarthostPins })
    expect(peer.demand).toBe('verified')
    expect(peer.tlsa).toMatchObject([
      { usage: 3, selector: 0, matchingType: 1 },
      { usage: 3, selector: 1, matchingType: 1 },
    ])
  }
})
