import { expect, test } from 'bun:test'
import { createOrganizationLimits } from '../../src/events/webhooks/organization-limits.ts'
import { createConcurrencyLimiter } from '../../src/net/limiters/concurrency.ts'
import { createAllocation } from '../../src/storage/allocation.ts'

/** Endpoints `a1`, `a2`, ... of the organization `a`; those with a `q` are quick. */
function limitsOf(total: number, perKey = 10) {
  const time = { now: 1_000_000 }
  const slots = createConcurrencyLimiter({ total, perKey, onFree: () => {} })
  const limits = createOrganizationLimits({
    slots,
    concurrency: { isQuick: (id) => id.includes('q') },
    organizationOf: (id) => id[0]!,
    now: () => time.now,
  })
  const ends: (() => void)[] = []
  /** How many more of the endpoint may start, or its blocker. */
  const startableAt = (id: string) => {
    const answer = limits.look(id, 0)
    if (answer === false || 'name' in answer) return answer
    return createAllocation(slots.free()).capacityFor(answer.quotas)
  }
  const start = (id: string) => limits.start(id, () => new Promise<void>((resolve) => ends.push(resolve)))
  /** Starts everything with capacity in up to `endpoints` endpoints → how many. */
  const fill = (organization: string, endpoints = 500) => {
    let started = 0
    for (let at = 0; at < endpoints; at++) {
      const id = `${organization}${at}`
      const free = startableAt(id)
      for (let i = 0; typeof free === 'number' && i < free; i++, started++) start(id)
    }
    return started
  }
  return { slots, limits, startableAt, fill, ends, start, time }
}

test('each organization has at most as many attempts under way as are free', () => {
  const { fill, slots } = limitsOf(200)
  expect([fill('q1'), fill('q2')]).toEqual([100, 0])
  expect(slots.free()).toBe(100)
  const many = limitsOf(200)
  expect(['aq', 'bq', 'cq', 'dq'].map((name) => many.fill(name))).toEqual([100, 50, 25, 12])
})

test('endpoints that were not quick yet get a third, and quick ones of the same organization continue', () => {
  const { fill } = limitsOf(200)
  expect([fill('a'), fill('aq')]).toEqual([66, 34])
})

test('an organization with nothing under way may start one, down to the last slot', () => {
  const { fill, slots } = limitsOf(1)
  expect([fill('a'), slots.free(), fill('b')]).toEqual([1, 0, 0])
  const three = limitsOf(3)
  expect(['a', 'b', 'c', 'd'].map((name) => three.fill(name))).toEqual([1, 1, 1, 0])
})

test('one claim of several endpoints leaves each organization the same as several claims', () => {
  const { limits, slots } = limitsOf(200, 100)
  const allocation = createAllocation(slots.free())
  const taken = ['aq1', 'aq2', 'bq1', 'cq1', 'dq1'].map((id) => {
    const answer = limits.look(id, 0)
    if (answer === false || 'name' in answer) throw new Error('no limits')
    const count = Math.max(0, allocation.capacityFor(answer.quotas))
    allocation.took(answer.quotas, count)
    return count
  })
  expect(taken).toEqual([100, 0, 50, 25, 12])
})

test('endpoints that wait for the share of their organization wait behind one blocker, which is freed once', async () => {
  const { limits, startableAt, fill, ends } = limitsOf(20)
  fill('aq')
  const blocker = startableAt('aq499')
  expect([blocker, startableAt('aq498')]).toEqual([blocker, blocker])
  expect(blocker).toMatchObject({ until: null })
  expect([limits.freed().length, limits.freed().length]).toEqual([1, 0])
  for (const end of ends) end()
  await new Promise((resolve) => setImmediate(resolve))
  expect(startableAt('aq499')).toBe(10)
})

// threat: failing-endpoints-without-end
test('after 20 failures within a second an organization waits for the next second, and others do not', () => {
  const { limits, startableAt, time } = limitsOf(200)
  for (let n = 0; n < 19; n++) limits.failed(`aq${n % 3}`)
  expect(startableAt('aq1')).toBe(10)
  time.now += 999
  limits.failed('aq1')
  const waiting = { name: 'organization a: failures', until: 1_001_000 }
  expect([startableAt('aq1'), startableAt('aq9'), startableAt('bq1')]).toEqual([waiting, waiting, 10])
  time.now += 1
  expect(startableAt('aq1')).toBe(10)
  for (let n = 0; n < 20; n++) limits.failed('aq1')
  expect(startableAt('aq1')).toEqual({ ...waiting, until: 1_002_000 })
  time.now -= 60_000 // the clock is set back
  expect(startableAt('aq1')).toBe(10)
})

test('after failures of thousands of organizations, those of one are still counted', () => {
  const { limits, startableAt, time } = limitsOf(200)
  for (let n = 0; n < 3_000; n++) {
    time.now += 1
    limits.failed(String.fromCharCode(1_000 + n))
  }
  for (let n = 0; n < 20; n++) limits.failed('aq1')
  expect(startableAt('aq1')).toMatchObject({ name: 'organization a: failures' })
})
