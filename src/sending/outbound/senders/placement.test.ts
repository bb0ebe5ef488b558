import { expect, test } from 'bun:test'
import { queueOf, SANDBOX } from '../../../model/delivery.ts'
import { publishedPlacement, readPlacement } from './placement.ts'
import type { ConfiguredAddress } from './pools.ts'

const OWNER = 'org_aaaaaaaa11111111'
const address = (text: string, node: string | null, pool = 'default'): ConfiguredAddress => ({
  address: text,
  hostname: null,
  pool,
  node,
})
const STREAMS = { transactional: { pool: '' }, bulk: { pool: 'bulk' } }
const placementOf = (addresses: ConfiguredAddress[], own: string[] = []) => {
  const text = publishedPlacement({ addresses, streams: STREAMS })
  return text === null ? null : readPlacement(text, () => own)
}
/** Names of the nodes that send the mail; null: any. */
const nodesOf = (addresses: ConfiguredAddress[], sender: Parameters<typeof queueOf>[2] = {}, own: string[] = []) => {
  const placement = placementOf(addresses, own)
  const group = placement?.groupOf(queueOf('a.test', OWNER, sender)) ?? null
  return group === null ? null : placement!.groups[group]
}

const ALL = [
  address('192.0.2.1', 'two'),
  address('192.0.2.2', 'one'),
  address('192.0.2.3', 'two', 'bulk'),
  address('192.0.2.4', null, 'shared'),
  address('192.0.2.5', 'three', 'shared'),
  address('192.0.2.6', 'one', 'dedicated'),
  address('2001:db8::6', 'three', 'dedicated'),
]

test('mail belongs to the nodes that have an address of its pool, and to any where every node has one', () => {
  expect(nodesOf(ALL)).toEqual(['one', 'two'])
  expect(nodesOf(ALL, { stream: 'bulk' })).toEqual(['two'])
  expect(nodesOf(ALL, { pool: 'shared' })).toBeNull()
  expect(placementOf(ALL)?.groupOf(queueOf(SANDBOX, OWNER))).toBeNull()
})

// threat: dedicated-address-of-another-organization
test('mail of an organization belongs to the node of its own address, IPv4 first', () => {
  expect(nodesOf(ALL, {}, ['192.0.2.6'])).toEqual(['one'])
  expect(nodesOf(ALL, {}, ['2001:db8::6'])).toEqual(['three'])
  expect(nodesOf(ALL, {}, ['2001:db8::6', '192.0.2.6'])).toEqual(['one'])
  expect(nodesOf(ALL, {}, ['192.0.2.1'])).toEqual(['one', 'two'])
})

test('groups do not depend on the order in a config, and there are none without nodes', () => {
  expect(placementOf([...ALL].reverse())?.groups).toEqual(placementOf(ALL)!.groups)
  expect(placementOf([address('192.0.2.1', null)])).toBeNull()
})

test.each([
  '',
  '{',
  'null',
  '[]',
  '{"addresses":[]}',
  '{"addresses":{},"streams":{}}',
  '{"addresses":[null],"streams":{}}',
  '{"addresses":[],"streams":{"a":1}}',
])('the unknown text %j is no placement', (text) => {
  expect(readPlacement(text, () => [])).toBeNull()
})
