import { expect, test } from 'bun:test'
import { clientOf, createConnectionCount } from './connections.ts'

test('connections are counted in all and by client, and leaving twice counts once', () => {
  const count = createConnectionCount({ connections: 3, connectionsPerAddress: 2 })
  const first = count.enter('192.0.2.1')!
  expect(count.enter('::ffff:192.0.2.1')).not.toBeNull() // the same client
  expect(count.enter('192.0.2.1')).toBeNull()
  expect(count.enter('192.0.2.2')).not.toBeNull()
  expect(count.enter('192.0.2.3')).toBeNull() // three in all
  first()
  first()
  expect(count.total()).toBe(2)
  expect(count.enter('192.0.2.1')).not.toBeNull()
  expect(count.enter('192.0.2.1')).toBeNull()
})

test('an IPv6 client is its /64', () => {
  expect(clientOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
  expect(clientOf('2001:db8:1:2::1')).toBe('2001:db8:1:2')
  expect(clientOf('2001:db8:1:3::1')).toBe('2001:db8:1:3')
  expect(clientOf('fe80::1%eth0')).toBe('fe80:0:0:0')
  expect(clientOf('::ffff:c000:0201')).toBe('192.0.2.1')
  expect(clientOf('')).toBe('')
})
