import { expect, test } from 'bun:test'
import type { Domain, Finding } from '../model/domain.ts'
import { newDomain } from './keys.ts'
import { GRACE_MS, type Look, nextLookAt, ownershipAfter, ownershipDetail, ownershipValue } from './ownership.ts'

const NOW = Date.UTC(2026, 10, 21)
const HOUR = 3_600_000
const domain = (change: Partial<Domain> = {}): Domain => ({
  ...newDomain({ id: 'dom_1', organizationId: 'org_1', name: 'a.example' }, 0, []),
  ...change,
})
const owned = (provedBy: 'dkim' | 'txt', missingSince: number | null = null, change: Partial<Domain> = {}) =>
  domain({ status: 'verified', verifiedAt: 1, provedBy, missingSince, ...change })
const look = (dkim: Look['dkim'], txt: Look['txt'], isMismatch = false): Look => ({ dkim, txt, isMismatch })
const after = (before: Domain, seen: Look, now = NOW) => {
  const { status, provedBy, missingSince, reason } = ownershipAfter(before, seen, now)
  return [status, provedBy, missingSince, reason]
}

test('each claim has a record of its own', () => {
  expect(ownershipValue('dom_1')).toMatch(/^postrider-verify=[0-9a-f]{32}$/)
  expect(ownershipValue('dom_2')).not.toBe(ownershipValue('dom_1'))
})

test('either record proves a claim, and a DNS failure proves nothing', () => {
  expect(after(domain(), look('seen', 'gone'))).toEqual(['verified', 'dkim', null, null])
  expect(after(domain(), look('unknown', 'seen'))).toEqual(['verified', 'txt', null, null])
  expect(after(domain(), look('unknown', 'gone'))).toEqual(['pending', null, null, null])
  expect(after(domain(), look('gone', 'unknown', true))).toEqual(['pending', null, null, null])
  expect(after(domain(), look('gone', 'gone', true))).toEqual(['failed', null, null, 'mismatch'])
  expect(after(domain({ status: 'failed', reason: 'mismatch' }), look('gone', 'gone'))).toEqual([
    'pending',
    null,
    null,
    null,
  ])
})

test('a proved name stays owned for seven days after its proof is first missing, and during DNS failures', () => {
  const since = NOW - GRACE_MS
  expect(after(owned('dkim'), look('gone', 'gone'))).toEqual(['verified', 'dkim', NOW, null])
  expect(after(owned('dkim', since + 1), look('gone', 'gone'))).toEqual(['verified', 'dkim', since + 1, null])
  expect(after(owned('dkim', since), look('gone', 'gone'))).toEqual(['failed', null, since, 'proof_lost'])
  expect(after(owned('txt', since), look('gone', 'gone'))).toEqual(['failed', null, since, 'proof_lost'])
  for (const silent of [look('unknown', 'gone'), look('unknown', 'unknown'), look('gone', 'unknown')]) {
    expect(after(owned('dkim', since), silent)).toEqual(['verified', 'dkim', since, null])
    expect(after(owned('txt', since), silent)).toEqual(['verified', 'txt', since, null])
  }
  expect(after(owned('dkim', since), look('seen', 'gone'))).toEqual(['verified', 'dkim', null, null])
  // A clock that was set back ends nothing.
  expect(after(owned('dkim', NOW + GRACE_MS), look('gone', 'gone'))[0]).toBe('verified')
})

test('a name stays owned by its ownership record alone, with its own seven days', () => {
  const since = NOW - GRACE_MS
  expect(after(owned('dkim', since), look('gone', 'seen'))).toEqual(['verified', 'txt', null, null])
  const wasThere: Finding = { purpose: 'ownership', type: 'TXT', name: 'x', status: 'valid', found: [] }
  expect(after(owned('dkim', since, { findings: [wasThere] }), look('gone', 'gone'))).toEqual([
    'verified',
    'txt',
    NOW,
    null,
  ])
})

test('a lost name is owned again when its proof returns', () => {
  const lost = domain({ status: 'failed', verifiedAt: 1, missingSince: 2, reason: 'proof_lost' })
  expect(after(lost, look('gone', 'gone'))).toEqual(['failed', null, 2, 'proof_lost'])
  expect(after(lost, look('gone', 'seen'))).toEqual(['verified', 'txt', null, null])
})

test('checks an owned name daily, a missing proof hourly and an old claim never', () => {
  const at = (state: Partial<Domain>, isUncertain = false) => {
    const { status, provedBy, missingSince, reason } = domain(state)
    const next = nextLookAt(
      { id: 'dom_1', createdAt: 0, dkim: [] },
      { status, provedBy, missingSince, reason, isUncertain },
      NOW,
    )
    return next === null ? null : (next - NOW) / HOUR
  }
  expect(at({ status: 'verified', provedBy: 'dkim' })).toBeWithin(20, 24.01)
  expect(at({ status: 'verified', provedBy: 'dkim', missingSince: 1 })).toBeWithin(0.8, 1.01)
  expect(at({ status: 'verified', provedBy: 'dkim' }, true)).toBeWithin(0.8, 1.01)
  expect(at({ status: 'failed', reason: 'proof_lost' })).toBeWithin(5, 6.01)
  for (const state of [
    {},
    { status: 'failed', reason: 'claimed' },
    { status: 'failed', reason: 'mismatch' },
  ] as const) {
    expect(at(state)).toBeNull()
  }
})

test('the detail names no other organization', () => {
  expect(ownershipDetail(owned('dkim'))).toBeNull()
  expect(ownershipDetail(owned('dkim', NOW))).toBe(
    'A DKIM record has been missing from DNS since 2026-11-21T00:00:00.000Z. Publish it before 2026-11-28T00:00:00.000Z, or the domain fails.',
  )
  expect(ownershipDetail(domain({ status: 'failed', reason: 'claimed' }))).toBe(
    'Another organization has verified this domain or a host under it.',
  )
})
