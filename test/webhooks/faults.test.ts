import { afterEach, beforeEach, expect, test } from 'bun:test'
import { StoreUnavailable } from '../../src/storage/store.ts'
import { keptLog, MINUTE, START, startWebhookSetup, until, type WebhookSetup, withDeliveries } from './setup.ts'

let setup: WebhookSetup
beforeEach(async () => {
  setup = await startWebhookSetup()
})
afterEach(() => setup.end())

/** A loop whose process dies after the POST: it writes no result. */
async function dyingLoop(posts: () => number) {
  const store = withDeliveries(setup.store, () => ({ record: () => Promise.reject(new Error('the process is gone')) }))
  const before = posts()
  const loop = setup.loop({ store, workerId: 'dead-worker' })
  loop.wake()
  await until(() => posts() === before + 1 && loop.inFlight() === 0)
  await loop.stop(0)
}

test('a process that dies between answer and record: retried when its lease ends, and the attempt counts', async () => {
  const receiver = await setup.receiver()
  const webhook = await setup.webhook(receiver.url)
  await setup.tell()
  await dyingLoop(() => receiver.requests.length)
  const loop = setup.loop({ workerId: 'next-worker' })
  await setup.clock.advance(60 * MINUTE)
  expect(receiver.requests.length).toBe(1)
  await setup.store.webhookDeliveries.endLeases('dead-worker', new Set(), setup.clock.now())
  loop.wake()
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
  await setup.clock.advance(60 * MINUTE)
  const [first, second] = receiver.requests
  expect([first, second].map((request) => request!.headers['x-service-delivery-attempt'])).toEqual(['1', '2'])
  expect(second!.body).toBe(first!.body)
  expect(receiver.requests.length).toBe(2)
  const [delivery] = await setup.deliveries(webhook.id)
  expect(delivery).toMatchObject({ status: 'delivered' })
  expect(delivery!.attempts).toMatchObject([{ number: 2, statusCode: 200 }])
})

test('a claim that is lost inside the process is made again within a minute', async () => {
  const receiver = await setup.receiver()
  await setup.webhook(receiver.url)
  await setup.tell()
  let isFirst = true
  const store = withDeliveries(setup.store, (real) => ({
    record: (result) => {
      if (!isFirst) return real.record(result)
      isFirst = false
      return Promise.reject(new Error('no record'))
    },
  }))
  const loop = setup.loop({ store })
  loop.wake()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.clock.advance(MINUTE - 1_000)
  expect(receiver.requests.length).toBe(1)
  await setup.clock.advance(2_000)
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
})

test('five crashes cost the five attempts, and one more attempt records the endpoint’s answer', async () => {
  const receiver = await setup.receiver(500)
  const webhook = await setup.webhook(receiver.url)
  await setup.tell()
  for (let n = 1; n <= 5; n++) {
    await dyingLoop(() => receiver.requests.length)
    await setup.store.webhookDeliveries.endLeases('dead-worker', new Set(), setup.clock.now())
  }
  const loop = setup.loop({ workerId: 'next-worker' })
  await until(() => receiver.requests.length === 6 && loop.inFlight() === 0)
  await setup.clock.advance(60 * MINUTE)
  expect(receiver.requests.length).toBe(6)
  expect((await setup.deliveries(webhook.id))[0]!.status).toBe('failed')
})

test('an outcome that the store cannot write is repeated until it is written, and nothing is posted twice', async () => {
  let refusals = 3
  let claims = 0
  const store = withDeliveries(setup.store, (real) => ({
    claimDue: (request) => {
      claims++
      return real.claimDue(request)
    },
    record: async (record) => {
      if (refusals-- > 0) throw new StoreUnavailable('disk full')
      return real.record(record)
    },
  }))
  const receiver = await setup.receiver(500, 200)
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop({ store })
  await setup.tell()
  await until(() => refusals === 2)
  await setup.tell()
  await setup.clock.advance(2000)
  expect([refusals, claims, receiver.requests.length, loop.inFlight()]).toEqual([0, 1, 1, 1])
  await setup.clock.advance(1000)
  await until(() => receiver.requests.length === 2)
  await setup.clock.advance(10_000)
  await until(() => receiver.requests.length === 3 && loop.inFlight() === 0)
  const deliveries = await setup.deliveries(webhook.id)
  expect(deliveries.map((delivery) => delivery.status)).toEqual(['delivered', 'delivered'])
  expect(deliveries.map((delivery) => delivery.attempts.length)).toEqual([1, 2])
})

test('a store whose claim failed is asked again', async () => {
  let refusals = 3
  const store = withDeliveries(setup.store, (real) => ({
    claimDue: async (request) => {
      if (refusals-- > 0) throw new StoreUnavailable('disk full')
      return real.claimDue(request)
    },
  }))
  const receiver = await setup.receiver()
  await setup.webhook(receiver.url)
  const { log, lines } = keptLog()
  const loop = setup.loop({ store, log })
  await setup.tell()
  await setup.clock.advance(3000)
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  expect(lines.filter((line) => line.level === 'error').map((line) => line.message)).toEqual(
    Array(3).fill('webhook deliveries not claimed'),
  )
})

