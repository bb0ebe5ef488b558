/** Two nodes with a delegated zone: a rotation of DKIM keys on each database, and the answers of both. */

import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeConfig } from '../../src/config/load.ts'
import { slotStems, zoneLabel } from '../../src/domains/delegated-zone.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { createSurvey } from '../../src/domains/publication.ts'
import { nextRotationAt } from '../../src/domains/rotation.ts'
import { zoneRecordsOf } from '../../src/domains/zone-records.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { checkDueDomains } from '../../src/operating/maintenance/domains.ts'
import { createMintId } from '../../src/os/ids.ts'
import { silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { openZoneListener } from '../../src/server/name-server.ts'
import { openPostgresStore } from '../../src/storage/postgres/open.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { ownServer } from '../support/own-server.ts'
import { until } from '../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { run } from '../support/real-tools.ts'
import * as rotating from './rotating.ts'

const { DAY, EVERY, HOSTNAME, HOUR, KEYS, MAX_AGE, MINUTE, publish, SETTINGS, START, startDns } = rotating
const { states, SWITCHED, WAITING, ZONE } = rotating
const ID = 'dom_rotating'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

function tests(openNode: () => Promise<Store>): void {
  async function open() {
    const dns = await startDns(undo)
    const clock = createFakeClock(START)
    const resolver = createResolver({ servers: [dns.near.address], clock, random: systemRandom, maxCacheEntries: 0 })
    undo.push(() => resolver.close())
    const survey = createSurvey({
      resolver,
      publicResolvers: [dns.far.address],
      mayAsk: () => true,
      clock,
      random: systemRandom,
      port: dns.port,
      timeoutMs: 30_000,
    })
    const node = async () => {
      const store = await openNode()
      undo.push(() => store.close())
      return store
    }
    const first = await node()
    await first.organizations.create({ id: 'org_1', name: 'Acme', plan: 'free', createdAt: START })
    const keys = await mintDkimKeys('active', START, systemRandom, slotStems(ID)[0])
    await first.domains.create(newDomain({ id: ID, organizationId: 'org_1', name: 'acme.example' }, START, keys), -1)
    /** One turn of each of these nodes at the same time. `all`: each believes that the domain is its own to check. */
    const turn = async (now: number, nodes: readonly Store[], all = false) => {
      const claimed = all ? [(await nodes[0]!.domains.get(ID))!] : null
      await Promise.all(
        nodes.map(({ domains }) => {
          const claimDue = async () => claimed ?? []
          const bound = new Proxy(domains, {
            get: (target, method: keyof typeof domains) =>
              method === 'claimDue' && claimed !== null ? claimDue : target[method].bind(target),
          })
          return checkDueDomains(now, {
            store: { domains: bound },
            resolver,
            server: ownServer(HOSTNAME, { zone: ZONE }),
            survey,
            rotateEveryMs: EVERY,
            maxAgeMs: MAX_AGE,
            random: systemRandom,
            mintId: createMintId({ ...clock, now: () => now }, systemRandom),
            log: silentLog,
          })
        }),
      )
    }
    const read = async (store: Store) => (await store.domains.get(ID))!
    /** The selectors that the node signs with now. Each must be in DNS, as the last server to get it has it. */
    const signs = async (store: Store) => {
      const { dkim } = store.snapshot.domainByName('acme.example')!
      const active = dkim.filter(({ state }) => state === 'active')
      for (const { selector, publicKey } of active) {
        const far = createResolver({ servers: [dns.far.address], clock, random: systemRandom, maxCacheEntries: 0 })
        const found = await far.txt(`${selector}._domainkey.acme.example`)
        far.close()
        expect(found.kind === 'records' && found.records[0]).toContain(`p=${publicKey}`)
      }
      return active.map(({ selector }) => selector).join()
    }
    const actions = async (store: Store) => {
      const page = await store.auditLog.list(
        { organizationId: null, actorId: null, action: null, resourceId: ID, createdAfter: null, createdBefore: null },
        { limit: 20, after: null },
      )
      return page.records.map(({ action }) => action).filter((action) => action.includes('dkim'))
    }
    /** Until the rotation is due, and the keys of the domain are proved. */
    const prepare = async (nodes: readonly Store[]) => {
      publish(await read(first), dns, dns.all.slice(1))
      await turn(START, nodes)
      return nextRotationAt(await read(first), EVERY, START)!
    }
    return { dns, first, node, turn, read, signs, actions, prepare }
  }

  const [OLD, NEW] = slotStems(ID).map((stem) => `${stem}r,${stem}e`)

  test('one node rotates, and both sign with keys that DNS has', async () => {
    const { dns, first, node, turn, read, signs, actions, prepare } = await open()
    const nodes = [first, await node()]
    const dueAt = await prepare(nodes)
    await turn(dueAt - MINUTE, nodes)
    expect(states(await read(first))).toBe(KEYS)
    await turn(dueAt, nodes, true)
    expect(states(await read(first))).toBe(WAITING)
    let now = dueAt
    const seen = new Set<string>()
    while (states(await read(first)) !== SWITCHED) {
      if (now > dueAt + DAY) throw new Error('no switch')
      publish(await read(nodes[1]!), dns, now === dueAt ? [dns.first, dns.near] : dns.all.slice(1))
      now += 30 * MINUTE
      await turn(now, nodes, true)
      for (const store of nodes) seen.add(await signs(store))
    }
    expect(now - dueAt).toBe(2 * HOUR) // all show them in the second turn
    for (const store of nodes) await until('the new keys', () => signs(store).then((keys) => keys === NEW))
    expect([...seen].every((keys) => keys === OLD || keys === NEW)).toBe(true)
    expect(await actions(first)).toEqual(['domains_dkim_rotated', 'domains_dkim_rotation_started'])
    await turn(now + 7 * DAY, nodes, true)
    expect(states(await read(first))).toBe(SWITCHED)
    await turn(now + 8 * DAY, nodes, true)
    expect(states(await read(first))).toBe(KEYS)
    await until('the end of the old keys', async () => states(await read(nodes[1]!)) === KEYS)
    const empty = zoneRecordsOf(await read(nodes[1]!), SETTINGS).filter(({ value }) => value.endsWith('p='))
    expect(empty.map(({ name }) => name.split('.')[0]).join()).toBe(OLD!)
  })

  test('another node takes over between the new keys, their hour, the switch and the end of the old ones', async () => {
    const { dns, first, node, turn, read, signs, actions, prepare } = await open()
    let leader = await node()
    let now = await prepare([first])
    const takeOver = async () => {
      const next = await node()
      await leader.close()
      undo.splice(undo.length - 2, 1) // it is closed
      leader = next
    }
    await turn(now, [leader])
    expect(states(await read(leader))).toBe(WAITING)
    await takeOver()
    publish(await read(leader), dns, dns.all.slice(1))
    now += 6 * MINUTE
    await turn(now, [leader])
    expect((await read(leader)).dkim.map(({ since }) => since).slice(2)).toEqual([now, now])
    await takeOver()
    expect(await signs(leader)).toBe(OLD!)
    now += 60 * MINUTE
    await turn(now, [leader])
    expect(states(await read(leader))).toBe(SWITCHED)
    await takeOver()
    expect(await signs(leader)).toBe(NEW!)
    await until('the new keys', async () => (await signs(first)) === NEW)
    await turn(now + 8 * DAY, [leader])
    expect(states(await read(leader))).toBe(KEYS)
    expect(await actions(first)).toEqual(['domains_dkim_rotated', 'domains_dkim_rotation_started'])
  })
}

describe('two processes on sqlite', () => {
  let folder: string | null = null
  afterEach(() => {
    if (folder !== null) rmSync(folder, { recursive: true })
    folder = null
  })
  tests(() => {
    folder ??= mkdtempSync(join(tmpdir(), 'rotation-'))
    return openStore({ dataDir: folder, now: START })
  })
})

describeWithPostgres('two nodes on postgresql', () => {
  let postgres: TestPostgres | null = null
  let url: string | null = null
  let folders: string[] = []
  let databases = 0
  afterEach(() => {
    for (const folder of folders) rmSync(folder, { recursive: true })
    url = null
    folders = []
  })
  afterAll(() => postgres?.stop())
  const openNode = async () => {
    postgres ??= await startPostgres()
    url ??= await postgres.createDatabase(`rotation${++databases}`)
    const dataDir = mkdtempSync(join(tmpdir(), 'rotation-'))
    if (folders[0] !== undefined) copyFileSync(join(folders[0], 'seal.key'), join(dataDir, 'seal.key'))
    folders.push(dataDir)
    const name = `n${folders.length}`
    const node = { name, hostname: `${name}.example.net` }
    return openPostgresStore({ url, dataDir, now: START, clock: () => START, node })
  }
  tests(openNode)

  test('every node answers for the zone alike, with the names of all nodes and the keys of every domain', async () => {
    const stores = [await openNode(), await openNode()]
    undo.push(...stores.map((store) => () => store.close()))
    const [first] = stores
    await first!.organizations.create({ id: 'org_1', name: 'Acme', plan: 'free', createdAt: START })
    const keys = await mintDkimKeys('active', START, systemRandom, slotStems(ID)[0])
    await first!.domains.create(newDomain({ id: ID, organizationId: 'org_1', name: 'acme.example' }, START, keys), -1)
    const servers = await Promise.all(
      stores.map(async (store, n) => {
        const dns = { zone: ZONE, listen: ['127.0.0.1:0'] }
        const config = makeConfig({
          hostname: `n${n + 1}.example.net`,
          http: { public_url: 'https://example.net' },
          dns,
        })
        const server = (await openZoneListener(config, { store, log: silentLog, onEvent: () => {} }))!
        undo.push(() => server.stop())
        return server
      }),
    )
    const label = zoneLabel(ID)
    const answers = servers.map(async ({ listening: [at] }) => {
      const questions = [ZONE, `bounces.${label}.${ZONE}`, `${slotStems(ID)[0]}r.${label}.${ZONE}`].flatMap((name) =>
        ['SOA', 'NS', 'MX', 'TXT'].flatMap((type) => [name, type]),
      )
      const { output } = await run([
        'dig',
        '@127.0.0.1',
        '-p',
        `${at!.port}`,
        '+noall',
        '+answer',
        '+authority',
        ...questions,
      ])
      return output.split('\n').filter((line) => line !== '' && !line.startsWith(';'))
    })
    const [one, two] = await Promise.all(answers)
    expect(one).toEqual(two!)
    const text = one!.join('\n').replaceAll(/\s+/g, ' ').replaceAll('" "', '')
    for (const word of [
      `${ZONE}. 3600 IN NS n1.example.net. ${ZONE}. 3600 IN NS n2.example.net.`,
      'MX 10 n1.example.net.',
      'MX 10 n2.example.net.',
      '"v=spf1 a:n1.example.net a:n2.example.net ~all"',
      `p=${keys[0]!.publicKey}`,
    ])
      expect(text).toContain(word)
  })
})
