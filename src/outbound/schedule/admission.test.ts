import { expect, test } from 'bun:test'
import { queueOf, SANDBOX } from '../../model/delivery.ts'
import { createAdmission, GIVEN_UP, type Grant } from './admission.ts'
import { createOwnerShares } from './owner-shares.ts'

const NO_MX = { kind: 'no_data' } as const
const TERMS = { maxConnections: 20, maxMailsPerConnection: 500, maxMailsPerMinute: null }

/** Admission at 1000 ms, where the domain before the first dot is the site. */
function open(maxInFlight = 40) {
  const world = { now: 1_000 }
  const wayOf = (domain: string) => ({ site: domain.split('.')[0]!, mx: NO_MX })
  const admission = createAdmission({
    sites: {
      wayOf,
      lastWayOf: wayOf,
      ask: () => ({ obstacle: { name: 'never', until: null }, isNew: true }),
      leapt: () => {},
    },
    shares: createOwnerShares(() => world.now),
    now: () => world.now,
    maxInFlight,
    termsOf: () => TERMS,
    longestPauseMs: () => 60_000,
    overdueMs: 100_000,
  })
  return { world, admission }
}

test('what a claim took counts at once, for all domains of the site, until the claim begins anew', () => {
  const { admission } = open()
  admission.begin()
  expect(admission.freeFor('one.a', 1_000)).toBe(5)
  admission.took('one.a', 3)
  expect(admission.freeFor('one.b', 1_000)).toBe(2)
  admission.begin()
  expect(admission.freeFor('one.b', 1_000)).toBe(5)
})

test('what was due before the start is backlog, however young: its hanging attempts leave fresh mail its half', () => {
  const { admission } = open()
  admission.begin()
  for (let i = 0; i < 2; i++) {
    expect(admission.freeFor(`silent${i}`, 999)).toBe(5)
    admission.took(`silent${i}`, 5)
  }
  expect(admission.freeFor('silent2', 999)).toEqual({ name: 'unknown backlog', until: null })
  expect(admission.freeFor('fresh', 1_000)).toBe(5)
})

test('what waited out its age is given up without room, one at a time, and does not count', () => {
  const { world, admission } = open()
  admission.begin()
  admission.freeFor('one.a', 1_000)
  admission.took('one.a', 5)
  admission.admitted()
  world.now = 101_001
  admission.begin()
  expect(admission.freeFor('one.a', 1_000)).toBe(1)
  admission.took('one.a', 1)
  expect(admission.freeFor('one.a', 2_000)).toEqual({ name: 'site one', until: null })
  const wayOf = admission.admitted()
  expect(wayOf('one.a')).toBe(GIVEN_UP)
  expect(admission.stateOf('one').underWay).toBe(5)
})

// threat: hanging-destinations-of-one-tenant
test('an organization whose destinations hang leaves places to the others', () => {
  const { world, admission } = open()
  const queue = (site: string, owner: string) => queueOf(site, owner.repeat(8))
  const takeAll = (owner: string) => {
    for (let places = 0, n = 0; ; n++) {
      const free = admission.freeFor(queue(`${owner}${n}`, owner), world.now)
      if (typeof free !== 'number') return { places, waitsFor: free.name }
      admission.took(queue(`${owner}${n}`, owner), free)
      places += free
    }
  }
  const deferred = { kind: 'deferred', code: '4.4.1', message: '', aboutRecipient: false } as const
  const outcome = { ...deferred, cause: { class: 'timeout', rule: 'timeout:dot' } }
  const end = (grant: Grant, times: number) => {
    for (let n = 0; n < times; n++) admission.ended(grant, { outcome, reached: true, startedAt: 0 })
  }

  // Of 40 deliveries under way 20 may be at unknown sites: all of them are its own while nobody else wants any.
  admission.begin()
  expect(takeAll('h')).toEqual({ places: 20, waitsFor: 'unknown' })
  const grantOf = admission.admitted()
  admission.begin()
  expect(admission.freeFor(queue('other', 'b'), world.now)).toEqual({ name: 'unknown', until: null })
  end(grantOf(queue('h0', 'h')), 5)
  expect(admission.freeFor(queue('h9', 'h'), world.now)).toEqual({ name: 'unknown of hhhhhhhh', until: null })
  expect(admission.freeFor(queue('other', 'b'), world.now)).toBe(5)
  admission.took(queue('other', 'b'), 5)
  // A third of the places is its own again, and a third is left for an organization that holds none.
  end(grantOf(queue('h1', 'h')), 5)
  expect(admission.freeFor(queue('h9', 'h'), world.now)).toEqual({ name: 'unknown of hhhhhhhh', until: null })
  end(grantOf(queue('h2', 'h')), 4)
  expect(admission.freed()).toContain('unknown of hhhhhhhh')
  expect(admission.freeFor(queue('h9', 'h'), world.now)).toBe(1)
})

test('test mail always has room', () => {
  const { admission } = open()
  expect(admission.freeFor(SANDBOX, 0)).toBe(40)
})
