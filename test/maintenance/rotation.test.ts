import { afterEach, expect, test } from 'bun:test'
import { createPublicKey, sign, verify } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { slotStems, zoneLabel } from '../../src/domains/delegated-zone.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { createSurvey } from '../../src/domains/publication.ts'
import { nextRotationAt } from '../../src/domains/rotation.ts'
import { zoneRecordsOf } from '../../src/domains/zone-records.ts'
import type { Domain } from '../../src/model/domain.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { waitingRotations } from '../../src/operating/checkup/rotations.ts'
import { checkRotations } from '../../src/operating/health/dkim-rotation.ts'
import { checkDueDomains } from '../../src/operating/maintenance/domains.ts'
import { createMintId } from '../../src/os/ids.ts'
import { silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { ownServer } from '../support/own-server.ts'
import {
  DAY,
  type Dns,
  EVERY,
  HOSTNAME,
  HOUR,
  KEYS,
  MAX_AGE,
  MINUTE,
  publish,
  SETTINGS,
  START,
  SWITCHED,
  startDns,
  states,
  WAITING,
  ZONE,
} from './rotating.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** Longer than any answer takes, except from a server that is silent. */
const PATIENT_MS = 30_000
const SILENT_MS = 100

async function open(dns: Dns, dataDir = ':memory:') {
  const clock = createFakeClock(START)
  const resolver = createResolver({ servers: [dns.near.address], clock, random: systemRandom, maxCacheEntries: 0 })
  undo.push(() => resolver.close())
  let store = await openStore({ dataDir, now: START })
  undo.push(() => store.close())
  const mintId = createMintId(clock, systemRandom)
  await store.organizations.create({ id: 'org_1', name: 'Acme', plan: 'free', createdAt: START })
  const id = 'dom_rotating'
  const keys = await mintDkimKeys('active', START, systemRandom, slotStems(id)[0])
  await store.domains.create(newDomain({ id, organizationId: 'org_1', name: 'acme.example' }, START, keys), -1)
  const read = async () => (await store.domains.get(id))!
  const { resolver: _, ...survey } = {
    resolver,
    publicResolvers: [dns.far.address],
    mayAsk: () => true,
    clock,
    random: systemRandom,
  }
  const check = (now: number, through: Store = store, timeoutMs = PATIENT_MS) =>
    checkDueDomains(now, {
      store: through,
      resolver,
      server: ownServer(HOSTNAME, { zone: ZONE }),
      survey: createSurvey({ ...survey, resolver, port: dns.port, timeoutMs }),
      rotateEveryMs: EVERY,
      maxAgeMs: MAX_AGE,
      random: systemRandom,
      mintId,
      log: silentLog,
    })
  const reopen = async () => {
    await store.close()
    store = await openStore({ dataDir, now: START })
  }
  return { read, check, reopen, resolver, store: () => store }
}

/** Time at which new keys wait for DNS. */
async function untilRotation({ read, check }: Awaited<ReturnType<typeof open>>, dns: Dns): Promise<number> {
  for (let now = START; now < START + 140 * DAY; now += DAY) {
    await check(now)
    if (states(await read()) === WAITING) return now
    publish(await read(), dns, dns.all.slice(1))
  }
  throw new Error('no rotation')
}

test('for 200 days every signature verifies against DNS, when it is made and until its mail can be nowhere', async () => {
  const dns = await startDns(undo)
  const { read, check } = await open(dns)
  const signed: { at: number; name: string; data: Buffer; signature: Buffer }[] = []
  const seen = new Set<string>()
  const verifies = async ({ name, data, signature }: (typeof signed)[number]) => {
    // As a receiver behind the resolver that is always the last to know.
    const resolver = createResolver({ servers: [dns.far.address], clock: createFakeClock(START), random: systemRandom })
    const lookup = await resolver.txt(name)
    resolver.close()
    if (lookup.kind !== 'records') return false
    const key = /p=(.*)$/.exec(lookup.records[0]!)![1]!
    if (key === '') return false
    return verify(
      'sha256',
      data,
      createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' }),
      signature,
    )
  }
  let lag: Domain[] = []
  for (let now = START; now < START + 200 * DAY; ) {
    const domain = await read()
    publish(domain, dns, [dns.first, dns.second, dns.near])
    lag = [...lag, domain].slice(-3)
    publish(lag[0]!, dns, [dns.far]) // two turns late
    await check(now)
    const after = await read()
    seen.add(states(after))
    for (const key of after.dkim.filter(({ state, algorithm }) => state === 'active' && algorithm === 'rsa-sha256')) {
      const data = Buffer.from(`mail of ${now}`)
      signed.push({
        at: now,
        name: `${key.selector}._domainkey.acme.example`,
        data,
        signature: sign('sha256', data, key.privateKeyPem),
      })
    }
    const inTransit = signed
      .filter(({ at }) => now - at <= MAX_AGE)
      .filter((_, n, all) => n === 0 || n === all.length - 1)
    if (now > START + DAY)
      for (const mail of inTransit)
        expect([new Date(now), mail.at, await verifies(mail)]).toEqual([new Date(now), mail.at, true])
    now += after.dkim.some(({ state }) => state === 'pending') ? 6 * MINUTE : DAY
  }
  expect([...seen]).toEqual([KEYS, WAITING, SWITCHED])
  expect(new Set(signed.map(({ name }) => name)).size).toBe(2)
  const rotated = await read()
  expect(rotated.dkim.every(({ createdAt }) => createdAt > START)).toBe(true)
})

test('one server that lags, lies or is silent holds new keys, until all have shown them for an hour', async () => {
  const dns = await startDns(undo)
  const all = await open(dns)
  const { read, check } = all
  let now = await untilRotation(all, dns)
  const turn = async (timeoutMs = PATIENT_MS) => {
    now += 6 * MINUTE
    await check(now, undefined, timeoutMs)
    return states(await read())
  }
  const since = async () => (await read()).dkim.map((key) => key.since).slice(2)
  const before = zoneRecordsOf({ ...(await read()), dkim: (await read()).dkim.slice(0, 2) }, SETTINGS)
  const name = before.find(({ name }) => name.startsWith(slotStems('dom_rotating')[1]))!.name
  const asked = `${name.split('.')[0]}._domainkey.acme.example`
  publish(await read(), dns, [dns.first, dns.near, dns.far])
  expect([await turn(), await since()]).toEqual([WAITING, [null, null]]) // the second server of the zone lags
  publish(await read(), dns, [dns.second])
  const [other] = zoneRecordsOf(
    newDomain(
      { id: 'dom_x', organizationId: 'org_1', name: 'x.example' },
      0,
      await mintDkimKeys('active', 0, systemRandom, 'other'),
    ),
    SETTINGS,
  )
  const fallSilent = () => dns.far.fail(asked, 'timeout')
  const lies: (() => void)[] = [
    () => dns.far.set(asked, 'TXT', [other!.value]), // another key
    () => dns.far.set(asked, 'TXT', ['v=DKIM1; k=rsa; p=']), // the record before the rotation
    () => dns.far.set(asked, 'A', []), // empty
    fallSilent,
    () => dns.far.fail(asked, 'SERVFAIL'),
    () => dns.second.set(name, 'TXT', [other!.value]),
    () => dns.second.remove(name),
    () => dns.customer.remove(asked),
    () => dns.customer.set(asked, 'CNAME', ['elsewhere.example']),
  ]
  for (const [n, lie] of lies.entries()) {
    for (const zone of dns.all) zone.remove(asked)
    dns.far.remove(asked)
    publish(await read(), dns, dns.all.slice(1))
    expect([n, await turn(), await since()]).toEqual([n, WAITING, [now, now]]) // all show them, so the hour begins
    if (n < 3) dns.far.remove(asked)
    lie()
    const timeoutMs = lie === fallSilent ? SILENT_MS : PATIENT_MS
    expect([n, await turn(timeoutMs), await since()]).toEqual([n, WAITING, [null, null]])
  }
  for (const zone of dns.all) zone.remove(asked)
  publish(await read(), dns, dns.all.slice(1))
  for (let n = 0; n < 10; n++) expect(await turn()).toBe(WAITING)
  expect(await turn()).toBe(SWITCHED)
})

test('the health check names the servers that hinder a rotation for six hours, and passes without any', async () => {
  const dns = await startDns(undo)
  const { read, check, store, resolver } = await open(dns)
  publish(await read(), dns, dns.all.slice(1))
  await check(START)
  const asking = {
    resolver,
    publicResolvers: [dns.far.address],
    mayAsk: () => true,
    clock: createFakeClock(START),
    random: systemRandom,
    port: dns.port,
    timeoutMs: PATIENT_MS,
  }
  const survey = (...asked: Parameters<ReturnType<typeof createSurvey>>) => createSurvey(asking)(...asked)
  const look = (now: number, alerts = false) =>
    checkRotations(() => waitingRotations(store(), { zone: ZONE, survey, resolver, now })).then((verdict) =>
      alerts ? verdict : verdict.status,
    )
  const stem = slotStems('dom_rotating')[1]
  await store().domains.addDkimKeys('dom_rotating', await mintDkimKeys('pending', START, systemRandom, stem))
  publish(await read(), dns, [dns.first, dns.near, dns.far])
  expect(await look(START + 6 * HOUR - 1)).toBe('pass')
  const name = `${stem}r.${zoneLabel('dom_rotating')}.${ZONE}`
  expect(await look(START + 6 * HOUR, true)).toMatchObject({
    status: 'warn',
    message: expect.stringContaining(
      `new DKIM keys of acme.example wait since ${new Date(START).toISOString()}: ns-127.0.0.3.example (127.0.0.3) has another value at ${name}`,
    ),
  })
  publish(await read(), dns, [dns.second])
  expect(await look(START + 6 * HOUR)).toBe('pass')
  const asked = `${stem}e._domainkey.acme.example`
  dns.far.fail(asked, 'timeout')
  asking.timeoutMs = SILENT_MS
  expect(await look(START + 6 * HOUR, true)).toMatchObject({
    message: expect.stringContaining(`${dns.far.address} does not answer for ${asked}`),
  })
  // The owner of the domain has not published the record: nobody else can help.
  dns.near.remove(asked)
  expect(await look(START + 6 * HOUR)).toBe('pass')
})

test('a process that ends after any write leaves a rotation that another one finishes', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rotation-'))
  undo.push(() => rmSync(dataDir, { recursive: true }))
  const dns = await startDns(undo)
  const all = await open(dns, dataDir)
  const { read, check, reopen, store } = all
  const seen: string[] = []
  /** Ends the check after its next write of keys; false if it wrote none. */
  const killed = async (now: number) => {
    let isKilled = false
    const domains = new Proxy(store().domains, {
      get:
        (target, method: 'addDkimKeys') =>
        async (...args: Parameters<typeof target.addDkimKeys>) => {
          if (isKilled) throw new Error('killed')
          const value = await target[method](...args)
          if (['addDkimKeys', 'setDkimStates', 'removeDkimKey'].includes(method)) {
            isKilled = true
            seen.push(method)
            throw new Error('killed')
          }
          return value
        },
    })
    await check(now, { ...store(), domains })
    await reopen()
    return isKilled
  }
  for (let now = START; now < START + 160 * DAY && seen.length < 5; ) {
    publish(await read(), dns, dns.all.slice(1))
    await killed(now)
    const { dkim } = await read()
    const active = dkim.filter(({ state }) => state === 'active')
    expect([active.length, dkim.length <= 4]).toEqual([2, true])
    now += dkim.some(({ state }) => state === 'pending') ? 15 * MINUTE : DAY
  }
  expect(seen).toEqual(['addDkimKeys', 'setDkimStates', 'setDkimStates', 'removeDkimKey', 'removeDkimKey'])
  expect((await read()).dkim).toHaveLength(2)
  const entries = await store().auditLog.list(
    {
      organizationId: null,
      actorId: null,
      action: null,
      resourceId: 'dom_rotating',
      createdAfter: null,
      createdBefore: null,
    },
    { limit: 9, after: null },
  )
  expect(entries.records.map(({ action }) => action).filter((action) => action.includes('dkim'))).toEqual([
    'domains_dkim_rotated',
    'domains_dkim_rotation_started',
  ])
})

