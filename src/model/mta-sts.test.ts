import { expect, test } from 'bun:test'
import { policyAt } from './mta-sts.ts'

test('a stored policy applies until it expires', () => {
  const policy = { mode: 'enforce' as const, mx: ['mx.example.com'], maxAgeSeconds: 60 }
  const kept = { domain: 'example.com', policyId: '1', policy, expiresAt: 60_000, refreshAt: 30_000, usedAt: 0 }
  expect(policyAt(kept, 59_999)).toBe(policy)
  expect(policyAt(kept, 60_000)).toBeNull()
  expect(policyAt(null, 0)).toBeNull()
})
