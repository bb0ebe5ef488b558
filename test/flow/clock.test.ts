import { afterEach, expect, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { until } from '../support/patience.ts'
import { type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { START, startTestServer, type TestServer } from '../support/server.ts'

/** The wall clock is set while mail waits, is tried, or the server is stopped. */

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const YEAR = 365 * 24 * HOUR

let remote: RawMx
let server: TestServer

async function open(replies: (Move | null)[], config: ConfigValues = {}) {
  remote = await startRawMx({
    script: (at) => (at !== 'RCPT' ? null : replies.length > 1 ? replies.shift()! : replies[0]!),
  })
  server = await startTestServer({ remote, config })
}
afterEach(async () => {
  await server.close()
  await remote.stop()
})

const SET = [
  { how: 'forward by a year', byMs: YEAR },
  { how: 'back by a year', byMs: -YEAR },
  { how: 'forward by two hours', byMs: 2 * HOUR },
  { how: 'back by two hours', byMs: -2 * HOUR },
]
/** How long mail may stop because the clock was set. */
const LATEST_MS = MINUTE

/** `ms` pass in steps of five seconds, between which everything that needs no time happens; attempts of these messages that
 *  have begun end at each step. */
async function pass(ms: number, sent: readonly string[] = []): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5 * SECOND) {
    await server.clock.leap(5 * SECOND)
    for (const id of sent) await until('an attempt to be stored', () => isStill(id))
  }
}
const isStill = async (id: string) => {
  const [begun] = await server.store().messages.deliveries(id)
  return begun!.attempts === (await server.store().messages.attempts(id)).length
}

const typesOf = async (messageId: string) => (await server.eventsOf(messageId)).map(({ type }) => type)

for (const { how, byMs } of SET) {
  // threat: clock-changes
  test(`set ${how} before a mail is tried, it is delivered within a minute`, async () => {
    await open([null])
    const sent = server.send()
    server.clock.jump(byMs)
    const { body } = await sent
    await pass(LATEST_MS)
    expect((await server.ended(body.id)).status).toBe('delivered')
    expect(await typesOf(body.id)).toEqual(['message.delivered'])
  })

  // threat: clock-changes
  test(`set ${how} while an attempt is in progress, no second one begins`, async () => {
    await open([{ do: 'hang' }])
    const { body } = await server.send()
    await remote.hears('RCPT TO:<ann@one.remote.example>')
    server.clock.jump(byMs)
    await pass(2 * LATEST_MS)
    expect(remote.heard.filter((line) => line.startsWith('RCPT'))).toHaveLength(1)
    await remote.stop()
    await server.tried(body.id, 1)
    expect((await server.read(`/v1/messages/${body.id}`)).status).toBe('deferred')
  })

  // threat: clock-changes
  test(`set ${how} while a mail is deferred, it is tried no later than a minute after its time and not given up`, async () => {
    await open(['451 4.3.0 one', '451 4.3.0 two', null])
    const { body } = await server.send()
    await server.tried(body.id, 1)
    server.clock.jump(byMs)
    await pass(MINUTE + LATEST_MS)
    await server.tried(body.id, 2)
    await pass(6 * MINUTE + LATEST_MS)
    await server.ended(body.id)
    const published = await server.eventsOf(body.id)
    expect(published.map(({ type }) => type)).toEqual(['message.deferred', 'message.deferred', 'message.delivered'])
    expect(new Set(published.map(({ id }) => id)).size).toBe(3)
  })

  // threat: clock-changes
  test(`set ${how} while the server is stopped, a deferred mail is tried within a minute after its time`, async () => {
    await open(['451 4.3.0 one', null])
    const { body } = await server.send()
    await server.tried(body.id, 1)
    await server.stop()
    server.clock.jump(byMs)
    await server.reopen()
    await pass(MINUTE + LATEST_MS)
    expect((await server.ended(body.id)).status).toBe('delivered')
  })

  // threat: clock-changes
  test(`set ${how} while a webhook waits for its next attempt, it is posted within a minute after its time`, async () => {
    await open([null])
    server.receiver.script(500, 200)
    await server.send()
    await server.receiver.received(1)
    const deliveries = () => server.read(`/v1/webhooks/${server.webhook.id}/deliveries`)
    await until('the failure to be written', async () => (await deliveries()).data[0]?.attempts?.length === 1)
    server.clock.jump(byMs)
    await pass(5 * SECOND + LATEST_MS)
    await server.receiver.received(2)
    await until('the delivery to be written', async () => (await deliveries()).data[0].status === 'delivered')
    expect(server.receiver.requests.length).toBe(2)
    const times = server.receiver.requests.map(({ headers }) => Number(headers['webhook-timestamp']) * 1000)
    expect(Math.abs(times[1]! - server.clock.now())).toBeLessThan(5 * SECOND + LATEST_MS + SECOND)
  })

  // threat: clock-changes
  test(`set ${how} while a destination is paused, the pause ends when it would have ended`, async () => {
    await open(['421 4.3.2 busy', '421 4.3.2 busy', '421 4.3.2 busy', '421 4.3.2 busy', null])
    const sent = [await server.send(), await server.send({ to: 'bob@one.remote.example' })]
    for (const { body } of sent) await server.tried(body.id, 1)
    server.clock.jump(byMs)
    await pass(
      7 * MINUTE + LATEST_MS,
      sent.map(({ body }) => body.id),
    )
    for (const { body } of sent) expect((await server.ended(body.id)).status).toBe('delivered')
  })
}

// threat: clock-changes
test('set forth and back a hundred times, a mail is retried by its schedule', async () => {
  await open(['451 4.3.0 one', null])
  const { body } = await server.send()
  await server.tried(body.id, 1)
  for (let turn = 0; turn < 100; turn++) {
    server.clock.jump(turn % 2 === 0 ? YEAR : -YEAR)
    await server.clock.advance(10)
  }
  await pass(MINUTE + LATEST_MS)
  expect((await server.ended(body.id)).status).toBe('delivered')
  expect(await typesOf(body.id)).toEqual(['message.deferred', 'message.delivered'])
})

// threat: clock-changes
test('set back, a scheduled mail keeps its date', async () => {
  await open([null])
  const wait = 10 * MINUTE
  const at = new Date(START + wait).toISOString()
  const { body } = await server.send({ scheduled_at: at })
  server.clock.jump(-wait)
  await server.clock.advance(wait + MINUTE)
  expect((await server.read(`/v1/messages/${body.id}`)).status).toBe('scheduled')
  await server.clock.leap(wait)
  expect((await server.ended(body.id)).status).toBe('delivered')
})

// threat: clock-changes
test('the grace of a rotated key ends by the wall clock', async () => {
  await open([null])
  const { body: made } = await server.ask('POST', '/v1/api-keys', {
    name: 'old',
    domain_id: (await server.read('/v1/domains')).data[0].id,
    permissions: ['read'],
    mode: 'live',
  })
  await server.ask('POST', `/v1/api-keys/${made.id}/rotate`, { grace_period_minutes: 60 })
  const old = { authorization: `Bearer ${made.key}` }
  expect((await server.ask('GET', '/v1/stats', undefined, old)).status).toBe(200)
  server.clock.jump(2 * HOUR)
  expect((await server.ask('GET', '/v1/stats', undefined, old)).status).toBe(401)
})
