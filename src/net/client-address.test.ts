import { expect, test } from 'bun:test'
import { createClientAddress } from './client-address.ts'
import { createNetworks } from './ip.ts'

const clientAddress = createClientAddress(createNetworks(['127.0.0.0/8', '::1/128', '10.1.0.0/16']))

test.each([
  ['192.0.2.1', null, '192.0.2.1', 'no proxy'],
  ['192.0.2.1', '198.51.100.7', '192.0.2.1', 'a header from an untrusted peer'],
  ['127.0.0.1', '198.51.100.7', '198.51.100.7', 'our proxy names whom it saw'],
  ['::ffff:127.0.0.1', '198.51.100.7', '198.51.100.7', 'IPv4 in IPv6'],
  ['::1', ' 2001:DB8::0:7 ', '2001:db8::7', 'an IPv6 client'],
  ['127.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7', 'what the client wrote before is not believed'],
  ['127.0.0.1', '198.51.100.7, 10.1.2.3', '198.51.100.7', 'two proxies of ours'],
  ['127.0.0.1', '203.0.113.9, 198.51.100.7, 10.1.2.3, 127.0.0.9', '198.51.100.7', 'three'],
  ['127.0.0.1', '198.51.100.7:1234', '198.51.100.7', 'with its port'],
  ['127.0.0.1', '[2001:db8::7]:1234', '2001:db8::7', 'with its port, IPv6'],
  ['127.0.0.1', 'unknown', '127.0.0.1', 'no address'],
  ['127.0.0.1', '198.51.100.7, <script>', '127.0.0.1', 'no address behind one'],
  ['127.0.0.1', '', '127.0.0.1', 'an empty header'],
  ['127.0.0.1', '10.1.0.1', '10.1.0.1', 'only proxies'],
  ['127.0.0.1', null, '127.0.0.1', 'a local client'],
  [null, '198.51.100.7', '', 'no connection'],
])('%p with %p is %p: %s', (peer, forwardedFor, expected) => {
  expect(clientAddress(peer, forwardedFor)).toBe(expected)
})
