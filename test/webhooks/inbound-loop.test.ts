import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { inboundBody } from '../../src/events/webhooks/inbound-payload.ts'
import { unpackParsed } from '../../src/mail/inbound-content.ts'
import documented from '../golden/inbound-received.json' with { type: 'json' }
import { claimDue } from '../support/claim.ts'
import type { ReceivedRequest, Receiver } from '../support/receiver.ts'
import {
  INBOUND_LADDER,
  type InboundWebhookSetup,
  SECRET,
  startInboundWebhookSetup,
  webhookAction,
} from './inbound-setup.ts'
import { keptLog, MINUTE, START, until } from './setup.ts'

/** Of mail that answers no message. They come after the fields of the documentation. */
const REPLY_FIELDS = { reply_text: null, reply_html: null, in_reply_to: null, auto_submitted: false }
const golden = {
  plain: { ...documented.plain, ...REPLY_FIELDS },
  with_attachments: { ...documented.with_attachments, ...REPLY_FIELDS },
}

let setup: InboundWebhookSetup
beforeEach(async () => {
  setup = await startInboundWebhookSetup()
})
afterEach(() => setup.end())

const HOUR = 60 * MINUTE
const attemptNumbers = (receiver: Receiver) =>
  receiver.requests.map((request) => Number(request.headers['x-inbound-delivery-attempt']))

