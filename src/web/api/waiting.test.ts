import { expect, test } from 'bun:test'
import { createWaiting, preferredWaitMs } from './waiting.ts'

const LIMITS = { perKey: 2, perOrganization: 3, inAll: 5, organizationBytes: 100, allBytes: 300 }
const of = (keyId: string, organizationId = 'org_a') => ({ keyId, organizationId })

test('a key, an organization and the server have a limit; a request that ends frees its slot once', () => {
  const waiting = createWaiting(LIMITS)
  const first = waiting.begin(of('k1'), 1)!
  expect(waiting.begin(of('k1'), 1)).not.toBeNull()
  expect(waiting.begin(of('k1'), 1)).toBeNull()
  expect(waiting.begin(of('k2'), 1)).not.toBeNull()
  expect(waiting.begin(of('k3'), 1)).toBeNull()
  expect(waiting.begin(of('k4', 'org_b'), 1)).not.toBeNull()
  expect(waiting.begin(of('k5', 'org_c'), 1)).not.toBeNull()
  expect(waiting.begin(of('k6', 'org_d'), 1)).toBeNull()
  first()
  first()
  expect(waiting.underWay()).toBe(4)
  expect(waiting.begin(of('k6', 'org_d'), 1)).not.toBeNull()
  expect(waiting.begin(of('k1'), 1)).toBeNull()
})

test('an organization and the server have a limit of bytes', () => {
  const waiting = createWaiting({ ...LIMITS, allBytes: 250 })
  expect(waiting.begin(of('k1'), 101)).toBeNull()
  const large = waiting.begin(of('k1'), 100)!
  expect(waiting.begin(of('k1'), 1)).toBeNull()
  expect(waiting.begin(of('k2', 'org_b'), 90)).not.toBeNull()
  expect(waiting.begin(of('k2', 'org_b'), 11)).toBeNull()
  expect(waiting.begin(of('k3', 'org_c'), 61)).toBeNull()
  large()
  expect(waiting.begin(of('k3', 'org_c'), 61)).not.toBeNull()
})

const CASES: [string, number | null][] = [
  ['wait=1', 1000],
  ['wait=30', 30_000],
  ['wait=31', 30_000],
  ['wait=999999999', 30_000],
  ['WAIT = 5', 5000],
  ['wait="5"', 5000],
  ['respond-async, wait=10', 10_000],
  ['return=minimal; wait=10', 10_000],
  ['wait=0', null],
  ['wait=-1', null],
  ['wait=1.5', null],
  ['wait=', null],
  ['wait', null],
  ['wait=ten', null],
  ['await=5', null],
  ['', null],
]

test.each(CASES)('Prefer: %s waits %p ms', (prefer, waitMs) => {
  expect(preferredWaitMs(new Headers({ prefer }))).toBe(waitMs)
})

test('a request without Prefer does not wait', () => {
  expect(preferredWaitMs(new Headers())).toBeNull()
})
