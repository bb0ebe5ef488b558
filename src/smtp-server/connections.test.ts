import { expect, test } from 'bun:test'
import { type ConnectionLimits, createConnectionCount } from './connections.ts'

const count = (change: Partial<ConnectionLimits> = {}) =>
  createConnectionCount({
    connections: 100,
    connectionsPerAddress: 100,
    connectionsPerNetwork: 100,
    isUnlimited: () => false,
    ...change,
  })

test('connections are counted in all and by client, and leaving twice counts once', () => {
  const { enter, total } = count({ connections: 3, connectionsPerAddress: 2 })
  const first = enter('192.0.2.1') as { leave: () => void }
  expect(enter('::ffff:192.0.2.1')).toHaveProperty('leave') // the same client
  expect(enter('192.0.2.1')).toEqual({ full: 'address' })
  expect(enter('192.0.2.2')).toHaveProperty('leave')
  expect(enter('192.0.2.3')).toEqual({ full: 'all' })
  first.leave()
  first.leave()
  expect(total()).toBe(2)
  expect(enter('192.0.2.1')).toHaveProperty('leave')
  expect(enter('192.0.2.1')).toEqual({ full: 'address' })
})

// threat: smtp-connections-of-one-network
test('the addresses of one network share its limit, unless the operator trusts it', () => {
  const { enter, ofNetwork } = count({ connectionsPerNetwork: 2, isUnlimited: (address) => address.startsWith('10.') })
  for (const address of ['192.0.2.1', '192.0.2.2']) expect(enter(address)).toHaveProperty('leave')
  expect(enter('192.0.2.3')).toEqual({ full: 'network' })
  expect(enter('198.51.100.1')).toHaveProperty('leave')
  for (const address of ['2001:db8:0:100::1', '2001:db8:0:1ff::1']) expect(enter(address)).toHaveProperty('leave')
  expect(enter('2001:db8:0:155::9')).toEqual({ full: 'network' })
  expect(enter('2001:db8:0:200::1')).toHaveProperty('leave')
  for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) expect(enter(address)).toHaveProperty('leave')
  expect(ofNetwork('10.0.0.9')).toBe(3)
})
