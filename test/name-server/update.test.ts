import { afterEach, expect, test } from 'bun:test'
import { probeZoneUpdate } from '../../src/checkup/zone-update.ts'
import { zoneLabel } from '../../src/domains/delegated-zone.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import type { RequestClock } from '../../src/name-server/signed-connection.ts'
import { transferZone } from '../../src/name-server/transfer/transfer.ts'
import type { TsigKey } from '../../src/name-server/tsig.ts'
import { connectToUpdate, NO_CHANGE } from '../../src/name-server/update-client.ts'
import { presentZone, writeZone } from '../../src/name-server/zone-updater.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { openMemoryStore } from '../support/migrated-store.ts'
import { describeWith } from '../support/real-tools.ts'
import { type RealZone, startBind, startKnot } from '../support/update-servers.ts'

const ZONE = 'pm.example.net'
const HOSTNAME = 'mail.example.net'
const NOW = Date.UTC(2026, 10, 21)
const SECRET = Buffer.alloc(64, 7)
const SETTINGS = {
  zone: ZONE,
  hosts: [HOSTNAME],
  webHost: HOSTNAME,
  mtaSts: null,
  addresses: ['192.0.2.1'],
  nameServers: [HOSTNAME],
  ownNames: [],
  ownAddresses: [],
}

/** RSA keys cost a tenth of a second each. */
const minted = mintDkimKeys('active', NOW, systemRandom, 's')

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

for (const [program, start, algorithm] of [
  ['named', startBind, 'hmac-sha256'],
  ['knotd', startKnot, 'hmac-sha512'],
] as const) {
  describeWith([program, 'dig'], `updates of ${program}`, () => {
    const key = { name: 'postrider-key', algorithm, secret: SECRET }
    const open = async (zone: Partial<RealZone> = {}) => {
      const server = await start({ zone: ZONE, key: { ...key, secret: SECRET.toString('base64') }, ...zone })
      undo.push(() => server.stop())
      const store = await openMemoryStore()
      undo.push(() => store.close())
      await store.organizations.create({ id: 'org_1', name: 'Acme', plan: 'free', createdAt: NOW })
      const add = async (n: number) => {
        const id = `dom_${n}`
        const keys = (await minted).map((each) => ({ ...each, selector: each.selector.replace('s', `s${n}`) }))
        await store.domains.create(newDomain({ id, organizationId: 'org_1', name: `d${n}.example` }, NOW, keys), -1)
        return { id, name: `s${n}e.${zoneLabel(id)}.${ZONE}`, label: `${zoneLabel(id)}.${ZONE}` }
      }
      const as = (other: Partial<TsigKey> = {}) => ({ host: '127.0.0.1', port: server.port, key: { ...key, ...other } })
      const connect = (clock = systemClock) => {
        const connection = connectToUpdate(as(), clock)
        undo.push(() => connection.close())
        return connection
      }
      const read = (other: Partial<TsigKey> = {}, clock: RequestClock = systemClock, zone_ = ZONE) =>
        transferZone(as(other), zone_, { clock })
      const write = async () => {
        const present = presentZone(await read())
        const changed = await writeZone(store, SETTINGS, { connect: () => connect(), present, keyName: key.name })
        return { changed, foreign: [...present.foreign] }
      }
      return { server, store, add, as, connect, read, write }
    }

    test('adds, changes and removes the records of domains, and nothing else', async () => {
      const { server, store, add, write } = await open()
      const [one, two] = [await add(1), await add(2)]
      expect(await write()).toEqual({ changed: 2, foreign: [] })
      expect(await server.dig(one.name, 'TXT')).toContain('k=ed25519; p=')
      expect(await server.dig(`bounces.${one.label}`, 'MX')).toBe(`10 ${HOSTNAME}.`)
      expect(await server.dig(`s1r.${one.label}`, 'TXT')).toContain('p=MII')
      expect(await write()).toEqual({ changed: 0, foreign: [] }) // twice is harmless
      await store.domains.removeDkimKey(one.id, 's1e')
      expect(await write()).toEqual({ changed: 1, foreign: [] })
      expect(await server.dig(one.name, 'TXT')).toBe('')
      await store.domains.remove(two.id, NOW)
      expect(await write()).toEqual({ changed: 1, foreign: [] })
      expect(await server.dig(two.name, 'TXT')).toBe('')
      expect(await server.dig(two.label, 'TXT')).toBe('')
      expect(await server.dig(`www.${ZONE}`, 'TXT')).toBe('"of somebody else"')
    })

    test('leaves names that it did not make', async () => {
      const { server, add, write, connect } = await open()
      const one = await add(1)
      const theirs = { name: one.name, type: 'TXT' as const, ttlSeconds: 60, value: 'theirs', priority: null }
      const connection = connect()
      const none = { unused: [], present: [] }
      expect(await connection.update(ZONE, { conditions: none, clear: [], add: [theirs] })).toBe(true)
      expect(await write()).toEqual({ changed: 0, foreign: [one.label.split('.')[0]!] })
      expect(await server.dig(one.name, 'TXT')).toBe('"theirs"')
      expect(await server.dig(`bounces.${one.label}`, 'MX')).toBe('')
      // Marked by another installation: a domain that this one does not have.
      const mark = { ...theirs, name: `${zoneLabel('dom_9')}.${ZONE}`, value: 'postrider=dom_9 key=another' }
      await connection.update(ZONE, { conditions: none, clear: [], add: [mark] })
      await write()
      expect(await server.dig(mark.name, 'TXT')).toBe('"postrider=dom_9 key=another"')
    })

    test('many domains take one transfer of several messages', async () => {
      const { add, write } = await open()
      for (let n = 0; n < 60; n++) await add(n)
      expect(await write()).toEqual({ changed: 60, foreign: [] })
      expect(await write()).toEqual({ changed: 0, foreign: [] })
    })

    test('says what is wrong with the key, the clock or the zone', async () => {
      const { server, as, connect, read, write } = await open()
      await expect(read({ secret: Buffer.alloc(64, 8) })).rejects.toThrow('BADSIG')
      await expect(read({ name: 'unknown' })).rejects.toThrow('BADKEY')
      const late = { now: () => Date.now() - 3_600_000, sleep: systemClock.sleep }
      await expect(read({}, late)).rejects.toThrow('BADTIME')
      await expect(read({}, systemClock, 'example.org')).rejects.toThrow(/REFUSED|NOTAUTH/)
      const change = { ...NO_CHANGE, clear: ['a.example.org'] }
      await expect(connect().update('example.org', change)).rejects.toThrow(/REFUSED|NOTAUTH|NOTZONE/)
      expect(await probeZoneUpdate(as(), ZONE, systemClock)).toBeNull()
      expect(await probeZoneUpdate(as({ secret: Buffer.alloc(64, 8) }), ZONE, systemClock)).toContain('BADSIG')
      expect(await probeZoneUpdate(as(), 'example.org', systemClock)).toMatch(/REFUSED|NOTAUTH|NOTZONE/)
      undo.shift() // the server
      await server.stop()
      await expect(write()).rejects.toThrow()
    })
  })
}
