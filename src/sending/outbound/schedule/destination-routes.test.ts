import { expect, test } from 'bun:test'
import type { Lookup, MxRecord } from '../../../net/dns/resolver.ts'
import { DestinationRoutes } from './destination-routes.ts'
import { OwnerShares } from './owner-shares.ts'

const GOOGLE: Lookup<MxRecord> = {
  kind: 'records',
  records: [{ preference: 1, exchange: 'aspmx.l.google.com' }],
  ttlSeconds: 300,
  authentic: false,
}

/** Destinations whose DNS answers on demand. */
function open() {
  const state = { now: 0, asked: [] as string[], found: 0 }
  const waiting = new Map<string, (answer: Lookup<MxRecord>) => void>()
  const routes = new DestinationRoutes({
    resolver: {
      mx: (domain) => {
        state.asked.push(domain)
        return new Promise((resolve) => waiting.set(domain, resolve))
      },
    },
    shares: new OwnerShares({ now: () => state.now }),
    clock: { now: () => state.now },
    onFound: () => {
      state.found++
    },
  })
  const answer = async (domain: string, lookup: Lookup<MxRecord>) => {
    waiting.get(domain)!(lookup)
    for (let turn = 0; turn < 6; turn++) await Promise.resolve()
  }
  return { state, routes, answer }
}

test('a domain is looked up once, waits for the answer, and is known for its TTL', async () => {
  const { state, routes, answer } = open()
  expect(routes.routeFor('a.example', 0)).toBeNull()
  expect(routes.lookUp('a.example', 'a', true)).toEqual({ blocker: { name: 'mx a.example', until: null }, isNew: true })
  expect(routes.lookUp('a.example', 'a', true).isNew).toBe(false)
  await answer('a.example', GOOGLE)
  expect(state.found).toBe(1)
  expect(routes.freed()).toContain('mx a.example')
  expect(routes.routeFor('a.example', 299_999)).toEqual({ destination: 'google.com', mx: GOOGLE })
  expect(state.asked).toEqual(['a.example'])
  expect(routes.lastRouteFor('a.example')!.destination).toBe('google.com')
})

test('an answer with a TTL shorter than its way back is valid for the claim that needed it', async () => {
  const { routes, answer } = open()
  routes.lookUp('a.example', 'a', true)
  await answer('a.example', { kind: 'temporary', reason: 'SERVFAIL' })
  expect(routes.routeFor('a.example', 999_999)!.destination).toBe('a.example')
  expect(routes.routeFor('a.example', 999_999)!.destination).toBe('a.example')
  expect(routes.routeFor('a.example', 999_999)).toBeNull()
})

test.each<[string, Lookup<MxRecord>, number]>([
  ['records', GOOGLE, 300_000],
  ['records with a short TTL', { ...GOOGLE, ttlSeconds: 1 }, 60_000],
  ['records with a long TTL', { ...GOOGLE, ttlSeconds: 86_400 }, 3_600_000],
  ['no domain', { kind: 'nxdomain' }, 60_000],
  ['a failed lookup', { kind: 'temporary', reason: 'SERVFAIL' }, 5_000],
])('the route of %s is known for its time, and then for two more uses', async (_, lookup, lifeMs) => {
  const { routes, answer } = open()
  routes.lookUp('a.example', 'a', true)
  await answer('a.example', lookup)
  for (let look = 0; look < 5; look++) expect(routes.routeFor('a.example', lifeMs - 1)).not.toBeNull()
  const isKnown = Array.from({ length: 3 }, () => routes.routeFor('a.example', lifeMs) !== null)
  expect(isKnown).toEqual([true, true, false])
})

// threat: hanging-destinations-of-one-tenant
test('silent domains of one organization leave half of the lookups to the others', async () => {
  const { state, routes, answer } = open()
  routes.lookUp('first.example', 'b', true)
  await answer('first.example', GOOGLE)
  for (let i = 0; i < 100; i++) routes.lookUp(`silent${i}.example`, 'h', true)
  expect(state.asked).toHaveLength(1 + 32)
  expect(routes.lookUp('silent99.example', 'h', true).blocker.name).toBe('lookup of h')
  expect(routes.lookUp('other.example', 'b', true).blocker.name).toBe('mx other.example')
})

test('a backlog of silent domains leaves half of the lookups to fresh mail', () => {
  const { state, routes } = open()
  for (let i = 0; i < 100; i++) routes.lookUp(`old${i}.example`, 'a', false)
  expect(state.asked).toHaveLength(32)
  expect(routes.lookUp('old99.example', 'a', false).blocker.name).toBe('lookups of the backlog')
  for (let i = 0; i < 100; i++) routes.lookUp(`new${i}.example`, 'a', true)
  expect(state.asked).toHaveLength(64)
  expect(routes.lookUp('new99.example', 'a', true).blocker.name).toBe('lookups')
})

test('an address literal is not looked up', () => {
  const { state, routes } = open()
  expect(routes.routeFor('[192.0.2.1]', 0)).toEqual({ destination: '[192.0.2.1]', mx: null })
  expect(state.asked).toEqual([])
})
