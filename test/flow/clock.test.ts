import { afterEach, expect, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { START, startHouse, type TestHouse, until } from '../support/house.ts'
import { type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'

/** The clock on the wall is set while the house is open. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const YEARS = 10 * 365 * 24 * HOUR

let remote: RawMx
let house: TestHouse

async function open(replies: (Move | null)[], config: ConfigValues = {}) {
  remote = await startRawMx({
    script: (at) => (at !== 'RCPT' ? null : replies.length > 1 ? replies.shift()! : replies[0]!),
  })
  house = await startHouse({ remote, config })
}
afterEach(async () => {
  await house.close()
  await remote.stop()
})

const SET: [how: string, set: () => Promise<void>][] = [
  ['two hours forward', async () => house.clock.leap(2 * HOUR)],
  ['two hours back', async () => house.clock.leap(-2 * HOUR)],
  ['ten years forward', async () => house.clock.leap(YEARS)],
  ['ten years back', async () => house.clock.leap(-YEARS)],
  [
    'forth and back a hundred times',
    async () => {
      for (let turn = 0; turn < 100; turn++) {
        house.clock.leap(turn % 2 === 0 ? 1_000 : -1_000)
        await house.clock.advance(10)
      }
    },
  ],
]
for (const [how, set] of SET) {
  // threat: clock-changes
  test(`set ${how}, a deferred mail is neither tried early nor late nor given up`, async () => {
    await open(['451 4.3.0 one', '451 4.3.0 two', null])
    const { body } = await house.send()
    await house.tried(body.id, 1)
    const before = house.clock.steady.now()
    await set()
    await house.clock.advance(before + MINUTE - 1_000 - house.clock.steady.now())
    await house.tried(body.id, 1)
    await house.clock.advance(2_000)
    await house.tried(body.id, 2)
    await house.clock.advance(5 * MINUTE + 2_000)
    await house.ended(body.id)
    const told = await house.told(body.id)
    expect(told.map(({ type }) => type)).toEqual(['message.deferred', 'message.deferred', 'message.delivered'])
    const ids = told.map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
  })

  // threat: clock-changes
  test(`set ${how}, an endpoint that failed hears again after its wait`, async () => {
    await open([null])
    house.receiver.script(500, 200)
    await house.send()
    await house.receiver.received(1)
    const deliveries = () => house.read(`/v1/webhooks/${house.webhook.id}/deliveries`)
    await until('the failure to be written', async () => (await deliveries()).data[0]?.attempts?.length === 1)
    const before = house.clock.steady.now()
    await set()
    await house.clock.advance(Math.max(0, before + 3_500 - house.clock.steady.now()))
    expect(house.receiver.requests.length).toBe(1)
    await house.clock.advance(4_000)
    await house.receiver.received(2)
    await until('the delivery to be written', async () => (await deliveries()).data[0].status === 'delivered')
    expect(house.receiver.requests.length).toBe(2)
    const times = house.receiver.requests.map(({ headers }) => Number(headers['webhook-timestamp']) * 1000)
    expect(Math.abs(times[1]! - house.clock.now())).toBeLessThan(10_000)
  })
}

for (const [how, set] of SET) {
  test(`set ${how}, what happens before anybody has noticed is told at once`, async () => {
    await open([null])
    await set()
    await house.send({ to: 'bounce@customer.example' }, { authorization: `Bearer ${house.keys.test}` })
    await house.clock.advance(2_000)
    await house.receiver.received(1)
  })
}

// threat: clock-changes
test('set ten years forward, nothing that is under way is begun a second time', async () => {
  await open([{ do: 'hang' }])
  const { body } = await house.send()
  await remote.hears('RCPT TO:<ann@one.remote.example>')
  house.clock.leap(YEARS)
  await house.clock.advance(30_000)
  expect(remote.heard.filter((line) => line.startsWith('RCPT'))).toHaveLength(1)
  await remote.stop()
  await house.tried(body.id, 1)
  expect((await house.read(`/v1/messages/${body.id}`)).status).toBe('deferred')
})

// threat: clock-changes
test('set back, a scheduled mail keeps its date', async () => {
  await open([null])
  const at = new Date(START + HOUR).toISOString()
  const { body } = await house.send({ scheduled_at: at })
  house.clock.leap(-HOUR)
  await house.clock.advance(HOUR + MINUTE)
  expect((await house.read(`/v1/messages/${body.id}`)).status).toBe('scheduled')
  await house.clock.advance(HOUR)
  expect((await house.ended(body.id)).status).toBe('delivered')
})

// threat: clock-changes
test('the grace of a rotated key ends by the clock on the wall', async () => {
  await open([null])
  const { body: made } = await house.ask('POST', '/v1/api-keys', {
    name: 'old',
    domain_id: (await house.read('/v1/domains')).data[0].id,
    permissions: ['read'],
    mode: 'live',
  })
  await house.ask('POST', `/v1/api-keys/${made.id}/rotate`, { grace_period_minutes: 60 })
  const old = { authorization: `Bearer ${made.key}` }
  expect((await house.ask('GET', '/v1/stats', undefined, old)).status).toBe(200)
  house.clock.leap(2 * HOUR)
  expect((await house.ask('GET', '/v1/stats', undefined, old)).status).toBe(401)
})

// threat: clock-changes
test('set back ten years while the house was closed, a deferred mail waits no longer than a day', async () => {
  await open(['451 4.3.0 one', null])
  house.clock.leap(YEARS)
  const { body } = await house.send()
  await house.tried(body.id, 1)
  await house.stop()
  house.clock.leap(-YEARS)
  await house.reopen()
  const { recipients } = await house.read(`/v1/messages/${body.id}`)
  expect(Date.parse(recipients[0].next_attempt_at)).toBeLessThanOrEqual(house.clock.now() + 24 * HOUR)
})
