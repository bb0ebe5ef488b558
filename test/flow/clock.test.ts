import { afterEach, expect, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { START, startTestServer, type TestServer, until } from '../support/server.ts'

/** The clock on the wall is set while the server is open. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const YEARS = 10 * 365 * 24 * HOUR

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

const SET: [how: string, set: () => Promise<void>][] = [
  ['two hours forward', async () => server.clock.leap(2 * HOUR)],
  ['two hours back', async () => server.clock.leap(-2 * HOUR)],
  ['ten years forward', async () => server.clock.leap(YEARS)],
  ['ten years back', async () => server.clock.leap(-YEARS)],
  [
    'forth and back a hundred times',
    async () => {
      for (let turn = 0; turn < 100; turn++) {
        server.clock.leap(turn % 2 === 0 ? 1_000 : -1_000)
        await server.clock.advance(10)
      }
    },
  ],
]
for (const [how, set] of SET) {
  // threat: clock-changes
  test(`set ${how}, a deferred mail is neither tried early nor late nor given up`, async () => {
    await open(['451 4.3.0 one', '451 4.3.0 two', null])
    const { body } = await server.send()
    await server.tried(body.id, 1)
    const before = server.clock.steady.now()
    await set()
    await server.clock.advance(before + MINUTE - 1_000 - server.clock.steady.now())
    await server.tried(body.id, 1)
    await server.clock.advance(2_000)
    await server.tried(body.id, 2)
    await server.clock.advance(5 * MINUTE + 2_000)
    await server.ended(body.id)
    const told = await server.eventsOf(body.id)
    expect(told.map(({ type }) => type)).toEqual(['message.deferred', 'message.deferred', 'message.delivered'])
    const ids = told.map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
  })

  // threat: clock-changes
  test(`set ${how}, an endpoint that failed is called again after its wait`, async () => {
    await open([null])
    server.receiver.script(500, 200)
    await server.send()
    await server.receiver.received(1)
    const deliveries = () => server.read(`/v1/webhooks/${server.webhook.id}/deliveries`)
    await until('the failure to be written', async () => (await deliveries()).data[0]?.attempts?.length === 1)
    const before = server.clock.steady.now()
    await set()
    await server.clock.advance(Math.max(0, before + 3_500 - server.clock.steady.now()))
    expect(server.receiver.requests.length).toBe(1)
    await server.clock.advance(4_000)
    await server.receiver.received(2)
    await until('the delivery to be written', async () => (await deliveries()).data[0].status === 'delivered')
    expect(server.receiver.requests.length).toBe(2)
    const times = server.receiver.requests.map(({ headers }) => Number(headers['webhook-timestamp']) * 1000)
    expect(Math.abs(times[1]! - server.clock.now())).toBeLessThan(10_000)
  })
}

for (const [how, set] of SET) {
  test(`set ${how}, events before the change is noticed are published at once`, async () => {
    await open([null])
    await set()
    await server.send({ to: 'bounce@customer.example' }, { authorization: `Bearer ${server.keys.test}` })
    await server.clock.advance(2_000)
    await server.receiver.received(1)
  })
}

// threat: clock-changes
test('set ten years forward, nothing under way is started a second time', async () => {
  await open([{ do: 'hang' }])
  const { body } = await server.send()
  await remote.hears('RCPT TO:<ann@one.remote.example>')
  server.clock.leap(YEARS)
  await server.clock.advance(30_000)
  expect(remote.heard.filter((line) => line.startsWith('RCPT'))).toHaveLength(1)
  await remote.stop()
  await server.tried(body.id, 1)
  expect((await server.read(`/v1/messages/${body.id}`)).status).toBe('deferred')
})

// threat: clock-changes
test('set back, a scheduled mail keeps its date', async () => {
  await open([null])
  const at = new Date(START + HOUR).toISOString()
  const { body } = await server.send({ scheduled_at: at })
  server.clock.leap(-HOUR)
  await server.clock.advance(HOUR + MINUTE)
  expect((await server.read(`/v1/messages/${body.id}`)).status).toBe('scheduled')
  await server.clock.advance(HOUR)
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
  server.clock.leap(2 * HOUR)
  expect((await server.ask('GET', '/v1/stats', undefined, old)).status).toBe(401)
})

// threat: clock-changes
test('set back ten years while the server was stopped, a deferred mail waits at most a day', async () => {
  await open(['451 4.3.0 one', null])
  server.clock.leap(YEARS)
  const { body } = await server.send()
  await server.tried(body.id, 1)
  await server.stop()
  server.clock.leap(-YEARS)
  await server.reopen()
  const { recipients } = await server.read(`/v1/messages/${body.id}`)
  expect(Date.parse(recipients[0].next_attempt_at)).toBeLessThanOrEqual(server.clock.now() + 24 * HOUR)
})
