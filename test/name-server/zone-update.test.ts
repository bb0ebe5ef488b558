import { afterEach, expect, test } from 'bun:test'
import type { Answer } from 'dns-packet'
import { makeConfig } from '../../src/config/load.ts'
import { zoneLabel } from '../../src/domains/delegated-zone.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { transferZone } from '../../src/name-server/transfer/transfer.ts'
import { systemClock, type WallClock } from '../../src/os/clock.ts'
import { createLog, silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { createZoneUpdates, openZoneUpdates, updateServerOf } from '../../src/server/zone-update.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { openMemoryStore } from '../support/migrated-store.ts'
import {
  responseTo,
  soaOf,
  startTsigServer,
  TSIG_NAME,
  TSIG_SECRET,
  type TsigReply,
  type TsigRequest,
} from '../support/tsig-server.ts'

const ZONE = 'pm.example.net'
const START = Date.UTC(2026, 10, 21)
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const keys = mintDkimKeys('active', START, systemRandom, 's')

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

type Behaviour = (request: TsigRequest) => TsigReply | null

/** An empty zone that takes every update. */
const good: Behaviour = (request) => {
  const answers: Answer[][] = request.opcode === 'query' ? [[soaOf(ZONE)], [soaOf(ZONE)]] : [[]]
  return { messages: answers.map((each) => responseTo(request, each)) }
}
const failing =
  (rcode: number): Behaviour =>
  (request) => ({ messages: [responseTo(request, [], rcode)] })
/** Transfers the zone, and treats updates otherwise. */
const updates =
  (how: Behaviour): Behaviour =>
  (request) =>
    request.opcode === 'query' ? good(request) : how(request)

async function open(time: WallClock | null = null) {
  const fake = createFakeClock(START)
  const clock = time ?? fake
  let behaviour = good
  const peer = await startTsigServer((request) => behaviour(request), clock.now)
  undo.push(() => peer.stop())
  const store = await openMemoryStore()
  undo.push(() => store.close())
  await store.organizations.create({ id: 'org_1', name: 'Acme', plan: 'free', createdAt: START })
  const add = async (n: number) => {
    const domain = newDomain({ id: `dom_${n}`, organizationId: 'org_1', name: `d${n}.example` }, START, await keys)
    await store.domains.create(domain, -1)
  }
  const update = { server: `127.0.0.1:${peer.port}`, key_name: TSIG_NAME, key: TSIG_SECRET.toString('base64') }
  const config = makeConfig({ hostname: 'mail.example.net', dns: { zone: ZONE, update } })
  const logged: string[] = []
  const read: Parameters<typeof createZoneUpdates>[2]['read'] = (server, zone) =>
    transferZone(server, zone, { clock: { now: clock.now, sleep: clock.steady.sleep } })
  const log = createLog({ clock, level: 'info', format: 'text', write: (line) => void logged.push(line) })
  const zone = createZoneUpdates(config, updateServerOf(config)!, { store, clock, log, read })
  undo.push(() => zone.stop())
  /** Runs as maintenance does, every 15 seconds for this time. */
  const during = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 15 * SECOND) {
      zone.run()
      await zone.idle()
      await fake.advance(15 * SECOND)
    }
  }
  const behave = (next: Behaviour) => {
    behaviour = next
  }
  return { config, clock: fake, peer, store, add, zone, during, behave, logged }
}

test('without changes the server is asked once an hour; a change opens one connection', async () => {
  const { peer, store, add, zone, during, clock } = await open()
  await add(1)
  expect(zone.state()).toBeNull()
  await during(50 * MINUTE)
  expect([peer.connections, peer.opcodes]).toEqual([2, ['query', 'update']])
  await add(2)
  await add(3)
  await during(MINUTE)
  expect([peer.connections, peer.opcodes.slice(2)]).toEqual([3, ['update', 'update']])
  await store.domains.remove('dom_3', START)
  await during(MINUTE)
  expect([peer.connections, peer.opcodes.slice(4)]).toEqual([4, ['update']])
  expect(zone.state()).toEqual({ succeededAt: START + 51 * MINUTE, failure: null, foreign: [] })
  // After an hour the zone is read again. It is empty, so everything is written again.
  await during(10 * MINUTE)
  expect([peer.connections, peer.opcodes.slice(5)]).toEqual([6, ['query', 'update', 'update']])
  // Another node led meanwhile and may have written.
  await clock.advance(3 * MINUTE)
  expect(zone.state()).toBeNull()
  await during(MINUTE)
  expect(peer.opcodes.slice(8)).toEqual(['query', 'update', 'update'])
})

