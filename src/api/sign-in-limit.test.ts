import { expect, test } from 'bun:test'
import { createSignInLimit } from './sign-in-limit.ts'

const tries = (limit: ReturnType<typeof createSignInLimit>, address: string, now = 0) => {
  for (let count = 0; ; count++) if (limit.take('link', address, now) > 0) return count
}

test('an address has ten attempts, and one more every six seconds', () => {
  const limit = createSignInLimit()
  expect(tries(limit, '192.0.2.1')).toBe(10)
  expect(limit.take('link', '192.0.2.1', 0)).toBe(6)
  expect(tries(limit, '192.0.2.1', 6_000)).toBe(1)
  expect(tries(limit, '192.0.2.1', 3_600_000)).toBe(10)
})

test('addresses of one IPv6 /64 share a limit, and so do unknown addresses', () => {
  const limit = createSignInLimit()
  expect(tries(limit, '2001:db8:1:2::1')).toBe(10)
  expect(tries(limit, '2001:db8:1:2:ffff::9')).toBe(0)
  expect(tries(limit, '2001:db8:1:3::1')).toBe(10)
  expect(tries(limit, '')).toBe(10)
  expect(tries(limit, '')).toBe(0)
})

// threat: sign-in-guessing
test('all addresses together have thirty password attempts a minute, and links still work', () => {
  const limit = createSignInLimit()
  const address = (at: number) => `198.51.100.${at}`
  for (let at = 0; at < 30; at++) expect(limit.take('password', address(at), 0)).toBe(0)
  expect(limit.take('password', address(99), 0)).toBe(2)
  expect(limit.take('link', address(99), 0)).toBe(0)
  expect(limit.take('password', address(99), 2_000)).toBe(0)
})

test('a refused attempt does not count', () => {
  const limit = createSignInLimit()
  tries(limit, '192.0.2.1')
  for (let i = 0; i < 100; i++) limit.take('link', '192.0.2.1', 1_000)
  expect(limit.take('link', '192.0.2.1', 6_000)).toBe(0)
})
