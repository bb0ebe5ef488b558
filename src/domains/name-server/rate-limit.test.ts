import { expect, test } from 'bun:test'
import { systemRandom } from '../../os/random.ts'
import { createRateLimit, networkHash } from './rate-limit.ts'

test('a network gets its rate, a burst of a second, and above it every second response truncated', () => {
  let now = 1_000_000
  const permit = createRateLimit({ perSecond: 100, now: () => now, random: systemRandom })
  const taken = (count: number, address = '192.0.2.1') => Array.from({ length: count }, () => permit(address))
  const numberOf = (results: string[], what: string) => results.filter((each) => each === what).length
  expect(numberOf(taken(100), 'answer')).toBe(100)
  const above = taken(100)
  expect([numberOf(above, 'answer'), numberOf(above, 'slip'), numberOf(above, 'drop')]).toEqual([0, 50, 50])
  now += 100
  expect(numberOf(taken(30), 'answer')).toBe(10)
  now += 60_000
  expect(numberOf(taken(200, '192.0.2.200'), 'answer')).toBe(100)
  expect(permit('198.51.100.1')).toBe('answer')
})

test('0 limits nothing', () => {
  const permit = createRateLimit({ perSecond: 0, now: () => 0, random: systemRandom })
  expect(new Set(Array.from({ length: 10_000 }, () => permit('192.0.2.1')))).toEqual(new Set(['answer']))
})

test.each([
  ['192.0.2.1', '192.0.2.255', true],
  ['192.0.2.1', '192.0.3.1', false],
  ['192.0.2.1', '::ffff:192.0.2.7', true],
  ['2001:db8:1:2::1', '2001:db8:1:ff::', true],
  ['2001:db8:1:200::1', '2001:db8:1:2ff::', true],
  ['2001:db8:1:200::1', '2001:db8:1:300::', false],
  ['2001:db8::1', '2001:db8:0:0:0:0:9:9', true],
  ['2001:db8::1', '2001:db8:0:100::', false],
  ['::1', '::2', true],
  ['fe80::1%eth0', 'fe80::2%eth0', true],
])('%s and %s are one network: %p', (one, other, isSame) => {
  expect(networkHash(one, 7) === networkHash(other, 7)).toBe(isSame)
})