/** A receiver's manual check: the header over time and bytes. */
const signatureOf = ({ headers, bytes }: ReceivedRequest, secret = SECRET) => {
  const t = headers['x-inbound-timestamp']!
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(bytes).digest('hex')}`
}

test('a mail is posted at once as the flat body, with a valid signature', async () => {
  const receiver = await setup.receiver()
  const message = await setup.mail(await setup.route(receiver.url))
  const loop = setup.loop()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  const [request] = receiver.requests
  expect(request!.body).toBe(JSON.stringify(golden.plain))
  expect(request!.method).toBe('POST')
  expect(request!.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Postrider/test',
    'x-inbound-timestamp': String(START / 1000),
    'x-inbound-delivery-attempt': '1',
    'x-inbound-signature': signatureOf(request!),
    'x-inbound-message-id': message.id,
    'x-inbound-route-id': message.routeId,
    'webhook-id': (await setup.delivery(message)).id,
  })
  const standard = new Webhook(SECRET).sign(request!.headers['webhook-id']!, new Date(START), request!.body)
  expect(request!.headers['webhook-signature']).toBe(standard)
  expect(Object.keys(request!.headers).filter((name) => name.startsWith('x-service'))).toEqual([])
  expect(await setup.delivery(message)).toMatchObject({
    routeId: message.routeId,
    status: 'delivered',
    nextAttemptAt: null,
    attempts: [{ number: 1, at: START, statusCode: 200, error: null }],
  })
})

test('a post has the headers of its route, also when the mail is posted again', async () => {
  const receiver = await setup.receiver({ status: 500, body: 'no secret-of-the-gateway' }, 200)
  const route = await setup.route(receiver.url)
  const headers = [['X-Api-Key', 'secret-of-the-gateway']] as const
  const config = { url: receiver.url, includeAttachments: false, headers }
  await setup.store.inboundRoutes.update(route.id, { action: { type: 'webhook', config } })
  const message = await setup.mail(route)
  const loop = setup.loop()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.clock.advance(MINUTE)
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
  await setup.store.inboundDeliveries.redeliver(message.id, setup.mintId('whd'), setup.clock.now())
  loop.wake()
  await until(() => receiver.requests.length === 3 && loop.inFlight() === 0)
  expect(receiver.requests.map(({ headers }) => headers['x-api-key'])).toEqual(Array(3).fill('secret-of-the-gateway'))
  expect(receiver.requests[0]!.headers['x-inbound-signature']).toBe(signatureOf(receiver.requests[0]!))
  const [, first] = await setup.store.inboundDeliveries.ofMessage(message.id)
  expect(first!.attempts[0]!.responseExcerpt).toBe('no […]')
})

test('attachments are included when the route asks for them', async () => {
  const receiver = await setup.receiver()
  await setup.mail(await setup.route(receiver.url, true))
  const loop = setup.loop()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  expect(receiver.requests[0]!.body).toBe(JSON.stringify(golden.with_attachments))
  expect(receiver.requests[0]!.headers['x-inbound-signature']).toBe(signatureOf(receiver.requests[0]!))
})

test('a mail whose attachments cannot be read is posted without their contents', async () => {
  const receiver = await setup.receiver()
  const route = await setup.route(receiver.url, true)
  const { log, lines } = keptLog()
  const loop = setup.loop({
    log,
    makeBody: async ({ message, parsed, raw, replies }) =>
      raw === 'unreadable' ? inboundBody(message, unpackParsed(parsed), [], replies) : null,
  })
  await setup.mail(route)
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  const body = JSON.parse(receiver.requests[0]!.body)
  expect(body).toEqual({ ...golden.with_attachments, attachments_data: [] })
  expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    'attachments unreadable',
  ])
})

test('attachments that cannot be read during a stop: the mail is returned untried', async () => {
  const receiver = await setup.receiver()
  const message = await setup.mail(await setup.route(receiver.url, true))
  const asked = Promise.withResolvers<null>()
  const loop = setup.loop({ makeBody: () => asked.promise })
  await until(() => loop.inFlight() === 1)
  const stopping = loop.stop(1000)
  asked.resolve(null)
  await stopping
  expect([receiver.requests.length, (await setup.delivery(message)).attempts]).toEqual([0, []])
  const next = setup.loop({ workerId: 'worker-2' })
  await until(() => receiver.requests.length === 1 && next.inFlight() === 0)
  expect(attemptNumbers(receiver)).toEqual([1])
  expect(receiver.requests[0]!.body).toBe(JSON.stringify(golden.with_attachments))
})

test('five attempts at the times of the schedule, the same bytes each time, then failed', async () => {
  const receiver = await setup.receiver({ status: 500, body: 'oh no' })
  const message = await setup.mail(await setup.route(receiver.url, true))
  const loop = setup.loop()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  for (const [at, seconds] of INBOUND_LADDER.entries()) {
    await setup.clock.advance(seconds * 1000 - 1)
    expect([receiver.requests.length, loop.inFlight()]).toEqual([at + 1, 0])
    await setup.clock.advance(1)
    await until(() => receiver.requests.length === at + 2 && loop.inFlight() === 0)
  }
  await setup.clock.advance(HOUR)
  expect([receiver.requests.length, loop.inFlight()]).toEqual([5, 0])

  const sums = [0, 60, 660, 4260, 25_860]
  expect(attemptNumbers(receiver)).toEqual([1, 2, 3, 4, 5])
  const times = receiver.requests.map((request) => Number(request.headers['x-inbound-timestamp']) - START / 1000)
  expect(times).toEqual(sums)
  expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(1)
  for (const request of receiver.requests) expect(request.headers['x-inbound-signature']).toBe(signatureOf(request))
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  const delivery = await setup.delivery(message)
  expect(delivery).toMatchObject({ status: 'failed', nextAttemptAt: null })
  expect(delivery.attempts.map(({ number, at }) => [number, at])).toEqual(
    sums.map((sum, at) => [at + 1, START + sum * 1000]),
  )
  expect(delivery.attempts[4]).toMatchObject({ statusCode: 500, error: 'HTTP 500', responseExcerpt: 'oh no' })
})

test('the waits vary by a fifth to either side', async () => {
  const receiver = await setup.receiver(500)
  const route = await setup.route(receiver.url)
  const waits: number[] = []
  for (const fraction of [0, 0.999999]) {
    const message = await setup.mail(route)
    const loop = setup.loop({ random: { bytes: (size) => new Uint8Array(size), fraction: () => fraction } })
    await until(() => receiver.requests.length === waits.length + 1 && loop.inFlight() === 0)
    await loop.stop(0)
    waits.push(Math.round(((await setup.delivery(message)).nextAttemptAt! - START) / 1000))
  }
  expect(waits).toEqual([48, 72])
})

test('a Retry-After of an endpoint is honoured', async () => {
  const receiver = await setup.receiver({ status: 503, headers: { 'retry-after': '900' } }, 200)
  await setup.mail(await setup.route(receiver.url))
  const loop = setup.loop()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.clock.advance(899_999)
  expect(receiver.requests.length).toBe(1)
  await setup.clock.advance(1)
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
})

test('no answer within the timeout is a failed attempt', async () => {
  const receiver = await setup.receiver('hang', 200)
  const message = await setup.mail(await setup.route(receiver.url))
  const loop = setup.loop({ settings: { timeoutMs: 50 } })
  await until(() => loop.inFlight() === 1) // on a slow machine it may end before the request has arrived
  await until(() => loop.inFlight() === 0)
  expect(await setup.delivery(message)).toMatchObject({
    status: 'pending',
    nextAttemptAt: START + MINUTE,
    attempts: [{ number: 1, statusCode: null, error: 'timeout', responseExcerpt: null }],
  })
})

test('410 and a redirect are failures like any other, and the route continues', async () => {
  const receiver = await setup.receiver(410, { status: 307, headers: { location: '/elsewhere' } }, 204)
  const route = await setup.route(receiver.url)
  const message = await setup.mail(route)
  const loop = setup.loop()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  await setup.clock.advance(MINUTE)
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
  await setup.clock.advance(10 * MINUTE)
  await until(() => receiver.requests.length === 3 && loop.inFlight() === 0)
  const { status, attempts } = await setup.delivery(message)
  expect([status, attempts.map(({ statusCode }) => statusCode)]).toEqual(['delivered', [410, 307, 204]])
  expect((await setup.store.inboundRoutes.get(route.id))!.enabled).toBe(true)
})

test('a disabled route gets nothing; pending mail follows when it is enabled, to its current address', async () => {
  const [old, fresh] = [await setup.receiver(500), await setup.receiver()]
  const route = await setup.route(old.url)
  const message = await setup.mail(route)
  const loop = setup.loop()
  await until(() => old.requests.length === 1 && loop.inFlight() === 0)
  await setup.store.inboundRoutes.update(route.id, { enabled: false })
  await setup.clock.advance(2 * HOUR)
  expect([old.requests.length, loop.inFlight()]).toEqual([1, 0])
  expect((await setup.delivery(message)).status).toBe('pending')
  await setup.store.inboundRoutes.update(route.id, { enabled: true, action: webhookAction(fresh.url) })
  loop.wake()
  await until(() => fresh.requests.length === 1 && loop.inFlight() === 0)
  expect([old.requests.length, attemptNumbers(fresh)]).toEqual([1, [2]])
  expect((await setup.delivery(message)).status).toBe('delivered')
})

test('a redelivery is a separate delivery with five attempts', async () => {
  const receiver = await setup.receiver(500)
  const message = await setup.mail(await setup.route(receiver.url))
  const loop = setup.loop({ settings: { scheduleSeconds: [1, 1, 1, 1] } })
  const fail = async (count: number) => {
    while (receiver.requests.length < count || loop.inFlight() > 0) {
      await until(() => loop.inFlight() === 0)
      await setup.clock.advance(1000)
    }
  }
  await fail(5)
  const id = setup.mintId('whd')
  expect(await setup.store.inboundDeliveries.redeliver(message.id, id, setup.clock.now())).toBe('queued')
  loop.wake()
  await fail(10)
  await setup.clock.advance(HOUR)
  expect(attemptNumbers(receiver)).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
  expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(1)
  const deliveries = await setup.store.inboundDeliveries.ofMessage(message.id)
  expect(deliveries.map((each) => [each.status, each.attempts.length])).toEqual([
    ['failed', 5],
    ['failed', 5],
  ])
  expect(deliveries[0]!.id).toBe(id)
})

test('an attempt of a process that died still counts, and the next one posts again when the lease ends', async () => {
  const receiver = await setup.receiver()
  const message = await setup.mail(await setup.route(receiver.url))
  const claims = await claimDue(setup.store.inboundDeliveries, {
    now: START,
    limit: 9,
    worker: 'dead',
    freeFor: () => 9,
  })
  expect(claims.length).toBe(1)
  const loop = setup.loop()
  await setup.clock.advance(3_600_000)
  expect(receiver.requests.length).toBe(0)
  await setup.store.inboundDeliveries.endLeases('dead', new Set(), setup.clock.now())
  loop.wake()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  expect(attemptNumbers(receiver)).toEqual([2])
  expect(await setup.delivery(message)).toMatchObject({ status: 'delivered', attempts: [{ number: 2 }] })
})

test('one route has at most ten requests under way, and one that hangs delays no other', async () => {
  const hanging = await setup.receiver(200)
  const slow = await setup.route(hanging.url)
  const healthy = await setup.receiver()
  const quick = await setup.route(healthy.url)
  const loop = setup.loop()
  await setup.mail(slow)
  await until(() => hanging.requests.length === 1 && loop.inFlight() === 0)
  hanging.script('hang')
  for (let i = 0; i < 12; i++) await setup.mail(slow)
  await hanging.received(11)
  await setup.mail(quick)
  await until(() => healthy.requests.length === 1 && loop.inFlight() === 10)
  expect(hanging.requests.length).toBe(11)
})

test('large bodies have limited memory: one route has half of it, and the rest waits its turn', async () => {
  const MB = 1024 * 1024
  const [first, second] = [await setup.receiver('hang'), await setup.receiver('hang')]
  const [a, b] = [await setup.route(first.url, true), await setup.route(second.url, true)]
  const loop = setup.loop({ settings: { largeBodyBytes: 8 * MB } })
  for (const sizeBytes of [3 * MB, 3 * MB]) await setup.mail(a, { sizeBytes })
  await first.received(1)
  await until(() => loop.inFlight() === 2)
  await setup.mail(b, { sizeBytes: 4 * MB })
  await second.received(1)
  await setup.clock.advance(0)
  expect([first.requests.length, second.requests.length]).toEqual([1, 1])
  first.release(200)
  await first.received(2)
  first.release(200)
  second.release(200)
  await until(() => loop.inFlight() === 0)
})

test('a body without memory for a minute is returned untried, and so it is at the end', async () => {
  const receiver = await setup.receiver('hang')
  const route = await setup.route(receiver.url, true)
  const sizeBytes = 1_000_000
  await setup.mail(route, { sizeBytes })
  const { log, lines } = keptLog()
  const loop = setup.loop({ log, settings: { largeBodyBytes: 1000 } })
  await receiver.received(1)
  const message = await setup.mail(route, { sizeBytes })
  await until(() => loop.inFlight() === 2)
  await setup.clock.advance(MINUTE)
  await until(() => loop.inFlight() === 2)
  expect((await setup.delivery(message)).attempts).toEqual([])
  const stopping = loop.stop(1000)
  await until(() => loop.inFlight() === 1)
  receiver.release(200)
  await stopping
  expect([receiver.requests.length, loop.inFlight()]).toEqual([1, 0])
  expect(lines.filter(({ level }) => level !== 'debug')).toEqual([])
  receiver.script(200)
  const next = setup.loop({ workerId: 'worker-2' })
  await until(() => receiver.requests.length === 2 && next.inFlight() === 0)
  expect(attemptNumbers(receiver)).toEqual([1, 1])
})

test('a long text counts as large without attachments, and short ones do not wait for it', async () => {
  const hanging = await setup.receiver('hang')
  const long = { textBody: 'x'.repeat(600_000), htmlBody: '', headers: {}, attachments: [] }
  const route = await setup.route(hanging.url)
  const loop = setup.loop({ settings: { largeBodyBytes: 1000 } })
  await setup.mail(route, { sizeBytes: 600_000 }, long)
  await hanging.received(1)
  const receiver = await setup.receiver()
  const other = await setup.route(receiver.url)
  await setup.mail(other, { sizeBytes: 600_000 }, long)
  await setup.mail(other, { sizeBytes: 25_000_000 })
  await receiver.received(1)
  expect(JSON.parse(receiver.requests[0]!.body).text_body).toBe(golden.plain.text_body)
  hanging.release(200)
  await receiver.received(2)
  await until(() => loop.inFlight() === 0)
})

test('a mail whose content is gone fails at once, a damaged one after five attempts; neither is posted', async () => {
  const receiver = await setup.receiver()
  const route = await setup.route(receiver.url)
  const gone = await setup.mail(route)
  const damaged = await setup.mail(route)
  const parsed = async (id: string) => (id === gone.id ? null : new Uint8Array([4, 9, 9, 9, 9, 9]))
  const { log, lines } = keptLog()
  const store = { ...setup.store, inbound: { ...setup.store.inbound, parsed } }
  const loop = setup.loop({ store, log, settings: { scheduleSeconds: [1, 1, 1, 1] } })
  await until(() => loop.inFlight() > 0)
  await until(() => loop.inFlight() === 0)
  for (let at = 0; at < 5; at++) await setup.clock.advance(1000)
  expect(await setup.delivery(gone)).toMatchObject({
    status: 'failed',
    nextAttemptAt: null,
    attempts: [{ number: 1, statusCode: null, error: 'the message was deleted after the retention period' }],
  })
  const failed = await setup.delivery(damaged)
  expect([failed.status, failed.attempts.length, failed.attempts[0]!.error]).toEqual([
    'failed',
    5,
    'the stored message cannot be read',
  ])
  expect(receiver.requests).toEqual([])
  expect(lines.filter(({ level }) => level === 'error').length).toBe(5)
})

test('no secret, address, subject or text reaches the log', async () => {
  const receiver = await setup.receiver({ status: 500, body: 'private words' })
  await setup.mail(await setup.route(`${receiver.url}?key=hush`))
  const { log, lines } = keptLog()
  const loop = setup.loop({ log })
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  expect(lines.map((line) => line.message)).toEqual(['inbound delivery pending'])
  const text = JSON.stringify(lines)
  for (const hidden of [SECRET, 'hush', 'private words', 'sender.example', 'Rechnung', 'v1=']) {
    expect(text).not.toContain(hidden)
  }
})

// threat: webhook-slots-of-one-tenant
test("the routes of one organization all hang, and another organization's mail is posted at once", async () => {
  const hanging = await setup.receiver('hang')
  const other = await setup.organization()
  const healthy = await setup.receiver()
  const healthyRoute = await setup.route(healthy.url, false, other)
  for (let i = 0; i < 30; i++) {
    const route = await setup.route(hanging.url)
    await setup.mail(route)
    await setup.mail(route)
  }
  const loop = setup.loop({ settings: { maxInFlight: 30 } })
  await hanging.received(10)
  for (let i = 0; i < 10; i++) await setup.mail(healthyRoute)
  await healthy.received(10)
  await until(() => loop.inFlight() === 10)
  expect(hanging.requests.length).toBe(10)
})
