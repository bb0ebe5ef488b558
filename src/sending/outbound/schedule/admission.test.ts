import { expect, test } from 'bun:test'
import { queueOf, SANDBOX } from '../../../model/delivery.ts'
import type { Blocker, Look } from '../../../storage/store.ts'
import type { Relay } from '../relays/relay.ts'
import { createRelayChoice, type RelayChoice } from '../relays/relay-choice.ts'
import { Admission, ClaimPlan, EXPIRED, type Grant } from './admission.ts'
import { DestinationRoutes } from './destination-routes.ts'
import { OwnerShares } from './owner-shares.ts'

const NO_MX = { kind: 'no_data' } as const
const TERMS = { maxConnections: 20, maxMailsPerConnection: 500, maxMailsPerMinute: null }

class KnownRoutes extends DestinationRoutes {
  override routeFor(domain: string) {
    return { destination: domain.split('.')[0]!, mx: NO_MX }
  }

  override lastRouteFor(domain: string) {
    return this.routeFor(domain)
  }
}

/** Admission at 1000 ms, where the domain before the first dot is the destination. */
function open(maxInFlight = 40, relays?: RelayChoice) {
  const state = { now: 1_000 }
  const now = () => state.now
  const sleep = () => Promise.resolve()
  const shares = new OwnerShares({ now })
  const admission = new Admission({
    routes: new KnownRoutes({
      shares,
      clock: { now },
      resolver: { mx: async () => NO_MX },
      onFound: () => {},
    }),
    shares,
    clock: { now, sleep, steady: { now, sleep } },
    clockChanges: { goodSince: () => 1_000 },
    maxInFlight,
    termsOf: (destination) => (destination === 'relay:one' ? { ...TERMS, maxMailsPerMinute: 60 } : TERMS),
    ...(relays !== undefined && { relays }),
    longestPauseMs: () => 60_000,
    overdueMs: 100_000,
  })
  const limits: Look = (queue, dueAt) => admission.limitsOf(queue, dueAt)
  /** How many more of the queue may start, or its blocker. */
  const startableAt = (queue: string, dueAt: number, look: Look = limits): number | Blocker => {
    const answer = look(queue, dueAt)
    if (answer === false) return 0
    if ('name' in answer) return answer
    return Math.min(maxInFlight, ...answer.quotas.map((quota) => ('most' in quota ? quota.most : Number.NaN)))
  }
  /** Claims that many of the queue, in a separate plan. */
  const take = (queue: string, count: number, dueAt = state.now) => {
    const plan = new ClaimPlan(admission)
    plan.look(queue, dueAt)
    return plan.commit(Array.from({ length: count }, () => queue))
  }
  return { state, admission, startableAt, take }
}

test('deliveries of a claim count from its commit, for all domains of the destination; a dropped plan does not count', () => {
  const { admission, startableAt } = open()
  const plan = new ClaimPlan(admission)
  expect(startableAt('one.a', 1_000, plan.look)).toBe(5)
  expect(startableAt('one.b', 1_000)).toBe(5)
  plan.commit(['one.a', 'one.a', 'one.a'])
  expect(startableAt('one.b', 1_000)).toBe(2)
  expect(startableAt('one.b', 1_000, new ClaimPlan(admission).look)).toBe(2)
  expect(startableAt('one.b', 1_000)).toBe(2)
})

test('mail due before the start is backlog, and its hanging attempts leave half to fresh mail', () => {
  const { startableAt, take } = open()
  for (let i = 0; i < 2; i++) {
    expect(startableAt(`silent${i}`, 999)).toBe(5)
    take(`silent${i}`, 5, 999)
  }
  expect(startableAt('silent2', 999)).toEqual({ name: 'unknown backlog', until: null })
  expect(startableAt('fresh', 1_000)).toBe(5)
})

test('mail past its maximum age expires without capacity and does not count; younger mail of the queue waits', () => {
  const { state, admission, startableAt, take } = open()
  take('one.a', 5, 1_000)
  state.now = 101_001
  const plan = new ClaimPlan(admission)
  expect(plan.look('one.a', 1_000)).toEqual({ quotas: [], dueUntil: 1_000 })
  expect(plan.commit(['one.a', 'one.a'])).toEqual([EXPIRED, EXPIRED])
  expect(startableAt('one.a', 2_000)).toEqual({ name: 'destination one', until: null })
  expect(admission.stateOf('one').underWay).toBe(5)
})

