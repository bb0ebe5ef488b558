import { afterEach, beforeEach, expect, test } from 'bun:test'
import { StoreUnavailable } from '../../src/storage/store.ts'
import type { Receiver } from '../support/receiver.ts'
import { DAY, MINUTE, SCHEDULE, START, startWebhookSetup, until, type WebhookSetup, withDeliveries } from './setup.ts'

let setup: WebhookSetup
beforeEach(async () => {
  setup = await startWebhookSetup()
})
afterEach(() => setup.end())

const attemptNumbers = (receiver: Receiver) =>
  receiver.requests.map((request) => Number(request.headers['x-service-delivery-attempt']))

test('an event reaches every webhook that subscribed to its kind, at once', async () => {
  const [first, second] = [await setup.receiver(), await setup.receiver()]
  const both = await setup.webhook(first.url)
  const bounces = await setup.webhook(second.url, ['message.bounced'])
  const loop = setup.loop()
  const [id] = await setup.tell()
  await until(() => first.requests.length === 1 && loop.inFlight() === 0)
  expect(JSON.parse(first.requests[0]!.body)).toMatchObject({ id, type: 'message.delivered' })
  expect(first.requests[0]!.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Postrider/test',
    'webhook-id': id!,
  })
  expect(await setup.deliveries(bounces.id)).toEqual([])
  const [delivery] = await setup.deliveries(both.id)
  expect(delivery).toMatchObject({ status: 'delivered', eventId: id!, nextAttemptAt: null })
  expect(delivery!.attempts).toMatchObject([{ number: 1, at: START, statusCode: 200, error: null }])
  expect(await setup.store.webhooks.get(both.id)).toMatchObject({ lastSuccessAt: START, consecutiveFailures: 0 })
  await setup.tell(1, 'message.bounced')
  await until(() => second.requests.length === 1 && loop.inFlight() === 0)
  expect(first.requests.length).toBe(2)
})

// threat: failing-webhook-endpoints
test('five attempts at the times of the schedule, the same bytes each time, then failed', async () => {
  const receiver = await setup.receiver({ status: 500, body: 'oh no' })
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop()
  await setup.tell()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  for (const [at, seconds] of SCHEDULE.entries()) {
    await setup.clock.advance(seconds * 1000 - 1)
    expect([receiver.requests.length, loop.inFlight()]).toEqual([at + 1, 0])
    await setup.clock.advance(1)
    await until(() => receiver.requests.length === at + 2 && loop.inFlight() === 0)
  }
  await setup.clock.advance(2 * 3600_000)
  expect([receiver.requests.length, loop.inFlight()]).toEqual([5, 0])

  const sums = [0, 5, 305, 2105, 9305]
  expect(attemptNumbers(receiver)).toEqual([1, 2, 3, 4, 5])
  expect(receiver.requests.map((request) => Number(request.headers['webhook-timestamp']) - START / 1000)).toEqual(sums)
  expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(1)
  expect(new Set(receiver.requests.map((request) => request.headers['webhook-id'])).size).toBe(1)
  expect(new Set(receiver.requests.map((request) => request.headers['x-service-signature'])).size).toBe(5)
  const [delivery] = await setup.deliveries(webhook.id)
  expect(delivery).toMatchObject({ status: 'failed', nextAttemptAt: null })
  expect(delivery!.attempts.map((attempt) => [attempt.number, attempt.at])).toEqual(
    sums.map((sum, at) => [at + 1, START + sum * 1000]),
  )
  expect(delivery!.attempts[4]).toMatchObject({ statusCode: 500, error: 'HTTP 500', responseExcerpt: 'oh no' })
  expect(await setup.store.webhooks.get(webhook.id)).toMatchObject({ status: 'active', consecutiveFailures: 1 })
})

