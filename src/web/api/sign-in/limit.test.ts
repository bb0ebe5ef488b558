import { expect, test } from 'bun:test'
import { createSignInLimit } from './limit.ts'

const tries = async (limit: ReturnType<typeof createSignInLimit>, address: string, now = 0) => {
  for (let count = 0; ; count++) if ((await limit.take({ kind: 'link', address }, now)) > 0) return count
}

test('an address has ten attempts, and one more every six seconds', async () => {
  const limit = createSignInLimit()
  expect(await tries(limit, '192.0.2.1')).toBe(10)
  expect(await limit.take({ kind: 'link', address: '192.0.2.1' }, 0)).toBe(6)
  expect(await tries(limit, '192.0.2.1', 6_000)).toBe(1)
  expect(await tries(limit, '192.0.2.1', 3_600_000)).toBe(10)
})

test('addresses of one IPv6 /64 share a limit, and so do unknown addresses', async () => {
  const limit = createSignInLimit()
  expect(await tries(limit, '2001:db8:1:2::1')).toBe(10)
  expect(await tries(limit, '2001:db8:1:2:ffff::9')).toBe(0)
  expect(await tries(limit, '2001:db8:1:3::1')).toBe(10)
  expect(await tries(limit, '')).toBe(10)
  expect(await tries(limit, '')).toBe(0)
})

// threat: sign-in-guessing
test('strangers who use up the attempts of an account stop neither others nor a browser that was there before', async () => {
  const limit = createSignInLimit()
  const attempt = (at: number, change: object = {}) =>
    limit.take({ kind: 'password', address: `198.51.${at}.1`, account: 'ann@a.example', ...change }, 0)
  for (let at = 0; at < 100; at++) await attempt(at)
  expect(await attempt(200)).toBe(6)
  expect(await attempt(201, { account: 'bob@a.example' })).toBe(0)
  for (let at = 0; at < 10; at++) expect(await attempt(210 + at, { isKnown: true })).toBe(0)
  expect(await attempt(230, { isKnown: true })).toBe(6)
})

test('an account has ten password attempts a minute from all addresses, also one that does not exist', async () => {
  const limit = createSignInLimit()
  const attempt = (at: number, account: string) =>
    limit.take({ kind: 'password', address: `198.51.100.${at}`, account }, 0)
  for (let at = 0; at < 10; at++) expect(await attempt(at, 'ann@a.example')).toBe(0)
  expect(await attempt(20, 'Ann@A.example')).toBe(6)
  expect(await attempt(20, 'bob@a.example')).toBe(0)
})

test('a refused attempt does not count', async () => {
  const limit = createSignInLimit()
  await tries(limit, '192.0.2.1')
  for (let i = 0; i < 100; i++) await limit.take({ kind: 'link', address: '192.0.2.1' }, 1_000)
  expect(await limit.take({ kind: 'link', address: '192.0.2.1' }, 6_000)).toBe(0)
})
