import { expect, test } from 'bun:test'
import { createConnectionCount } from './connections.ts'

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
