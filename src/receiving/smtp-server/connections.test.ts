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

test('counts connections in total and by client, and closing twice counts once', () => {
  const { tryOpen, total } = count({ connections: 3, connectionsPerAddress: 2 })
  const first = tryOpen('192.0.2.1') as { close: () => void }
  expect(tryOpen('::ffff:192.0.2.1')).toHaveProperty('close') // the same client
  expect(tryOpen('192.0.2.1')).toEqual({ full: 'address' })
  expect(tryOpen('192.0.2.2')).toHaveProperty('close')
  expect(tryOpen('192.0.2.3')).toEqual({ full: 'all' })
  first.close()
  first.close()
  expect(total()).toBe(2)
  expect(tryOpen('192.0.2.1')).toHaveProperty('close')
  expect(tryOpen('192.0.2.1')).toEqual({ full: 'address' })
})

// threat: smtp-connections-of-one-network
test('addresses of one network share its limit unless the operator exempts it', () => {
  const { tryOpen, ofNetwork } = count({
    connectionsPerNetwork: 2,
    isUnlimited: (address) => address.startsWith('10.'),
  })
  for (const address of ['192.0.2.1', '192.0.2.2']) expect(tryOpen(address)).toHaveProperty('close')
  expect(tryOpen('192.0.2.3')).toEqual({ full: 'network' })
  expect(tryOpen('198.51.100.1')).toHaveProperty('close')
  for (const address of ['2001:db8:0:100::1', '2001:db8:0:1ff::1']) expect(tryOpen(address)).toHaveProperty('close')
  expect(tryOpen('2001:db8:0:155::9')).toEqual({ full: 'network' })
  expect(tryOpen('2001:db8:0:200::1')).toHaveProperty('close')
  for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) expect(tryOpen(address)).toHaveProperty('close')
  expect(ofNetwork('10.0.0.9')).toBe(3)
})
