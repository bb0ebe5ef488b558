import { afterEach, beforeEach, expect, test } from 'bun:test'
import { makeConfig } from '../../src/config/load.ts'
import { createCanaryWords } from '../../src/mail/canary-address.ts'
import { MOST_ON_THE_WAY } from '../../src/model/canary.ts'
import { createCanaries } from '../../src/operating/canary/canary.ts'
import type { SeedMailboxes } from '../../src/operating/canary/mailboxes.ts'
import { silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { openCanaries } from '../../src/server/canary.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'

/** Schedule and ends of canary mails on a real store, with a queue and mailboxes of the test. */

const MINUTE = 60_000
const DAY = 1440 * MINUTE
const START = 1_795_262_400_000
const NAMES = ['self', 'fast', 'slow']

let store: Store
beforeEach(async () => {
  store = await openStore({ dataDir: ':memory:', now: START, minFreeBytes: 0, plans: () => undefined } as never)
})
afterEach(() => store.close())

let minted = 0
const canariesOf = (look: SeedMailboxes['look'] = async () => {}, send: () => Promise<null> = async () => null) => {
  const queued: string[] = []
  const canaries = createCanaries({
    store,
    settings: {
      everyMs: 15 * MINUTE,
      missingAfterMs: 30 * MINUTE,
      mailboxes: NAMES.slice(1).map((name) => ({ name, address: `${name}@elsewhere.example` })),
    },
    words: async () => createCanaryWords(new Uint8Array(32)),
    ownHost: () => 'bounces.example',
    userMail: {
      send: async ({ to }) => {
        queued.push(to!.replace(/^canary-.*@/, '@'))
        return send()
      },
      unsuppress: async () => {},
    },
    publicUrl: () => 'https://mail.example',
    mintId: (prefix) => `${prefix}_${String(++minted).padStart(26, '0')}`,
    log: silentLog,
    mailboxes: { look },
  })
  return { canaries, queued }
}
const results = async (name: string) => (await store.canaries.latest(name, 99)).map(({ result }) => result)

test('each mailbox gets one mail for each interval, also after a restart', async () => {
  const first = canariesOf()
  await first.canaries.tick(START)
  await first.canaries.tick(START + 14 * MINUTE)
  expect(first.queued).toEqual(['@bounces.example', 'fast@elsewhere.example', 'slow@elsewhere.example'])
  const second = canariesOf()
  await second.canaries.tick(START + 14 * MINUTE)
  expect(second.queued).toEqual([])
  await second.canaries.tick(START + 15 * MINUTE)
  expect(second.queued).toHaveLength(3)
})

test('what was on its way when the server stopped for days ends', async () => {
  await canariesOf().canaries.tick(START)
  const { canaries } = canariesOf()
  await canaries.tick(START + 9 * DAY)
  for (const name of NAMES) expect(await results(name)).toEqual(['pending', 'missing'])
  expect(canaries.latest().map(({ mailbox, result }) => [mailbox, result])).toEqual(
    NAMES.map((name) => [name, 'missing']),
  )
})

test('a crash before the mail is queued sends nothing twice', async () => {
  const crashed = canariesOf(undefined, () => new Promise(() => {}))
  void crashed.canaries.tick(START)
  while (crashed.queued.length === 0) await Bun.sleep(0)
  const { canaries, queued } = canariesOf()
  await canaries.tick(START + MINUTE)
  expect(queued).toEqual(['fast@elsewhere.example', 'slow@elsewhere.example'])
  await canaries.tick(START + 30 * MINUTE)
  expect(await results('self')).toEqual(['pending', 'missing'])
})

test('a mailbox whose server does not answer delays no other one, and is not missing meanwhile', async () => {
  const looks: string[] = []
  const answer = Promise.withResolvers<void>()
  const { canaries } = canariesOf(async (name) => {
    looks.push(name)
    if (name === 'slow') await answer.promise
  })
  const ticks: Promise<void>[] = []
  for (const at of [0, 1, 2, 3]) {
    while ((await results('fast')).length <= at) {
      ticks.push(canaries.tick(START + at * 15 * MINUTE))
      await Bun.sleep(0)
    }
  }
  expect(looks.filter((name) => name === 'slow')).toEqual(['slow'])
  expect(new Set(await results('slow'))).toEqual(new Set(['pending']))
  answer.resolve()
  await Promise.all(ticks)
  await canaries.tick(START + 46 * MINUTE)
  expect(await results('slow')).toEqual(['pending', 'pending', 'missing', 'missing'])
})

test('metrics show results on the node that leads only', async () => {
  let isLeader = true
  const config = makeConfig({
    hostname: 'mail.example',
    data_dir: '/nowhere',
    smtp: { inbound: { listen: '127.0.0.1:2525' } },
    canary: { every_minutes: 15, from: 'canary@nowhere.example' },
  })
  const canaries = openCanaries(config, {
    store: { ...store, leases: { ...store.leases, leads: () => isLeader } },
    userMail: { send: async () => null, unsuppress: async () => {} } as never,
    random: systemRandom,
    mintId: () => `cnr_${++minted}`,
    publicUrl: () => 'https://mail.example',
    log: silentLog,
  })!
  await canaries.tick(START)
  expect(canaries.latest()).toMatchObject([{ mailbox: 'self', result: 'missing' }])
  isLeader = false
  expect(canaries.latest()).toEqual([])
})

// threat: canary-flood
test('runs in a loop put no more mails on their way than can be followed', async () => {
  const { canaries, queued } = canariesOf()
  for (let at = 0; at < 3 * MOST_ON_THE_WAY; at++) await canaries.run(START + at)
  expect(queued).toHaveLength(3 * MOST_ON_THE_WAY)
  expect(await canaries.run(START + 1000)).toEqual([])
  await canaries.tick(START + 31 * MINUTE)
  expect(await canaries.run(START + 32 * MINUTE)).toHaveLength(3)
})
