import { expect, test } from 'bun:test'
import { createInlineBudget } from '../fan-out-targets.ts'
import { PendingFanOuts } from './pending-fan-outs.ts'

test('organizations take turns until they have nothing more', () => {
  const pending = new PendingFanOuts()
  pending.fill(['org_a', 'org_b'])
  const turns: string[] = []
  for (let next = pending.next(); next !== null; next = pending.next()) {
    turns.push(next.organizationId)
    pending.looked(next, turns.length < 3)
  }
  expect(turns).toEqual(['org_a', 'org_b', 'org_a', 'org_b'])
})

test('an organization that queues events while its last ones are written stays', () => {
  const pending = new PendingFanOuts()
  pending.queued('org_a')
  const turn = pending.next()!
  pending.queued('org_a')
  pending.looked(turn, false)
  expect(pending.has('org_a')).toBe(true)
  pending.looked(pending.next()!, false)
  expect(pending.has('org_a')).toBe(false)
})

test('after deliveries that do not fit into a transaction, no others of the organization do', () => {
  const budget = createInlineBudget()
  expect(budget.takes('org_a', 200)).toBe(true)
  expect(budget.takes('org_a', 100)).toBe(false)
  expect(budget.takes('org_a', 10)).toBe(false)
  expect(budget.takes('org_b', 10)).toBe(true)
  budget.begin()
  expect(budget.takes('org_a', 10)).toBe(true)
})
