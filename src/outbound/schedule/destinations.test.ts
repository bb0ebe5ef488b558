import { expect, test } from 'bun:test'
import type { Lookup, MxRecord } from '../../net/dns/resolver.ts'
import { createSites } from './destinations.ts'
import { createOwnerShares } from './owner-shares.ts'

const GOOGLE: Lookup<MxRecord> = {
  kind: 'records',
  records: [{ preference: 1, exchange: 'aspmx.l.google.com' }],
  ttlSeconds: 300,
  authentic: false,
}

/** Destinations whose DNS answers on demand. */
function open(smarthost: string | null = null) {
  const world = { now: 0, asked: [] as string[], freed: [] as string[] }
  const waiting = new Map<string, (answer: Lookup<MxRecord>) => void>()
  const sites = createSites({
    resolver: {
      mx: (domain) => {
        world.asked.push(domain)
        return new Promise((resolve) => waiting.set(domain, resolve))
      },
    },
    shares: createOwnerShares(() => world.now),
    smarthost,
    now: () => world.now,
    onKnown: (blockers) => world.freed.push(...blockers),
  })
  const answer = async (domain: string, lookup: Lookup<MxRecord>) => {
    waiting.get(domain)!(lookup)
    await Promise.resolve()
    await Promise.resolve()
  }
  return { world, sites, answer }
}

test('a domain is looked up once, waits for the answer, and is known for its TTL', async () => {
  const { world, sites, answer } = open()
  expect(sites.wayOf('a.example', 0)).toBeNull()
  expect(sites.ask('a.example', 'a', true)).toEqual({ blocker: { name: 'mx a.example', until: null }, isNew: true })
  expect(sites.ask('a.example', 'a', true).isNew).toBe(false)
  await answer('a.example', GOOGLE)
  expect(world.freed).toContain('mx a.example')
  expect(sites.wayOf('a.example', 299_999)).toEqual({ site: 'google.com', mx: GOOGLE })
  expect(world.asked).toEqual(['a.example'])
  expect(sites.lastWayOf('a.example')!.site).toBe('google.com')
})

test('an answer with a TTL shorter than its way back is valid for the claim that asked', async () => {
  const { sites, answer } = open()
  sites.ask('a.example', 'a', true)
  await answer('a.example', { kind: 'temporary', reason: 'SERVFAIL' })
  expect(sites.wayOf('a.example', 999_999)!.site).toBe('a.example')
  expect(sites.wayOf('a.example', 999_999)!.site).toBe('a.example')
  expect(sites.wayOf('a.example', 999_999)).toBeNull()
})

// threat: hanging-destinations-of-one-tenant
test('silent domains of one organization leave half of the lookups to the others', async () => {
  const { world, sites, answer } = open()
  sites.ask('first.example', 'b', true)
  await answer('first.example', GOOGLE)
  for (let i = 0; i < 100; i++) sites.ask(`silent${i}.example`, 'h', true)
  expect(world.asked).toHaveLength(1 + 32)
  expect(sites.ask('silent99.example', 'h', true).blocker.name).toBe('question of h')
  expect(sites.ask('other.example', 'b', true).blocker.name).toBe('mx other.example')
})

test('a backlog of silent domains leaves half of the lookups to fresh mail', () => {
  const { world, sites } = open()
  for (let i = 0; i < 100; i++) sites.ask(`old${i}.example`, 'a', false)
  expect(world.asked).toHaveLength(32)
  expect(sites.ask('old99.example', 'a', false).blocker.name).toBe('questions of the backlog')
  for (let i = 0; i < 100; i++) sites.ask(`new${i}.example`, 'a', true)
  expect(world.asked).toHaveLength(64)
  expect(sites.ask('new99.example', 'a', true).blocker.name).toBe('questions')
})

test('an address literal is not looked up, nor any domain with a smarthost', () => {
  const { world, sites } = open()
  expect(sites.wayOf('[192.0.2.1]', 0)).toEqual({ site: '[192.0.2.1]', mx: null })
  expect(open('smtp.relay.example').sites.wayOf('a.example', 0)).toEqual({ site: 'relay.example', mx: null })
  expect(world.asked).toEqual([])
})
