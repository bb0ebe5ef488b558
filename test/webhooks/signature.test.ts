import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ReceivedRequest } from '../support/receiver.ts'
import { MINUTE, START, startWebhookSetup, until, type WebhookSetup } from './setup.ts'

let setup: WebhookSetup
beforeEach(async () => {
  setup = await startWebhookSetup()
})
afterEach(() => setup.end())

/** A receiver's verification, written without our code: parse t and v1, rebuild the signed string from the raw body,
 *  HMAC-SHA256, compare in constant time, five minutes. */
function customerAccepts(request: ReceivedRequest, secret: string, now: number): boolean {
  const parts = request.headers['x-service-signature']!.split(',').map((part) => part.split('=') as [string, string])
  const t = parts.find(([name]) => name === 't')![1]
  const signedString = Buffer.concat([Buffer.from(`${t}.`), request.bytes])
  const expected = createHmac('sha256', secret).update(signedString).digest('hex')
  const matches = parts
    .filter(([name]) => name === 'v1')
    .some(([, v1]) => v1.length === expected.length && timingSafeEqual(Buffer.from(v1), Buffer.from(expected)))
  return matches && Math.abs(now / 1000 - Number(t)) <= 300
}

/** The receiver's side of Standard Webhooks: `<id>.<timestamp>.<body>`, the decoded secret, any of the `v1,` values. */
function standardAccepts(request: ReceivedRequest, secret: string, now: number): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = request.headers
  const signedString = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), request.bytes])
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(signedString).digest('base64')
  return signature!.split(' ').includes(`v1,${expected}`) && Math.abs(now / 1000 - Number(timestamp)) <= 300
}

const accepts = (request: ReceivedRequest, secret: string, now: number) => [
  customerAccepts(request, secret, now),
  standardAccepts(request, secret, now),
]
const countOfV1 = (request: ReceivedRequest) => [
  request.headers['x-service-signature']!.match(/v1=[0-9a-f]{64}(,|$)/g)!.length,
  request.headers['webhook-signature']!.split(' ').length,
]

// threat: webhook-replay-and-tampering
test('posts pass both verifiers, and fail them with another secret, body or time', async () => {
  const receiver = await setup.receiver()
  const webhook = await setup.webhook(receiver.url)
  setup.loop()
  await setup.tell()
  await receiver.received(1)
  const [request] = receiver.requests
  expect(request!.headers['x-service-signature']).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/)
  expect(accepts(request!, webhook.secret, START)).toEqual([true, true])
  expect(accepts(request!, webhook.secret.replace('whsec_', 'whsec_AAAA'), START)).toEqual([false, false])
  expect(accepts(request!, webhook.secret, START + 301_000)).toEqual([false, false])
  expect(accepts({ ...request!, bytes: Buffer.from(`${request!.body} `) }, webhook.secret, START)).toEqual([
    false,
    false,
  ])
})

test('the fifth attempt is still fresh for the receiver', async () => {
  const receiver = await setup.receiver(500)
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop()
  await setup.tell()
  for (const [at, seconds] of [5, 300, 1800, 7200].entries()) {
    await until(() => receiver.requests.length === at + 1 && loop.inFlight() === 0)
    await setup.clock.advance(seconds * 1000)
  }
  await receiver.received(5)
  expect(accepts(receiver.requests[4]!, webhook.secret, setup.clock.now())).toEqual([true, true])
  expect(accepts(receiver.requests[0]!, webhook.secret, setup.clock.now())).toEqual([false, false])
})

// threat: webhook-replay-and-tampering
test('during a rotation both secrets are valid, afterwards only the new one', async () => {
  const receiver = await setup.receiver()
  const webhook = await setup.webhook(receiver.url)
  const loop = setup.loop()
  const fresh = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  await setup.store.webhooks.rotateSecret(webhook.id, fresh, START + 60 * MINUTE, START)
  await setup.tell()
  await until(() => receiver.requests.length === 1 && loop.inFlight() === 0)
  const during = receiver.requests[0]!
  expect(countOfV1(during)).toEqual([2, 2])
  expect(accepts(during, fresh, START)).toEqual([true, true])
  expect(accepts(during, webhook.secret, START)).toEqual([true, true])

  await setup.clock.advance(60 * MINUTE)
  await setup.tell()
  await until(() => receiver.requests.length === 2 && loop.inFlight() === 0)
  const after = receiver.requests[1]!
  expect(countOfV1(after)).toEqual([1, 1])
  expect(accepts(after, fresh, setup.clock.now())).toEqual([true, true])
  expect(accepts(after, webhook.secret, setup.clock.now())).toEqual([false, false])
})
