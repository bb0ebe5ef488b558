import { afterEach, expect, test } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { dnsRecords } from '../../src/domains/records.ts'
import type { Domain } from '../../src/model/domain.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { checkDueDomains } from '../../src/operating/maintenance/domains.ts'
import { createMintId } from '../../src/os/ids.ts'
import { silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { openMemoryStore } from '../support/migrated-store.ts'
import { ownServer } from '../support/own-server.ts'

const START = Date.UTC(2026, 10, 21)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const HOSTNAME = 'mail.example.net'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function open() {
  const zone = await startZone()
  undo.push(() => zone.stop())
  const clock = createFakeClock(START)
  const resolver = createResolver({ servers: [zone.address], clock, random: systemRandom, maxCacheEntries: 0 })
  undo.push(() => resolver.close())
  const store = await openMemoryStore()
  undo.push(() => store.close())
  const mintId = createMintId(clock, systemRandom)
  await store.organizations.create({ id: 'org_1', name: 'Acme', plan: 'free', createdAt: START })
  const keys = await mintDkimKeys('active', START, systemRandom)
  const facts = { id: mintId('dom'), organizationId: 'org_1', name: 'acme.example' }
  const domain = newDomain(facts, START, keys)
  await store.domains.create(domain, -1)
  const read = async () => (await store.domains.get(domain.id))!
  const us = {
    store,
    resolver,
    server: ownServer(HOSTNAME),
    mintId,
    random: systemRandom,
    maxAgeMs: DAY,
    log: silentLog,
  }
  return { zone, store, resolver, clock, mintId, domain, read, check: (now: number) => checkDueDomains(now, us) }
}

function publish(zone: Zone, domain: Domain): void {
  for (const record of dnsRecords(domain, ownServer(HOSTNAME))) {
    if (record.purpose === 'dkim') zone.set(record.name, 'TXT', [record.value])
  }
}

function unpublish(zone: Zone, domain: Domain): void {
  for (const { selector } of domain.dkim) zone.remove(`${selector}._domainkey.${domain.name}`)
}

test('a domain is verified automatically once its records appear', async () => {
  const { zone, read, check } = await open()
  await check(START + 60_000)
  expect((await read()).status).toBe('pending')
  publish(zone, await read())
  await check(START + 420_000)
  expect(await read()).toMatchObject({ status: 'verified', verifiedAt: START + 420_000 })
})

test('a verified domain is checked daily, and one failed answer does not stop its mail', async () => {
  const { zone, read, check } = await open()
  publish(zone, await read())
  await check(START)
  zone.queries.length = 0
  await check(START + DAY / 2)
  expect(zone.queries).toEqual([])
  unpublish(zone, await read())
  await check(START + DAY)
  expect(await read()).toMatchObject({ status: 'verified', missingSince: START + DAY, provedBy: 'dkim' })
  publish(zone, await read())
  await check(START + DAY + HOUR)
  expect(await read()).toMatchObject({ status: 'verified', missingSince: null })
})

test('a domain that is never set up is not checked after a week', async () => {
  const { zone, read, check } = await open()
  await check(START)
  await check(START + 7 * DAY + 1)
  publish(zone, await read())
  zone.queries.length = 0
  await check(START + 9 * DAY)
  expect([(await read()).status, zone.queries.length]).toEqual(['pending', 0])
})

test('after a rotation, new keys sign once they are published, and old ones end a week later', async () => {
  const { zone, store, read, check } = await open()
  publish(zone, await read())
  await check(START)
  const old = (await read()).dkim.map((key) => key.selector)
  await store.domains.addDkimKeys((await read()).id, await mintDkimKeys('pending', START + DAY, systemRandom))
  await check(START + DAY)
  expect((await read()).dkim.map((key) => key.state)).toEqual(['active', 'active', 'pending', 'pending'])
  publish(zone, await read())
  await check(START + 2 * DAY)
  expect((await read()).dkim.map((key) => key.state)).toEqual(['retiring', 'retiring', 'active', 'active'])
  await check(START + 8 * DAY)
  expect((await read()).dkim).toHaveLength(4)
  await check(START + 9 * DAY)
  const left = (await read()).dkim.map((key) => key.selector)
  expect([left.length, left.some((selector) => old.includes(selector))]).toEqual([2, false])
})