test('a webhook removed during its post: the answer changes nothing', async () => {
  const receiver = await setup.receiver('hang')
  const webhook = await setup.webhook(receiver.url)
  const { log, lines } = keptLog()
  const loop = setup.loop({ log })
  await setup.tell()
  await receiver.received(1)
  await setup.store.webhooks.remove(webhook.id)
  receiver.release(500)
  await until(() => loop.inFlight() === 0)
  await setup.clock.advance(60 * MINUTE)
  expect(receiver.requests.length).toBe(1)
  expect(lines.map((line) => line.message)).toEqual(['webhook result discarded: lease ended'])
})

test('stopping waits for current posts and starts nothing new', async () => {
  const receiver = await setup.receiver('hang')
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop()
  await setup.tell(5)
  await receiver.received(2)
  let stopped = false
  const stopping = loop.stop(30_000).then(() => {
    stopped = true
  })
  await setup.clock.advance(29_000)
  expect([stopped, loop.inFlight()]).toEqual([false, 2])
  receiver.release(200)
  await stopping
  expect(loop.inFlight()).toBe(0)
  const deliveries = await setup.deliveries(webhook.id)
  expect(deliveries.map((delivery) => delivery.attempts.length).sort()).toEqual([0, 0, 0, 1, 1])
  await setup.clock.advance(60 * MINUTE)
  expect(receiver.requests.length).toBe(2)
})

test('stopping does not wait longer than its grace', async () => {
  const receiver = await setup.receiver('hang')
  await setup.webhook(receiver.url)
  const loop = setup.loop()
  await setup.tell()
  await receiver.received(1)
  const stopping = loop.stop(30_000)
  await setup.clock.advance(30_000)
  await stopping
  expect(loop.inFlight()).toBe(1)
})

test('an answer that arrives during the stop is written before the end', async () => {
  const { promise: written, resolve: write } = Promise.withResolvers<void>()
  const store = withDeliveries(setup.store, (real) => ({
    record: async (record) => {
      await written
      return real.record(record)
    },
  }))
  const receiver = await setup.receiver('hang')
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop({ store })
  await setup.tell()
  await receiver.received(1)
  let stopped = false
  const stopping = loop.stop(30_000).then(() => {
    stopped = true
  })
  receiver.release(200)
  await setup.clock.advance(1000)
  expect([stopped, loop.inFlight()]).toEqual([false, 1])
  write()
  await stopping
  expect((await setup.deliveries(webhook.id))[0]).toMatchObject({ status: 'delivered' })
})

test('stopping ends the wait for a store that cannot write', async () => {
  const store = withDeliveries(setup.store, () => ({
    record: () => Promise.reject(new StoreUnavailable('disk full')),
  }))
  const receiver = await setup.receiver()
  const webhook = await setup.webhook(receiver.url)
  const { log, lines } = keptLog()
  const loop = setup.loop({ store, log })
  await setup.tell()
  await until(() => lines.length === 1)
  const stopping = loop.stop(5000)
  await setup.clock.advance(5000)
  await stopping
  await until(() => loop.inFlight() === 0)
  expect(lines.map((line) => line.message)).toEqual([
    'webhook results waiting for the database',
    'webhook result not stored, the attempt will be repeated',
  ])
  expect((await setup.deliveries(webhook.id))[0]).toMatchObject({ status: 'pending' })
})

test('deliveries claimed during the stop are returned untried', async () => {
  let stopping: Promise<void> | null = null
  const store = withDeliveries(setup.store, (real) => ({
    claimDue: async (request) => {
      const claims = await real.claimDue(request)
      stopping = loop.stop(0)
      return claims
    },
  }))
  const receiver = await setup.receiver()
  await setup.webhook(receiver.url)
  await setup.tell()
  const loop = setup.loop({ store })
  await until(() => stopping !== null)
  await stopping
  expect(receiver.requests.length).toBe(0)
  const next = setup.loop({ workerId: 'next-worker' })
  await until(() => receiver.requests.length === 1 && next.inFlight() === 0)
  expect(receiver.requests[0]!.headers['x-service-delivery-attempt']).toBe('1')
})

test('a request that cannot be made counts as an attempt without an answer', async () => {
  const receiver = await setup.receiver()
  const webhook = await setup.webhook(receiver.url)
  const { log, lines } = keptLog()
  const loop = setup.loop({ log, post: () => Promise.reject(new TypeError('a bug')) })
  await setup.tell()
  await until(() => loop.inFlight() === 1)
  await until(() => loop.inFlight() === 0)
  const [delivery] = await setup.deliveries(webhook.id)
  expect(delivery).toMatchObject({ status: 'pending', nextAttemptAt: START + 5000 })
  expect(delivery!.attempts).toMatchObject([{ error: 'internal error', statusCode: null }])
  expect(lines[0]).toMatchObject({ level: 'error', message: 'webhook request failed with an internal error' })
})

test('no secret, signature, address or body reaches the log', async () => {
  const receiver = await setup.receiver({ status: 410, body: 'private words' })
  const webhook = await setup.webhook(`${receiver.url}?key=hush`)
  const { log, lines } = keptLog()
  const loop = setup.loop({ log })
  await setup.tell()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  const text = JSON.stringify(lines)
  expect(lines.map((line) => line.message)).toEqual(['webhook delivery pending', 'webhook paused'])
  for (const hidden of [webhook.secret, 'hush', 'private words', 'example.org', 'v1='])
    expect(text).not.toContain(hidden)
})
