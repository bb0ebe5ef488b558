/** Rotation of DKIM keys at the DNS provider, with the real lexicon, BIND and PowerDNS. */

import { afterEach, expect, test } from 'bun:test'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startZone } from '../../src/cli/try/zone-server.ts'
import { readConfig } from '../../src/config/load.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { type ChangeKeys, createChangeKeys } from '../../src/domains/provider/keys.ts'
import { createSurvey } from '../../src/domains/publication.ts'
import { nextRotationAt } from '../../src/domains/rotation.ts'
import { dkimRecordValue } from '../../src/mail/dkim.ts'
import type { DkimKeyRecord } from '../../src/model/domain.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { refusedKeys, waitingRotations } from '../../src/operating/checkup/rotations.ts'
import { checkRotations } from '../../src/operating/health/dkim-rotation.ts'
import { checkDueDomains } from '../../src/operating/maintenance/domains.ts'
import { createProviderKeys } from '../../src/operating/maintenance/provider-keys.ts'
import { createMintId } from '../../src/os/ids.ts'
import { createLog, silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { DomainCheck } from '../../src/storage/store.ts'
import { type ProviderServer, startBind, startPowerDns } from '../support/dns-providers.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { ownServer } from '../support/own-server.ts'
import { describeWith } from '../support/real-tools.ts'
import { DAY, EVERY, HOSTNAME, HOUR, KEYS, MAX_AGE, MINUTE, START, SWITCHED, states, WAITING } from './rotating.ts'

const ZONE = 'example.org'
const DOMAIN = 'shop.example.org'
const ID = 'dom_shop'
const IDLE = 'dom_none'
/** What others have in the zone. */
const OTHERS = `
@ IN MX 10 mx.office.example.
@ IN TXT "v=spf1 include:office.example -all"
www IN A 192.0.2.80
_acme-challenge.shop IN TXT "another program"
other._domainkey.shop IN TXT "v=DKIM1; k=rsa; p=b3RoZXI="
`

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const recordOf = ({ selector, algorithm, publicKey }: DkimKeyRecord, domain = DOMAIN) => ({
  name: `${selector}._domainkey.${domain}`,
  value: dkimRecordValue(algorithm, publicKey),
})

/** Lines of a zone file with the records of these keys. */
const linesOf = (keys: readonly DkimKeyRecord[], domain = DOMAIN) =>
  keys
    .map((key) => recordOf(key, domain))
    .map(
      ({ name, value }) => `${name}. IN TXT ${(value.match(/.{1,255}/g) ?? []).map((part) => `"${part}"`).join(' ')}\n`,
    )
    .join('')

type Start = (zone: string, records: string) => Promise<ProviderServer>

/** A verified domain with keys in its zone at the provider. `dns` answers in place of the provider's own server. */
async function open(
  provider: string,
  start: Start,
  options: { zones?: string; zone?: string; extra?: string; isPublished?: boolean; dns?: string } = {},
) {
  const { zones = `"${ZONE}"`, zone = ZONE, extra = '', isPublished = true } = options
  const folder = mkdtempSync(join(tmpdir(), 'provider-keys-'))
  undo.push(() => rmSync(folder, { recursive: true }))
  const keys = await mintDkimKeys('active', START, systemRandom, 'first')
  const server = await start(zone, OTHERS + extra + (isPublished ? linesOf(keys) : ''))
  undo.push(() => server.stop())
  const file = join(folder, 'credentials')
  const give = (credentials: string) => writeFileSync(file, credentials, { mode: 0o600 })
  give(server.credentials)
  const { config } = readConfig({
    text: `hostname = "${HOSTNAME}"
[dns]
provider = "${provider}"
credentials_file = "${file}"
provider_zones = [${zones}]`,
    file: '',
    env: {},
  })
  const { providerZones } = config!.dns
  let at = START
  const clock = { ...createFakeClock(START), now: () => at }
  const address = options.dns ?? server.address
  const resolver = createResolver({ servers: [address], clock, random: systemRandom, maxCacheEntries: 0 })
  undo.push(() => resolver.close())
  const survey = createSurvey({
    resolver,
    publicResolvers: [address],
    mayAsk: () => true,
    clock,
    random: systemRandom,
    port: Number(address.split(':')[1]),
    timeoutMs: 30_000,
  })
  let store = await openStore({ dataDir: folder, now: START })
  undo.push(() => store.close())
  await store.organizations.create({ id: 'org_1', name: 'Acme', plan: 'free', createdAt: START })
  await store.domains.create(newDomain({ id: ID, organizationId: 'org_1', name: DOMAIN }, START, keys), -1)
  const logged: string[] = []
  const log = createLog({ clock, level: 'debug', format: 'json', write: (line) => logged.push(line) })
  let calls = 0
  let onIdle = () => {}
  const real = createChangeKeys(config!, resolver, {})
  const shown = { change: real as ChangeKeys }
  const publisher = () =>
    createProviderKeys({
      store: {
        domains: {
          ...store.domains,
          get: async (id) => {
            if (id === IDLE) onIdle()
            return store.domains.get(id)
          },
        },
      },
      now: () => at,
      leads: () => true,
      change: async (...args) => {
        calls++
        return shown.change(...args)
      },
      maxAgeMs: MAX_AGE,
      log,
    })
  let publish = publisher()
  const read = async () => (await store.domains.get(ID))!
  /** One turn of maintenance, without waiting for the provider. */
  const check = () =>
    checkDueDomains(at, {
      store,
      resolver,
      server: ownServer(HOSTNAME, { providerZones }),
      publishKeys: (id) => publish(id),
      survey,
      rotateEveryMs: EVERY,
      maxAgeMs: MAX_AGE,
      random: systemRandom,
      mintId: createMintId(clock, systemRandom),
      log: silentLog,
    })
  /** Until the publisher has nothing more to do: a domain that does not exist waits behind the others. */
  const settled = () =>
    new Promise<void>((resolve) => {
      onIdle = resolve
      publish(IDLE)
    })
  /** One turn, and what the provider does in it. */
  const turn = async () => {
    await check()
    await settled()
  }
  return {
    server,
    file,
    give,
    read,
    check,
    turn,
    settled,
    publish: async () => {
      publish(ID)
      await settled()
    },
    logged,
    providerZones,
    shown,
    real,
    calls: () => calls,
    now: () => at,
    go: (ms: number) => {
      at += ms
    },
    store: () => store,
    restart: async () => {
      await store.close()
      store = await openStore({ dataDir: folder, now: START })
      publish = publisher()
    },
    /** To the day of the next rotation, one day after the other. */
    untilRotation: async () => {
      await turn()
      const dueAt = nextRotationAt(await read(), EVERY, at, providerZones)!
      while (at < dueAt - DAY) {
        at += DAY
        await turn()
      }
      at = dueAt + DAY // the next daily check
    },
    health: () =>
      checkRotations(
        () => waitingRotations(store, { zone: null, providerZones, survey, resolver, now: at }),
        () => refusedKeys(store, providerZones),
      ),
  }
}

type Opened = Awaited<ReturnType<typeof open>>

const dkimLines = async ({ server }: Opened) => (await server.records()).filter((line) => line.includes('._domainkey.'))
const selectors = async ({ read }: Opened, state: string) =>
  (await read()).dkim.filter((key) => key.state === state).map(({ selector }) => selector)
/** Goes on until the new keys sign. */
async function untilSwitched(all: Opened): Promise<void> {
  for (let n = 0; n < 30 && states(await all.read()) !== SWITCHED; n++) {
    all.go(10 * MINUTE)
    await all.turn()
  }
  expect(states(await all.read())).toBe(SWITCHED)
}

const bind: Start = (zone, records) => startBind(zone, records, 'lexicon')
const reader: Start = (zone, records) => startBind(zone, records, 'reader')
const providers: [name: string, tool: string, start: Start][] = [
  ['ddns', 'named', bind],
  ['powerdns', 'pdns_server', startPowerDns],
]

for (const [provider, tool, start] of providers) {
  describeWith(['root', 'lexicon', tool, 'dig'], `rotation at ${provider}`, () => {
    test('publishes new keys, switches an hour after DNS has them, removes old ones after their time, and nothing else', async () => {
      const all = await open(provider, start)
      const before = await all.server.records()
      await all.untilRotation()
      expect([states(await all.read()), all.calls(), await all.server.records()]).toEqual([KEYS, 0, before])
      await all.turn()
      expect(states(await all.read())).toBe(WAITING)
      const [first, second] = [await selectors(all, 'active'), await selectors(all, 'pending')]
      const published = await all.server.records()
      const isNew = (line: string) => second.some((selector) => line.startsWith(`${selector}._domainkey.${DOMAIN}. `))
      expect(published.filter((line) => !isNew(line))).toEqual(before)
      expect(published.filter(isNew)).toHaveLength(2)
      const switchedFrom = all.now()
      await untilSwitched(all)
      expect(all.now() - switchedFrom).toBe(70 * MINUTE) // seen after 10 minutes, and for an hour
      expect([await selectors(all, 'active'), all.calls()]).toEqual([second, 1])
      for (let n = 0; n < 7; n++) {
        all.go(DAY)
        await all.turn()
        expect(await all.server.records()).toEqual(published)
      }
      all.go(DAY + MINUTE)
      await all.turn()
      expect([states(await all.read()), all.calls()]).toEqual([KEYS, 2])
      const isOld = (line: string) => first.some((selector) => line.startsWith(`${selector}._domainkey.${DOMAIN}. `))
      expect(await all.server.records()).toEqual(published.filter((line) => !isOld(line)))
      all.go(DAY)
      await all.turn()
      expect([all.calls(), (await all.read()).publishAt]).toEqual([2, null])
    })
  })
}

describeWith(['root', 'lexicon', 'named', 'dig'], 'rotation at a provider', () => {
  test('a process that dies between provider and store leaves a rotation that goes on', async () => {
    const all = await open('ddns', bind)
    await all.untilRotation()
    const dies: ChangeKeys = async (domain, changes) => {
      const some = { ...changes, added: changes.added.slice(0, 1) }
      expect(await all.real(domain, some)).toBeNull()
      throw new Error('killed')
    }
    all.shown.change = dies
    await all.turn()
    await all.restart()
    expect([states(await all.read()), (await dkimLines(all)).length, all.calls()]).toEqual([WAITING, 4, 1])
    await all.turn() // not at once
    expect(all.calls()).toBe(1)
    all.shown.change = async (domain, changes) => {
      await all.real(domain, changes)
      throw new Error('killed')
    }
    all.go(6 * MINUTE)
    await all.turn()
    await all.restart()
    all.shown.change = all.real
    expect([(await dkimLines(all)).length, all.calls()]).toEqual([5, 2])
    await untilSwitched(all)
    expect(all.calls()).toBe(2) // DNS has them
    all.go(8 * DAY + MINUTE)
    all.shown.change = async (domain, changes) => {
      await all.real(domain, changes)
      throw new Error('killed')
    }
    await all.turn()
    await all.restart()
    all.shown.change = all.real
    expect([states(await all.read()), (await dkimLines(all)).length]).toEqual([SWITCHED, 3])
    all.go(DAY)
    await all.turn()
    expect([states(await all.read()), (await dkimLines(all)).length]).toEqual([KEYS, 3])
  })

  test('that refuses: the present keys sign, the reason is shown without the key, and it is tried less and less', async () => {
    const all = await open('ddns', reader)
    const before = await all.server.records()
    await all.untilRotation()
    const startedAt = all.now()
    const triedAt: number[] = []
    while (all.now() < startedAt + 45 * DAY) {
      const calls = all.calls()
      // Only the first and the last tries ask the real provider: each takes seconds.
      all.shown.change = calls < 2 ? all.real : async () => 'refused'
      await all.turn()
      if (all.calls() > calls) triedAt.push(Math.round((all.now() - startedAt) / MINUTE))
      if (all.calls() === 1 && calls === 0) {
        const verdict = await all.health()
        const fault = `${(await selectors(all, 'pending'))[0]}._domainkey.${DOMAIN}: the provider does not have the record after the change`
        expect(verdict).toMatchObject({
          status: 'warn',
          message: `the DNS provider did not change the DKIM keys of ${DOMAIN}: ${fault}`,
        })
        expect(all.logged.join()).toContain('DKIM keys not published')
        const secret = /:(\S+)\n/.exec(all.server.credentials)![1]!.split(':')[1]!
        expect(JSON.stringify([verdict, all.logged, await all.read()])).not.toContain(secret)
      }
      all.go(all.now() - startedAt < 8 * HOUR ? 5 * MINUTE : 6 * HOUR)
    }
    expect(triedAt.slice(0, 8)).toEqual([0, 5, 10, 20, 40, 80, 160, 320])
    expect(triedAt.length).toBeLessThan(45)
    expect(triedAt.at(-1)).toBeLessThanOrEqual((30 * DAY) / MINUTE)
    expect([states(await all.read()), (await all.read()).status, await all.server.records()]).toEqual([
      WAITING,
      'verified',
      before,
    ])
  })

  test('that refuses goes on when it accepts, also the removal', async () => {
    const all = await open('ddns', reader)
    const accept = () => all.give(all.server.credentials.replace(':reader:', ':lexicon:'))
    await all.untilRotation()
    await all.turn()
    expect((await all.read()).publishFault).not.toBeNull()
    accept()
    all.go(6 * MINUTE)
    await all.turn()
    expect((await all.read()).publishFault).toBeNull()
    expect((await all.health()).status).toBe('pass')
    await untilSwitched(all)
    all.give(all.server.credentials)
    all.go(8 * DAY + MINUTE)
    await all.turn()
    expect([states(await all.read()), (await dkimLines(all)).length]).toEqual([SWITCHED, 5])
    expect(await all.health()).toMatchObject({
      message: expect.stringContaining('the provider still has the old record'),
    })
    accept()
    all.go(DAY)
    await all.turn()
    expect([states(await all.read()), (await dkimLines(all)).length, (await all.health()).status]).toEqual([
      KEYS,
      3,
      'pass',
    ])
  })

  test('without credentials, or with a file that others can read, changes nothing and says why', async () => {
    const all = await open('ddns', bind)
    await all.untilRotation()
    all.give('')
    await all.turn()
    expect((await all.read()).publishFault).toContain('ddns needs LEXICON_DDNS_AUTH_TOKEN')
    all.give(all.server.credentials)
    chmodSync(all.file, 0o640)
    all.go(6 * MINUTE)
    await all.turn()
    expect((await all.read()).publishFault).toContain('only its owner can read')
    expect((await dkimLines(all)).length).toBe(3)
  })

  const cases: [what: string, options: Parameters<typeof open>[2], fault: string][] = [
    [
      'a domain below the zone whose keys only another server has',
      { isPublished: false },
      'the provider does not have the present key first',
    ],
    [
      'a domain that is a zone of its own below the listed zone',
      { extra: 'shop IN NS ns1.elsewhere.example.\n' },
      'shop.example.org is a zone of its own, not in dns.provider_zones',
    ],
  ]
  for (const [what, options, fault] of cases) {
    test(`writes nothing for ${what}`, async () => {
      const dns = await startZone()
      undo.push(() => dns.stop())
      const all = await open('ddns', bind, { ...options, dns: dns.address })
      for (const key of (await all.read()).dkim) dns.set(recordOf(key).name, 'TXT', [recordOf(key).value])
      dns.set(options?.extra === undefined ? ZONE : DOMAIN, 'NS', ['ns1.elsewhere.example'])
      const before = await all.server.records()
      await all.untilRotation()
      await all.turn()
      expect([states(await all.read()), await all.server.records()]).toEqual([WAITING, before])
      expect((await all.read()).publishFault).toStartWith(fault)
    })
  }

  test('asks nothing for domains outside the listed zones', async () => {
    const all = await open('ddns', bind, { zones: '"example.com", "hop.example.org"' })
    await all.turn()
    expect((await all.read()).status).toBe('verified')
    expect(nextRotationAt(await all.read(), EVERY, all.now(), all.providerZones)).toBeNull()
    await all.store().domains.addDkimKeys(ID, await mintDkimKeys('pending', all.now(), systemRandom))
    await all.turn()
    expect(all.calls()).toBe(0)
  })

  test('asks nothing for domains without proof, with a missing one, and with too many keys', async () => {
    const all = await open('ddns', bind)
    const { domains } = all.store()
    await domains.addDkimKeys(ID, await mintDkimKeys('pending', all.now(), systemRandom))
    all.shown.change = async () => null
    const callsWith = async (check: Partial<DomainCheck>) => {
      const proved = { status: 'verified', provedBy: 'dkim', verifiedAt: START } as const
      await domains.recordCheck(ID, { checkedAt: START, findings: [], ...proved, ...check })
      await all.publish()
      return all.calls()
    }
    expect(await callsWith({ status: 'pending', provedBy: null })).toBe(0)
    expect(await callsWith({ provedBy: 'txt' })).toBe(0)
    expect(await callsWith({ missingSince: START })).toBe(0)
    const retiring = [
      ...(await mintDkimKeys('retiring', all.now(), systemRandom)),
      ...(await mintDkimKeys('retiring', all.now(), systemRandom)),
    ]
    await domains.addDkimKeys(ID, retiring)
    expect(await callsWith({})).toBe(0)
    for (const { selector } of retiring.slice(2)) await domains.removeDkimKey(ID, selector)
    expect(await callsWith({})).toBe(1)
  })
})

describeWith(['root', 'lexicon', 'pdns_server'], 'rotation', () => {
  test('two nodes that both publish leave each record once', async () => {
    const all = await open('powerdns', startPowerDns)
    await all.untilRotation()
    all.shown.change = async (domain, changes) =>
      (await Promise.all([all.real(domain, changes), all.real(domain, changes)])).find((fault) => fault !== null) ??
      null
    await all.turn()
    expect((await dkimLines(all)).length).toBe(5)
    await untilSwitched(all)
  })

  test('a provider that hangs holds up nothing else, and is asked again later', async () => {
    const all = await open('powerdns', startPowerDns)
    let isSilent = true
    const silent = createServer((socket) => {
      if (!isSilent) socket.destroy()
    })
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    undo.push(() => silent.close())
    await all.untilRotation()
    const connected = once(silent, 'connection')
    all.give(
      all.server.credentials.replace(/http:\/\/\S+/, `http://127.0.0.1:${(silent.address() as { port: number }).port}`),
    )
    await all.check()
    const [socket] = await connected
    // The check of the domain ended, and so does the next one, while the provider is silent.
    all.go(6 * MINUTE)
    await all.check()
    expect([states(await all.read()), all.calls(), (await all.read()).publishFault]).toEqual([WAITING, 1, null])
    isSilent = false
    socket.destroy()
    await all.settled()
    expect((await all.read()).publishFault).toStartWith('lexicon: ')
    all.give(all.server.credentials)
    all.go(6 * MINUTE)
    await all.turn()
    expect([(await all.read()).publishFault, (await dkimLines(all)).length]).toEqual([null, 5])
    await untilSwitched(all)
  })

  test('DNS that fails or shows the old state for an hour delays the new keys, and the present ones sign', async () => {
    const dns = await startZone()
    undo.push(() => dns.stop())
    const all = await open('powerdns', startPowerDns, { dns: dns.address })
    const show = (keys: readonly DkimKeyRecord[]) => {
      for (const key of keys) dns.set(recordOf(key).name, 'TXT', [recordOf(key).value])
    }
    dns.set(ZONE, 'NS', ['ns1.example.org'])
    dns.set('ns1.example.org', 'A', ['127.0.0.1'])
    show((await all.read()).dkim)
    await all.untilRotation()
    await all.turn()
    expect((await dkimLines(all)).length).toBe(5)
    all.shown.change = async () => null // the provider has them
    const pending = (await all.read()).dkim.filter(({ state }) => state === 'pending')
    const waits = async () => {
      for (let n = 0; n < 12; n++) {
        all.go(6 * MINUTE)
        await all.turn()
        expect([states(await all.read()), (await all.read()).status]).toEqual([WAITING, 'verified'])
      }
    }
    await waits() // DNS does not have them
    for (const key of pending) dns.fail(recordOf(key).name, 'SERVFAIL')
    await waits()
    for (const key of pending) dns.fail(recordOf(key).name, null)
    const other = await mintDkimKeys('pending', START, systemRandom, 'other')
    for (const [n, key] of pending.entries()) dns.set(recordOf(key).name, 'TXT', [recordOf(other[n]!).value])
    await waits()
    expect(await all.health()).toMatchObject({ status: 'pass' })
    all.go(3 * HOUR)
    expect(await all.health()).toMatchObject({ status: 'warn', message: expect.stringContaining('another value') })
    show(pending)
    await untilSwitched(all)
    expect((await dkimLines(all)).length).toBe(5)
  })
})
