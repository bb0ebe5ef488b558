import { expect, test } from 'bun:test'
import type { Relay } from '../relays/relay.ts'
import { relayPeer } from './peer.ts'

const SMARTHOST: Relay = {
  name: 'smarthost',
  host: 'relay.test',
  port: 587,
  tls: 'starttls',
  isTlsRequired: false,
  login: { user: 'shop', password: 's3cret' },
  pins: [],
  destination: 'relay.test',
  maxConnections: 0,
  maxMailsPerMinute: 0,
}
const at = (address: string, more: Partial<Relay> = {}) =>
  relayPeer({ ...SMARTHOST, ...more }, address, { demand: 'none' })

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
  expect(at('10.0.0.5', { login: null }).demand).toBe('none')
})

// threat: smarthost-password
test('a relay gets nothing without TLS unless it is configured, and a password elsewhere only if it is verified', () => {
  const required = { isTlsRequired: true }
  expect(at('127.0.0.1', required).demand).toBe('encrypted')
  expect(at('10.0.0.5', { ...required, login: null }).demand).toBe('encrypted')
  expect(at('10.0.0.5', required).demand).toBe('verified')
  expect(at('10.0.0.5', { tls: 'never', login: null })).toMatchObject({ tls: 'never', demand: 'none' })
})

test('requires a pinned certificate everywhere, also on this machine and without a login', () => {
  const pins = ['ab'.repeat(32)]
  for (const address of ['127.0.0.1', '10.0.0.5', '192.0.2.1']) {
    const peer = at(address, { pins })
    expect(peer.demand).toBe('verified')
    expect(peer.tlsa).toMatchObject([
      { usage: 3, selector: 0, matchingType: 1 },
      { usage: 3, selector: 1, matchingType: 1 },
    ])
  }
})
