/** A month of mail, written through the store's own roles with the times of the month. The real server makes the rest: the
 *  organization before it, and the sandbox messages, health checks and alerts of the last minutes. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { packedManual } from '../../src/cli/manual/packed.ts'
import { planNamed } from '../../src/config/load.ts'
import { iso } from '../../src/model/event.ts'
import { createMintId } from '../../src/os/ids.ts'
import { silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { type Server, startServer } from '../../src/server/server.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { DOMAIN } from './mails.ts'
import { Month } from './month.ts'
import { foundNorthwind, type Northwind } from './organization.ts'
import { configOf, startWorld } from './world.ts'

const DAYS = 31
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const LAST_MINUTES_MS = 900_000

/** Fills `folder`, which is empty; the month ends now → the number of messages. */
export async function fill(folder: string): Promise<number> {
  mkdirSync(join(folder, 'data'), { recursive: true, mode: 0o700 })
  const world = await startWorld(folder)
  const { config, settings } = configOf(folder, world, '127.0.0.1:0')
  const run = async <T>(at: number, work: (server: Server, clock: FakeClock) => Promise<T>): Promise<T> => {
    const clock = createFakeClock(at)
    const server = await startServer(config, { log: silentLog, clock, settings, manual: packedManual })
    const result = await work(server, clock)
    await whileTimePasses(clock, server.stop())
    return result
  }

  const end = Date.now()
  const start = end - DAYS * DAY_MS
  const northwind = await run(start, (server, clock) =>
    foundNorthwind(server, world, createMintId(clock, systemRandom), clock.now()),
  )
  const store = await openStore({ dataDir: config.dataDir, now: start, plans: planNamed(config) })
  const clock = { now: start }
  const count = await new Month(store, northwind, clock).run(end - LAST_MINUTES_MS)
  await store.close()
  await run(end - LAST_MINUTES_MS, (server, fakeClock) => finish(server, northwind, fakeClock))
  await world.stop()
  return count
}

/** The last minutes: sandbox messages, scheduled mail, manual suppressions, and alerts that have found their causes twice. */
async function finish(server: Server, northwind: Northwind, clock: FakeClock): Promise<void> {
  const id = createMintId(clock, systemRandom)('org')
  await server.store.organizations.create({ id, name: 'Contoso Travel', plan: 'free', createdAt: clock.now() })
  const ask = (domain: string, path: string, body: unknown) => northwind.ask(server, domain, 'POST', path, body)
  const from = 'Northwind Books <hello@northwind.example>'
  const appointment = { from, to: 'Ann <ann@gmail.com>', subject: 'Your appointment tomorrow', text: 'See you.' }
  await ask(DOMAIN, '/v1/messages/send', { ...appointment, scheduled_at: iso(clock.now() + 5 * HOUR_MS) })
  for (const name of ['press', 'someone.with.a.long.name+newsletter', 'info'])
    await ask(DOMAIN, '/v1/suppressions', { email: `${name}@kontor-lindqvist.example` })
  const testKey = { name: 'Tests of the shop', domain_id: northwind.domains.get(DOMAIN), mode: 'test' }
  const { key } = await ask(DOMAIN, '/v1/api-keys', { ...testKey, permissions: ['send'] })
  northwind.keys.set('test', key)
  for (const name of ['ann', 'bounce', 'defer', 'complain', 'open', 'click']) {
    const sent = { from, to: `${name}@customer.example`, subject: `Sandbox: ${name}`, text: 'Hello', tags: ['test'] }
    await ask('test', '/v1/messages/send', sent)
  }
  for (let minute = 0; minute < 14; minute++) {
    await clock.leap(60_000)
    await Bun.sleep(100)
  }
}

/** Advances the clock while a shutdown waits on it. */
async function whileTimePasses(clock: FakeClock, work: Promise<void>): Promise<void> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await Bun.sleep(5)
    await clock.advance(100)
  }
  await over
}