// threat: hanging-destinations-of-one-tenant
test('an organization whose destinations hang leaves slots to the others', () => {
  const { state, admission, startableAt, take } = open()
  const queue = (destination: string, owner: string) => queueOf(destination, owner.repeat(8))
  const takeAll = (owner: string) => {
    const grants: Grant[][] = []
    for (let n = 0; ; n++) {
      const free = startableAt(queue(`${owner}${n}`, owner), state.now)
      if (typeof free !== 'number') return { grants, waitsFor: free.name }
      grants.push(take(queue(`${owner}${n}`, owner), free))
    }
  }
  const deferred = { kind: 'deferred', code: '4.4.1', message: '', aboutRecipient: false } as const
  const outcome = { ...deferred, cause: { class: 'timeout', rule: 'timeout:dot' } }
  const end = (grants: Grant[]) => {
    for (const grant of grants) admission.ended(grant, { outcome, reached: true, startedAt: 0 })
  }

  // Of 40 deliveries in flight 20 may be at unknown destinations: all of them may be its own while no other wants any.
  const { grants, waitsFor } = takeAll('h')
  expect([grants.flat().length, waitsFor]).toEqual([20, 'unknown'])
  expect(startableAt(queue('other', 'b'), state.now)).toEqual({ name: 'unknown', until: null })
  end(grants[0]!)
  expect(startableAt(queue('h9', 'h'), state.now)).toEqual({ name: 'unknown of hhhhhhhh', until: null })
  expect(startableAt(queue('other', 'b'), state.now)).toBe(5)
  take(queue('other', 'b'), 5)
  // A third of the slots is its own again, and a third is left for an organization that holds none.
  end(grants[1]!)
  expect(startableAt(queue('h9', 'h'), state.now)).toEqual({ name: 'unknown of hhhhhhhh', until: null })
  end(grants[2]!.slice(0, 4))
  expect(admission.freed()).toContain('unknown of hhhhhhhh')
  expect(startableAt(queue('h9', 'h'), state.now)).toBe(1)
})

test('owners of one plan count as holders, so that the first takes no share of the next', () => {
  const { state, admission, startableAt } = open(400)
  const queue = (destination: string, owner: string) => queueOf(destination, owner.repeat(8))
  const plan = new ClaimPlan(admission)
  const shares = ['a', 'b', 'c'].map((owner) => {
    const answer = plan.look(queue(owner, owner), state.now)
    if (answer === false || 'name' in answer) throw new Error('no startable')
    return answer.quotas.find(({ name }) => name.startsWith('unknown of'))
  })
  expect(shares).toMatchObject([{ most: 200 }, { most: 67 }, { most: 50 }])
  expect(startableAt(queue('c', 'c'), state.now)).toBe(5)
})

test('test mail always has capacity', () => {
  const { startableAt } = open()
  expect(startableAt(SANDBOX, 0)).toBe(40)
})

test('while others accept much mail, ten starts in 100 ms at unproven destinations with backlog, and fresh mail starts', () => {
  const { state, admission, startableAt, take } = open(1_000)
  const delivered = { kind: 'delivered', reply: { code: 250, enhanced: '2.0.0', text: 'ok' } } as const
  for (let mail = 0; mail < 20; mail++) {
    const [grant] = take('good', 1)
    admission.ended(grant!, { outcome: delivered, reached: true, startedAt: 0 })
  }
  state.now = 1_100
  const backlog = 999
  for (let destination = 0; destination < 2; destination++) {
    expect(startableAt(`old${destination}`, backlog)).toBe(5)
    take(`old${destination}`, 5, backlog)
  }
  expect(startableAt('old2', backlog)).toEqual({ name: 'pacing', until: 1_200 })
  expect(startableAt('fresh', state.now)).toBe(5)
  expect(startableAt('good', backlog)).toBeGreaterThan(5)
  state.now = 1_200
  expect(startableAt('old2', backlog)).toBe(5)
})

const RELAY: Relay = {
  name: 'one',
  host: 'relay.test',
  port: 587,
  tls: 'starttls',
  isTlsRequired: true,
  login: null,
  pins: [],
  destination: 'relay:one',
  maxConnections: 0,
  maxMailsPerMinute: 60,
}
const RULE = { owner: null, domain: null, stream: null, destination: null, use: null, failOver: null, afterMs: 0 }

test('mail that a rule sends through a relay counts for the limits of the relay, whatever its destination', () => {
  const rules = [
    { ...RULE, number: 1, stream: 'bulk', use: 'one' },
    { ...RULE, number: 2, failOver: 'one' },
  ]
  const { startableAt, take } = open(40, createRelayChoice({ relays: [RELAY], rules }))
  const bulk = (domain: string) => queueOf(domain, 'org_00000000', { stream: 'bulk' })
  const [grant] = take(bulk('a.test'), 1)
  expect(grant).toMatchObject({ key: 'relay:one', relay: { name: 'one', rule: 1, because: 'rule' }, failOver: null })
  expect(startableAt(bulk('b.test'), 1_000)).toMatchObject({ name: 'destination relay:one' })
  const [direct] = take(queueOf('b.test', 'org_00000000'), 1)
  expect(direct).toMatchObject({ key: 'b', relay: null, failOver: 'one' })
})

test('a grant changes to the route of an earlier attempt, directly if that relay is no longer configured', () => {
  const rules = [{ ...RULE, number: 1, failOver: 'one' }]
  const { admission, take } = open(40, createRelayChoice({ relays: [RELAY], rules }))
  const [grant] = take(queueOf('a.test', 'org_00000000'), 1)
  const relayed = admission.rerouted(grant!, 'one')
  expect(relayed).toMatchObject({ key: 'relay:one', relay: { name: 'one', because: 'same_route' }, failOver: 'one' })
  expect([admission.stateOf('a').underWay, admission.stateOf('relay:one').underWay]).toEqual([0, 1])
  expect(admission.rerouted(relayed, 'gone')).toMatchObject({ key: 'a', relay: null })
  expect([admission.stateOf('a').underWay, admission.stateOf('relay:one').underWay]).toEqual([1, 0])
})