// threat: endpoint-headers-moved
test('every attempt has the headers of the webhook as they are then, and a redirect takes them nowhere', async () => {
  const elsewhere = await setup.receiver()
  const receiver = await setup.receiver({ status: 307, headers: { location: elsewhere.url } }, 500, 200)
  const webhook = await setup.webhook(receiver.url)
  const give = (value: string) =>
    setup.store.webhooks.update(webhook.id, { headers: [['X-Api-Key', value]] }, setup.clock.now())
  await give('first')
  const loop = setup.loop()
  await setup.tell()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.clock.advance(5000)
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
  await give('second')
  await setup.clock.advance(300_000)
  await until(() => receiver.requests.length === 3 && loop.inFlight() === 0)
  expect(receiver.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['first', 'first', 'second'])
  expect(elsewhere.requests).toEqual([])

  await setup.store.webhooks.update(webhook.id, { url: elsewhere.url }, setup.clock.now())
  await setup.tell()
  await until(() => elsewhere.requests.length === 1 && loop.inFlight() === 0)
  expect(elsewhere.requests[0]!.headers).toHaveProperty('x-service-signature')
  expect(elsewhere.requests[0]!.headers).not.toHaveProperty('x-api-key')
})

test('a redirect is a failure and is not followed; a later 2xx ends the delivery', async () => {
  const receiver = await setup.receiver({ status: 307, headers: { location: '/elsewhere' } }, 204)
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop()
  await setup.tell()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.clock.advance(5000)
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
  await setup.clock.advance(3600_000)
  expect(receiver.requests.map((request) => request.path)).toEqual(['/hook', '/hook'])
  const [delivery] = await setup.deliveries(webhook.id)
  expect(delivery!.status).toBe('delivered')
  expect(delivery!.attempts.map((attempt) => attempt.statusCode)).toEqual([307, 204])
})

test('a Retry-After of an endpoint is honoured', async () => {
  const receiver = await setup.receiver({ status: 429, headers: { 'retry-after': '600' } }, 200)
  await setup.webhook(receiver.url)
  const loop = setup.loop()
  await setup.tell()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.clock.advance(599_999)
  expect(receiver.requests.length).toBe(1)
  await setup.clock.advance(1)
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
})

test('no answer within the timeout is a failed attempt', async () => {
  const receiver = await setup.receiver('hang', 200)
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop({ settings: { timeoutMs: 50 } })
  await setup.tell()
  await until(() => loop.inFlight() === 1) // on a slow machine it may end before the request has arrived
  await until(() => loop.inFlight() === 0)
  const [delivery] = await setup.deliveries(webhook.id)
  expect(delivery).toMatchObject({ status: 'pending', nextAttemptAt: START + 5000 })
  expect(delivery!.attempts[0]).toMatchObject({ statusCode: null, responseExcerpt: null })
  expect(delivery!.attempts[0]!.error).toBeString()
})

test('an endpoint that refuses connections is a failed attempt', async () => {
  const gone = await setup.receiver()
  await gone.stop()
  const webhook = await setup.webhook(gone.url)
  const loop = setup.loop()
  await setup.tell()
  await until(() => loop.inFlight() === 1)
  await until(() => loop.inFlight() === 0)
  const [delivery] = await setup.deliveries(webhook.id)
  expect(delivery).toMatchObject({ status: 'pending', nextAttemptAt: START + 5000 })
  expect(delivery!.attempts[0]!.error).toBeString()
})

test('a forbidden address is never connected to', async () => {
  const receiver = await setup.receiver()
  const webhook = await setup.webhook(receiver.url.replace('127.0.0.1', '127.0.0.2'))
  const loop = setup.loop()
  await setup.tell()
  await until(() => loop.inFlight() === 1)
  await until(() => loop.inFlight() === 0)
  const [delivery] = await setup.deliveries(webhook.id)
  expect(delivery!.attempts[0]!.error).toStartWith('blocked: ')
  expect(receiver.requests).toEqual([])
})