test('rotations of many domains spread evenly over the interval, from the first day on', async () => {
  const keys = await mintDkimKeys('active', START - 5 * EVERY, systemRandom, 'random')
  const domains = Array.from({ length: 10_000 }, (_, n): Domain => {
    const domain = newDomain({ id: `dom_${n}`, organizationId: 'org_1', name: 'a.example' }, START, keys)
    const findings = slotStems(domain.id).flatMap((stem) =>
      ['r', 'e'].map((end) => ({
        type: 'CNAME' as const,
        name: `${stem}${end}._domainkey.a.example`,
        purpose: 'dkim_standby' as const,
        status: 'valid' as const,
        found: [],
      })),
    )
    return { ...domain, status: 'verified', provedBy: 'dkim', findings }
  })
  const due = domains.map((domain) => nextRotationAt(domain, EVERY, START)!)
  const perDay = Map.groupBy(
    due.filter((at) => at > START),
    (at) => Math.floor((at - START) / DAY),
  )
  expect(perDay.size).toBe(83)
  expect(Math.max(...[...perDay.values()].map((of) => of.length))).toBeLessThan(170) // 111 on average
  expect(due.filter((at) => at <= START).length).toBeLessThan(900) // a week's, which daily checks find in a day
  const [first] = domains
  expect(nextRotationAt({ ...first!, findings: [] }, EVERY, START)).toBeNull()
  expect(nextRotationAt({ ...first!, provedBy: 'txt' }, EVERY, START)).toBeNull()
  expect(nextRotationAt(first!, 0, START)).toBeNull()
})
