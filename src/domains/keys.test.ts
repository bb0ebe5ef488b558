import { expect, test } from 'bun:test'
import type { DkimState, Domain } from '../model/domain.ts'
import { endedSelectors, newDomain } from './keys.ts'

const DAY = 86_400_000

function domainWith(states: DkimState[], verifiedAt: number | null): Domain {
  const keys = states.map((state, n) => ({
    selector: `s${n}`,
    algorithm: 'rsa-sha256' as const,
    state,
    publicKey: '',
    privateKeyPem: '',
    createdAt: n,
  }))
  return { ...newDomain({ id: 'dom_1', organizationId: 'org_1', name: 'a.example' }, 0, keys), verifiedAt }
}

test('ends retiring keys seven days after the present keys were first seen', () => {
  const domain = domainWith(['retiring', 'retiring', 'active', 'pending'], DAY)
  expect(endedSelectors(domain, 8 * DAY - 1)).toEqual([])
  expect(endedSelectors(domain, 8 * DAY)).toEqual(['s0', 's1'])
})

test('ends no keys while none was ever seen or none retires', () => {
  expect(endedSelectors(domainWith(['retiring'], null), 100 * DAY)).toEqual([])
  expect(endedSelectors(domainWith(['active', 'pending'], 0), 100 * DAY)).toEqual([])
})