test('one webhook has at most ten requests under way, and the rest follows as they end', async () => {
  const receiver = await setup.receiver(200)
  await setup.webhook(receiver.url)
  const loop = setup.loop()
  await setup.tell()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  receiver.script('hang')
  const ids = await setup.tell(25)
  await receiver.received(11)
  await setup.clock.advance(0)
  expect([receiver.requests.length, loop.inFlight()]).toEqual([11, 10])
  receiver.script(200)
  receiver.release(200)
  await until(() => receiver.requests.length === 26 && loop.inFlight() === 0)
  expect(new Set(receiver.requests.slice(1).map((request) => request.headers['webhook-id']))).toEqual(new Set(ids))
  expect(attemptNumbers(receiver).every((number) => number === 1)).toBe(true)
})

test('results and the next claim share one commit', async () => {
  const written: string[] = []
  const store = withDeliveries(setup.store, (real) => ({
    claimDue: async (request) => {
      const claims = await real.claimDue(request)
      written.push(`claim of ${claims.length}`)
      return claims
    },
    record: async (record) => {
      const result = await real.record(record)
      written.push('result')
      setImmediate(() => written.push('turn'))
      return result
    },
  }))
  const receiver = await setup.receiver('hang')
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop({ store })
  await setup.tell(3) // a new endpoint has two slots
  await receiver.received(2)
  receiver.script(200)
  receiver.release(200)
  await until(() => receiver.requests.length === 3 && loop.inFlight() === 0)
  // What one commit wrote is answered in one turn of the event loop.
  expect(written.join(', ')).toStartWith('claim of 2, result, result, claim of 1, turn')
  expect((await setup.deliveries(webhook.id)).map(({ status }) => status)).toEqual(Array(3).fill('delivered'))
})

// threat: flapping-webhook-endpoints
test('endpoints that hang delay no other webhook, even when they are new and many', async () => {
  const hanging = await setup.receiver('hang')
  for (let i = 0; i < 5; i++) await setup.webhook(hanging.url, ['message.bounced'])
  const healthy = await setup.receiver()
  await setup.webhook(healthy.url, ['message.delivered'])
  const loop = setup.loop({ settings: { maxInFlight: 40, maxPerWebhook: 10 } })
  await setup.tell(10, 'message.bounced')
  await hanging.received(10)
  await setup.tell(30)
  await healthy.received(30)
  await until(() => loop.inFlight() === 10)
  expect(hanging.requests.length).toBe(10)
  // They are slow: together they keep a third of the slots permanently.
  await setup.clock.advance(6000)
  hanging.release(500)
  await hanging.received(23)
  await setup.tell(30)
  await healthy.received(60)
  await until(() => loop.inFlight() === 13)
  expect(hanging.requests.length).toBe(23)
})

// threat: webhook-slots-of-one-tenant
test("a hundred endpoints of one organization hang, and another organization's webhook gets its events at once", async () => {
  const hanging = await setup.receiver('hang')
  for (let i = 0; i < 100; i++) await setup.webhook(hanging.url)
  const other = await setup.organization()
  const healthy = await setup.receiver()
  for (let i = 0; i < 3; i++) await setup.webhook(healthy.url, undefined, other)
  const loop = setup.loop()
  await setup.tell(10)
  // Due long before those of the others.
  await hanging.received(66)
  await setup.clock.advance(1000)
  await setup.tell(20, 'message.delivered', other)
  await healthy.received(60)
  await until(() => loop.inFlight() === 66)
  expect(hanging.requests.length).toBe(66)
})

// threat: webhook-slots-of-one-tenant
test('endpoints that were quick and then all hang hold half of the slots of the server', async () => {
  const turning = await setup.receiver(200)
  for (let i = 0; i < 20; i++) await setup.webhook(turning.url)
  const other = await setup.organization()
  const healthy = await setup.receiver()
  await setup.webhook(healthy.url, undefined, other)
  const loop = setup.loop()
  await setup.tell()
  await until(() => turning.requests.length === 20 && loop.inFlight() === 0)
  turning.script('hang')
  await setup.tell(20)
  await turning.received(120)
  await setup.tell(20, 'message.delivered', other)
  await healthy.received(20)
  await until(() => loop.inFlight() === 100)
  // Waiting deliveries continue once they answer.
  turning.script(200)
  turning.release(200)
  await turning.received(420)
})

