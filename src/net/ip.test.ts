import { describe, expect, test } from 'bun:test'
import {
  canonicalIp,
  canonicalNetwork,
  clientOf,
  createAddressGuard,
  createNetworks,
  isIpLiteral,
  isNetworkWithin,
  isPublicUnicast,
  networkOf,
  parseHostPort,
} from './ip.ts'

describe('public unicast', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.0.1',
    '223.255.255.254',
    '2606:4700:4700::1111',
    '2a00:1450:4001::5',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::8.8.8.8',
  ])('%s is public', (ip) => {
    expect(isPublicUnicast(ip)).toBe(true)
  })

  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.254',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1', // IPv4-compatible, retired
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:0:127.0.0.1', // RFC 6145
    '64:ff9b::10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::8.8.8.8', // local-use NAT64, RFC 8215
    '100::1',
    '2001::1', // Teredo
    '2001:0:7f00:1::80ff:fffe',
    '2001:db8::1',
    '3fff::1',
    '2001:20::1',
    '2002:7f00:1::1', // 6to4
    '2002:a00:1::',
    '2002:808:808::1',
    '2a00:1450:4001::5efe:10.0.0.1', // ISATAP
    '2a00:1450:4001:0:200:5efe:a00:1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1%eth0',
    'fec0::1',
    'ff02::1',
    '5f00::1',
    '4000::1', // not assigned by IANA
    '127.1',
    '0177.0.0.1',
    '0x7f000001',
    '2130706433',
    'localhost',
    '',
    '1.1.1.1 ',
    '[2606:4700::1]',
  ])('%p is not public', (ip) => {
    expect(isPublicUnicast(ip)).toBe(false)
  })
})

describe('address guard', () => {
  // threat: webhook-private-addresses
  test('without allowed networks only public addresses pass', () => {
    const mayConnect = createAddressGuard([])
    expect(mayConnect('8.8.8.8')).toBe(true)
    expect(mayConnect('127.0.0.1')).toBe(false)
    expect(mayConnect('no address')).toBe(false)
  })

  test('an allowed network permits exactly itself, also in its IPv4-mapped form', () => {
    const mayConnect = createAddressGuard(['127.0.0.0/8', 'fd00::/8'])
    expect(mayConnect('127.0.0.1')).toBe(true)
    expect(mayConnect('::ffff:127.0.0.1')).toBe(true)
    expect(mayConnect('fd12::1')).toBe(true)
    expect(mayConnect('10.0.0.1')).toBe(false)
    expect(mayConnect('::1')).toBe(false)
    expect(mayConnect('fe80::1')).toBe(false)
  })

  test('a mapped network can be allowed as written', () => {
    expect(createAddressGuard(['::ffff:0:0/96'])('::ffff:10.0.0.1')).toBe(true)
  })

  test.each(['10.0.0.1', '10.0.0.0/33', '10.0.0.0/-1', '10/8', 'fd00::/129', 'all', '', '10.0.0.0/8/8', '10.0.0.0/'])(
    '%p is refused as a network',
    (cidr) => {
      expect(() => createAddressGuard([cidr])).toThrow('not a network in CIDR form')
    },
  )
})

test('shorthand forms are not addresses', () => {
  expect(['127.0.0.1', '::1', 'fe80::1'].map(isIpLiteral)).toEqual([true, true, true])
  expect(['127.1', '2130706433', '0x7f.1', 'localhost', ''].map(isIpLiteral)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ])
})

test('host and port are split, and half a pair is null', () => {
  expect(parseHostPort('127.0.0.1:25')).toEqual({ host: '127.0.0.1', port: 25 })
  expect(parseHostPort('[::1]:0')).toEqual({ host: '::1', port: 0 })
  expect(parseHostPort('mx.example:65535')).toEqual({ host: 'mx.example', port: 65535 })
  for (const bad of ['::1:25', '[::1]', '[mx]:25', 'mx.example', ':25', 'mx:', 'mx:65536', 'mx:2a', 'm x:25', '']) {
    expect(parseHostPort(bad)).toBeNull()
  }
})

test('each address is written in one form', () => {
  for (const [text, canonical] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0::0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['localhost', null],
    ['127.1', null],
    ['', null],
  ] as const) {
    expect(canonicalIp(text)).toBe(canonical)
  }
})

test('networks contain their addresses, mapped ones too, and no others', () => {
  const isWithin = createNetworks(['10.0.0.0/8', '2001:db8::/32'])
  for (const ip of ['10.9.9.9', '::ffff:10.1.1.1', '2001:db8::1']) expect(isWithin(ip)).toBe(true)
  for (const ip of ['11.0.0.1', '2001:db9::1', '::1', '', 'x']) expect(isWithin(ip)).toBe(false)
  expect(createNetworks([])('10.0.0.1')).toBe(false)
  expect(() => createNetworks(['10.0.0.0'])).toThrow(/CIDR/)
})

test.each([
  ['192.0.2.77', '192.0.2.77/32'],
  ['192.0.2.77/24', '192.0.2.0/24'],
  ['192.0.2.77/27', '192.0.2.64/27'],
  ['10.255.255.255/9', '10.128.0.0/9'],
  ['10.1.2.3/0', '0.0.0.0/0'],
  ['2001:DB8:0::1', '2001:db8::1/128'],
  ['2001:db8:1:2ff::1/57', '2001:db8:1:280::/57'],
  ['::ffff:192.0.2.77', '192.0.2.77/32'],
  ['::ffff:192.0.2.77/120', '192.0.2.0/24'],
  ['::ffff:0:0/96', '0.0.0.0/0'],
  ['::ffff:0:0/95', '::fffe:0:0/95'],
  ['192.0.2.0/33', null],
  ['2001:db8::/129', null],
  ['example.com', null],
  ['', null],
])('the canonical form of the network %p is %p', (text, expected) => {
  expect(canonicalNetwork(text)).toBe(expected)
})

test('a network is within another one of its family that is as large or larger', () => {
  const cases = [
    ['192.0.2.0/24', '192.0.2.0/24', true],
    ['192.0.2.64/27', '192.0.2.0/24', true],
    ['192.0.2.0/23', '192.0.2.0/24', false],
    ['192.0.3.0/24', '192.0.2.0/24', false],
    ['2001:db8:1::/48', '2001:db8::/32', true],
    ['192.0.2.0/24', '::/0', false],
  ] as const
  for (const [inner, outer, expected] of cases)
    expect([inner, outer, isNetworkWithin(inner, outer)]).toEqual([inner, outer, expected])
  expect(() => isNetworkWithin('192.0.2.0', '192.0.2.0/24')).toThrow(/CIDR/)
})

test('the network of a sender is the /24 of an IPv4 address and the /56 of an IPv6 one', () => {
  expect(networkOf('192.0.2.77')).toBe('192.0.2.0/24')
  expect(networkOf('::ffff:192.0.2.77')).toBe('192.0.2.0/24')
  expect(networkOf('2001:db8:1:2ff:3::4')).toBe('2001:db8:1:200::/56')
  expect(networkOf('somewhere')).toBe('somewhere')
})

test('an IPv6 client is its /64', () => {
  expect(clientOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
  expect(clientOf('2001:db8:1:2::1')).toBe('2001:db8:1:2')
  expect(clientOf('2001:db8:1:3::1')).toBe('2001:db8:1:3')
  expect(clientOf('fe80::1%eth0')).toBe('fe80:0:0:0')
  expect(clientOf('::ffff:c000:0201')).toBe('192.0.2.1')
  expect(clientOf('')).toBe('')
})
