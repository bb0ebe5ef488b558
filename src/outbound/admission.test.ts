import { expect, test } from 'bun:test'
import { SANDBOX } from '../model/delivery.ts'
import { createAdmission, GIVEN_UP } from './admission.ts'

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

test('test mail always has room', () => {
  const { admission } = open()
  expect(admission.freeFor(SANDBOX, 0)).toBe(40)
})