test('slowness is measured by the timeout of endpoints', async () => {
  const hanging = await setup.receiver('hang')
  for (let i = 0; i < 5; i++) await setup.webhook(hanging.url, ['message.bounced'])
  const loop = setup.loop({ settings: { maxInFlight: 30, maxPerWebhook: 10, timeoutMs: 9000 } })
  await setup.tell(20, 'message.bounced')
  await hanging.received(10)
  await setup.clock.advance(4800) // more than half of it, but less than 5 s
  hanging.release(500)
  await hanging.received(20)
  await until(() => loop.inFlight() === 10)
  expect(hanging.requests.length).toBe(20)
})

test('a paused webhook gets nothing: its pending deliveries wait, and events of that time are not posted', async () => {
  const receiver = await setup.receiver(500)
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop()
  const [waiting] = await setup.tell()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.store.webhooks.update(webhook.id, { status: 'paused' }, setup.clock.now())
  await setup.tell(3)
  await setup.clock.advance(60 * MINUTE)
  expect([receiver.requests.length, loop.inFlight()]).toEqual([1, 0])
  expect(await setup.deliveries(webhook.id)).toMatchObject([{ eventId: waiting!, status: 'pending' }])

  receiver.script(200)
  await setup.store.webhooks.update(webhook.id, { status: 'active' }, setup.clock.now())
  loop.wake()
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
  await setup.clock.advance(60 * MINUTE)
  expect(receiver.requests.map((request) => request.headers['webhook-id'])).toEqual([waiting!, waiting!])
  expect(attemptNumbers(receiver)).toEqual([1, 2])
})

// threat: flapping-webhook-endpoints
test('410 pauses the webhook and says why; nothing is lost', async () => {
  const receiver = await setup.receiver(410)
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop({ settings: { maxPerWebhook: 1 } })
  await setup.tell(3)
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.clock.advance(60 * MINUTE)
  expect(receiver.requests.length).toBe(1)
  expect(await setup.store.webhooks.get(webhook.id)).toMatchObject({
    status: 'paused',
    disabledReason: 'The endpoint returned 410 Gone.',
  })
  receiver.script(200)
  await setup.store.webhooks.update(webhook.id, { status: 'active', disabledReason: null }, setup.clock.now())
  loop.wake()
  await until(() => receiver.requests.length === 4 && loop.inFlight() === 0)
  expect((await setup.deliveries(webhook.id)).map((delivery) => delivery.status)).toEqual(Array(3).fill('delivered'))
})

test('a hundred failed deliveries in a row pause the webhook once they span a day', async () => {
  const receiver = await setup.receiver(500)
  const webhook = await setup.webhook(receiver.url)
  const begin = () => setup.loop({ settings: { scheduleSeconds: [1, 1, 1, 1] } })
  let loop = begin()
  const fail = async (count: number) => {
    const before = receiver.requests.length
    await setup.tell(count)
    while (receiver.requests.length < before + 5 * count || loop.inFlight() > 0) {
      await until(() => loop.inFlight() === 0)
      await setup.clock.advance(1000)
    }
  }
  await fail(101)
  expect(await setup.store.webhooks.get(webhook.id)).toMatchObject({ status: 'active', consecutiveFailures: 101 })
  await loop.stop(0) // a day of polling every second is long, and the loop does not count the polls
  await setup.clock.advance(DAY)
  loop = begin()
  await fail(1)
  const paused = await setup.store.webhooks.get(webhook.id)
  expect(paused).toMatchObject({
    status: 'paused',
    disabledReason: 'The last 102 deliveries failed for more than 24 hours.',
  })
  // After a manual resume the very next failure does not pause it again.
  await setup.store.webhooks.update(webhook.id, { status: 'active', disabledReason: null }, setup.clock.now())
  await fail(1)
  expect((await setup.store.webhooks.get(webhook.id))!.status).toBe('active')
})