test.each<[string, string, Behaviour]>([
  ['refuses the transfer', 'refuses the transfer of the zone: REFUSED', failing(5)],
  ['refuses updates', 'refuses the update: REFUSED', updates(failing(5))],
  ['fails', 'refuses the update: SERVFAIL', updates(failing(2))],
  [
    'has another secret',
    'the signature of the reply is wrong',
    (request) => ({ ...good(request)!, secret: Buffer.alloc(32) }),
  ],
  ['closes the connection', 'closed the connection', () => ({ messages: [], close: true })],
])('a server that %s is asked less and less often, until it works', async (_, message, how) => {
  const { peer, add, zone, during, behave, logged } = await open()
  await add(1)
  behave(how)
  const attempts: number[] = []
  for (let n = 0; n < 8; n++) {
    const before = peer.opcodes.filter((opcode) => opcode === 'query').length
    let waited = 0
    while (peer.opcodes.filter((opcode) => opcode === 'query').length === before) {
      await during(15 * SECOND)
      waited += 15
    }
    attempts.push(waited)
  }
  expect(attempts).toEqual([15, 15, 30, 60, 120, 240, 480, 600])
  const lastAt = START + (attempts.reduce((a, b) => a + b) - 15) * SECOND
  const state = zone.state()!
  expect(state).toEqual({
    succeededAt: null,
    foreign: [],
    failure: { since: START, at: lastAt, message: state.failure!.message },
  })
  expect(state.failure!.message).toContain(message)
  expect(logged.filter((line) => line.includes('zone not written'))).toHaveLength(8)
  behave(good)
  await during(10 * MINUTE)
  expect(zone.state()).toMatchObject({ failure: null })
  expect(zone.state()!.succeededAt).toBeGreaterThan(lastAt)
  const connections = peer.connections
  await during(10 * MINUTE)
  expect(peer.connections).toBe(connections)
})

test('a server that is down is tried again after at most ten minutes', async () => {
  const { peer, add, zone, during, logged } = await open()
  await add(1)
  await during(MINUTE)
  await peer.stop()
  await add(2)
  await during(3 * HOUR)
  expect(zone.state()!.failure!.message).toContain('ECONNREFUSED')
  expect(zone.state()!.succeededAt).toBe(START)
  expect(logged.filter((line) => line.includes('zone not written')).length).toBeWithin(18, 24)
})

test('a late server ends the run after ten seconds, and no second run begins meanwhile', async () => {
  const { peer, clock, add, zone, behave } = await open()
  await add(1)
  behave(updates(() => null))
  zone.run()
  await clock.untilSleeping()
  while (peer.opcodes.at(-1) !== 'update') await clock.advance(1)
  for (let n = 0; n < 4; n++) {
    zone.run()
    await clock.advance(2 * SECOND)
  }
  expect([peer.connections, zone.state()]).toEqual([2, null])
  await clock.advance(2 * SECOND)
  await zone.idle()
  expect(zone.state()!.failure!.message).toBe('no answer in time')
})

test('a stop ends a run that waits for the server', async () => {
  const { peer, clock, add, zone, behave } = await open()
  await add(1)
  behave(updates(() => null))
  zone.run()
  await clock.untilSleeping()
  while (peer.opcodes.at(-1) !== 'update') await clock.advance(1)
  await zone.stop()
  zone.run()
  expect(peer.connections).toBe(2)
})

test('names that somebody else made are reported once, and tried again every ten minutes', async () => {
  const { peer, add, zone, during, behave, logged } = await open()
  await add(1)
  behave(updates(failing(6))) // YXDOMAIN
  await during(9 * MINUTE)
  expect(peer.opcodes).toEqual(['query', 'update'])
  expect(zone.state()).toEqual({ succeededAt: START, failure: null, foreign: [zoneLabel('dom_1')] })
  await during(12 * MINUTE)
  expect(peer.opcodes).toEqual(['query', 'update', 'query', 'update', 'query', 'update'])
  expect(logged.filter((line) => line.includes('did not make'))).toHaveLength(1)
  await add(2)
  await during(5 * MINUTE)
  expect(zone.state()!.foreign).toEqual([zoneLabel('dom_1'), zoneLabel('dom_2')])
  expect(logged.filter((line) => line.includes('did not make'))).toHaveLength(2)
  behave(good)
  await during(10 * MINUTE)
  expect(zone.state()!.foreign).toEqual([])
})

test('the server reads the zone in a thread, which says what is wrong', async () => {
  const { peer, store, add, behave, config } = await open(systemClock)
  await add(1)
  const pools = { onEvent: () => {}, add: () => {}, deaths: () => [] }
  const zone = openZoneUpdates(config, { store, clock: systemClock, log: silentLog, pools })!
  undo.push(() => zone.stop())
  behave(failing(5))
  zone.run()
  await zone.idle()
  expect(zone.state()!.failure!.message).toBe('the name server refuses the transfer of the zone: REFUSED')
  const again = openZoneUpdates(config, { store, clock: systemClock, log: silentLog, pools })!
  undo.push(() => again.stop())
  behave(good)
  again.run()
  await again.idle()
  expect([again.state()!.failure, peer.opcodes]).toEqual([null, ['query', 'query', 'update']])
})
