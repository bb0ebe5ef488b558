import { expect, test } from 'bun:test'
import { createReplyAddresses, routeEndOf } from './reply-address.ts'

const addresses = createReplyAddresses(Buffer.from('a secret of the house'))
const DELIVERY = 'dlv_01jd5xk3m9q8r7t6v5w4z3y2x1'
const ROUTE = 'rte_01jd5xk3m9abcdefghjkmnpqrs'
const ORGANIZATION = 'org_01jd5xk3m9zzzzzzzzzzzzzzzz'
const local = addresses.encode(DELIVERY, ROUTE, ORGANIZATION)

test('a delivery and a route round-trip through at most 64 octets in any letter case', () => {
  expect(local).toMatch(/^reply\+[0-9a-hjkmnp-tv-z]{46}$/)
  expect(local.length).toBeLessThanOrEqual(64)
  const target = { deliveryId: DELIVERY, routeEnd: routeEndOf(ROUTE) }
  for (const written of [local, local.toUpperCase(), local.replace('reply', 'Reply')])
    expect(addresses.decode(written, ORGANIZATION)).toEqual(target)
})

test('an address is valid for no other organization and under no other secret', () => {
  expect(addresses.decode(local, ORGANIZATION.replace(/z$/, 'y'))).toBeNull()
  expect(addresses.decode(local, '')).toBeNull()
  expect(createReplyAddresses(Buffer.from('another')).decode(local, ORGANIZATION)).toBeNull()
})

test('an address with one other character is invalid', () => {
  for (let at = 0; at < local.length; at++) {
    const other = local[at] === '2' ? '3' : '2'
    expect(addresses.decode(local.slice(0, at) + other + local.slice(at + 1), ORGANIZATION)).toBeNull()
  }
})

test('decoding refuses what has another form', () => {
  const others = [
    '',
    'reply',
    'reply+',
    `${local}x`,
    ` ${local}`,
    `${local}\n`,
    local.slice(0, -1),
    `"${local}"`,
    'reply+ſ',
  ]
  for (const text of others) expect(addresses.decode(text, ORGANIZATION)).toBeNull()
})

test('an address names neither the whole route nor the organization', () => {
  expect(local).not.toContain(ROUTE.slice(4))
  expect(local).not.toContain(ORGANIZATION.slice(4))
})

test('encoding refuses invalid IDs', () => {
  for (const [delivery, route] of [
    ['', ROUTE],
    [DELIVERY.replace('dlv', 'msg'), ROUTE],
    [`${DELIVERY}0`, ROUTE],
    [DELIVERY, ROUTE.toUpperCase()],
    [DELIVERY, 'rte_'],
  ] as const)
    expect(() => addresses.encode(delivery, route, ORGANIZATION)).toThrow('invalid IDs')
})