test('a webhook is paused by the hundredth failed delivery, not by the one before', async () => {
  const receiver = await setup.receiver(500)
  const webhook = await setup.webhook(receiver.url)
  const begin = () => setup.loop({ settings: { scheduleSeconds: [1] } })
  let loop = begin()
  let failed = 0
  const fail = async (count: number) => {
    failed += count
    await setup.tell(count)
    for (;;) {
      const found = (await setup.store.webhooks.get(webhook.id))!
      if (found.consecutiveFailures >= failed) return found
      await until(() => loop.inFlight() === 0)
      await setup.clock.advance(1000)
    }
  }
  await fail(98)
  await loop.stop(0)
  await setup.clock.advance(DAY)
  loop = begin()
  expect(await fail(1)).toMatchObject({ status: 'active', consecutiveFailures: 99 })
  expect(await fail(1)).toMatchObject({ status: 'paused', consecutiveFailures: 100 })
})

test('a manual retry beyond the fifth attempt is one attempt, then failed again', async () => {
  const receiver = await setup.receiver(500)
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop({ settings: { scheduleSeconds: [1, 1, 1, 1] } })
  await setup.tell()
  for (let n = 1; n <= 5; n++) {
    await until(() => receiver.requests.length === n && loop.inFlight() === 0)
    await setup.clock.advance(1000)
  }
  const [failed] = await setup.deliveries(webhook.id)
  expect(failed!.status).toBe('failed')
  expect(await setup.store.webhookDeliveries.retry(failed!.id, setup.clock.now())).toBe('queued')
  loop.wake()
  await until(() => receiver.requests.length === 6 && loop.inFlight() === 0)
  await setup.clock.advance(60 * MINUTE)
  expect(attemptNumbers(receiver)).toEqual([1, 2, 3, 4, 5, 6])
  const [again] = await setup.deliveries(webhook.id)
  expect(again).toMatchObject({ status: 'failed', nextAttemptAt: null })
  expect(again!.attempts.length).toBe(6)
})

// threat: flapping-webhook-endpoints
test('every event arrives at an endpoint that fails every other time', async () => {
  const flapping = Array.from({ length: 150 }, (_, at) => (at % 2 === 0 ? 503 : 200))
  const receiver = await setup.receiver(...flapping, 200)
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop()
  const ids = await setup.tell(100)
  while (receiver.requests.length < 175 || loop.inFlight() > 0) {
    await until(() => loop.inFlight() === 0)
    await setup.clock.advance(MINUTE)
  }
  const deliveries = await setup.deliveries(webhook.id)
  expect(deliveries.map((delivery) => delivery.status)).toEqual(Array(100).fill('delivered'))
  expect(deliveries.reduce((sum, delivery) => sum + delivery.attempts.length, 0)).toBe(175)
  expect(new Set(receiver.requests.map((request) => request.headers['webhook-id']))).toEqual(new Set(ids))
})

test('a loop without due work asks the store for nothing', async () => {
  let claims = 0
  const store = withDeliveries(setup.store, (real) => ({
    claimDue: (request) => {
      claims++
      return real.claimDue(request)
    },
  }))
  const receiver = await setup.receiver(500, 200)
  await setup.webhook(receiver.url)
  const loop = setup.loop({ store })
  await setup.clock.advance(60 * MINUTE)
  expect(claims).toBe(0)
  await setup.tell()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.clock.advance(60 * MINUTE)
  await until(() => loop.inFlight() === 0)
  expect(receiver.requests.length).toBe(2)
  expect(claims).toBe(2)
})

test('a delivery whose claim got no answer is posted within seconds', async () => {
  let losses = 1
  const store = withDeliveries(setup.store, (real) => ({
    claimDue: async (request) => {
      const claims = await real.claimDue(request)
      if (losses-- > 0) throw new StoreUnavailable('the database does not respond', { isUncertain: true })
      return claims
    },
  }))
  const receiver = await setup.receiver()
  await setup.webhook(receiver.url)
  const loop = setup.loop({ store })
  await setup.tell()
  await until(() => losses === 0)
  await setup.clock.advance(10_000)
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
})
