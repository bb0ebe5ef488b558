import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { expectCostUnder } from '../../../test/support/cpu-cost.ts'
import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { WebhookFormat } from '../../model/webhook.ts'
import type { Post, PostResult } from '../../net/https/requests.ts'
import type { ClaimedWebhookDelivery } from '../../storage/store.ts'
import { attemptDelivery } from './attempt.ts'

const NOW = 1_795_244_400_000
const TOOK_MS = 70

/** One attempt answered with `result`, at the middle of the jitter. */
async function attempted(
  result: Partial<PostResult> & { kind: PostResult['kind'] },
  number = 1,
  format: WebhookFormat = 'enveloped',
  headers: EndpointHeaders = [],
) {
  let now = NOW
  const claim: ClaimedWebhookDelivery = {
    id: 'whd_1',
    webhookId: 'whk_1',
    organizationId: 'org_1',
    eventId: 'evt_1',
    messageId: 'msg_1',
    type: 'message.delivered',
    url: 'https://hooks.example.com/in',
    format,
    secrets: { secret: 'whsec_c2VjcmV0', previous: null },
    headers,
    body: '{"id":"evt_1"}',
    attempt: number,
    worker: 'w',
  }
  const requests: Parameters<Post>[] = []
  const verdict = await attemptDelivery(claim, {
    post: async (...request) => {
      requests.push(request)
      now += TOOK_MS
      return { retryAfterSeconds: null, location: null, excerpt: '', durationMs: TOOK_MS, ...result } as PostResult
    },
    clock: { now: () => now, sleep: async () => {} },
    random: { bytes: (size) => new Uint8Array(size), fraction: () => 0.5 },
    scheduleSeconds: [5, 300, 1800, 7200],
    timeoutMs: 30_000,
    userAgent: 'Postrider/test',
    shapes: { resend: async ({ eventId, messageId }) => `${eventId} of ${messageId} for Resend` },
  })
  const waitSeconds = verdict.nextAttemptAt === null ? null : (verdict.nextAttemptAt - now) / 1000
  return { ...verdict, waitSeconds, requests }
}

const answered = (status: number, number = 1, retryAfterSeconds: number | null = null) =>
  attempted({ kind: 'answered', status, retryAfterSeconds, excerpt: 'said so' }, number)

test('the request has the body unchanged, the signature of this attempt and our user agent', async () => {
  const { requests } = await attempted({ kind: 'answered', status: 200 }, 3)
  expect(requests.length).toBe(1)
  const [url, request] = requests[0]!
  expect(url).toBe('https://hooks.example.com/in')
  expect(request.body).toBe('{"id":"evt_1"}')
  expect(request.timeoutMs).toBe(30_000)
  expect(Object.keys(request.headers).sort()).toEqual([
    'User-Agent',
    'X-Service-Delivery-Attempt',
    'X-Service-Signature',
    'content-type',
    'webhook-id',
    'webhook-signature',
    'webhook-timestamp',
  ])
  expect(request.headers['X-Service-Delivery-Attempt']).toBe('3')
  expect(request.headers['User-Agent']).toBe('Postrider/test')
})

test('every 2xx is delivered', async () => {
  for (const status of [200, 201, 202, 204, 299]) {
    const verdict = await answered(status)
    expect(verdict).toMatchObject({ status: 'delivered', nextAttemptAt: null, pauseReason: null })
    expect(verdict.attempt).toEqual({
      number: 1,
      at: NOW,
      durationMs: TOOK_MS,
      statusCode: status,
      error: null,
      responseExcerpt: 'said so',
    })
  }
})

test('every other status is retried, with a fixed error text', async () => {
  const table: [number, string][] = [
    [301, 'HTTP 301 (redirects are not followed)'],
    [302, 'HTTP 302 (redirects are not followed)'],
    [400, 'HTTP 400'],
    [401, 'HTTP 401'],
    [404, 'HTTP 404'],
    [429, 'HTTP 429'],
    [500, 'HTTP 500'],
    [503, 'HTTP 503'],
  ]
  for (const [status, error] of table) {
    const verdict = await answered(status)
    expect(verdict).toMatchObject({ status: 'pending', waitSeconds: 5, pauseReason: null })
    expect(verdict.attempt).toMatchObject({ statusCode: status, error })
  }
})

test('the fifth failure is the last, and a manual attempt after it is a single one', async () => {
  expect((await answered(500, 4)).waitSeconds).toBe(7200)
  for (const number of [5, 6, 17]) {
    expect(await answered(500, number)).toMatchObject({ status: 'failed', nextAttemptAt: null })
  }
  expect(await answered(200, 17)).toMatchObject({ status: 'delivered' })
})

// threat: flapping-webhook-endpoints
test('a redirect says where it leads', async () => {
  const location = 'https://login.example/start?…'
  const { attempt, status } = await attempted({ kind: 'answered', status: 307, location })
  expect(attempt.error).toBe('HTTP 307 to https://login.example/start?… (redirects are not followed)')
  expect(status).toBe('pending')
})

test('Retry-After counts with 429 and 503 only', async () => {
  expect((await answered(429, 1, 90)).waitSeconds).toBe(90)
  expect((await answered(503, 1, 90)).waitSeconds).toBe(90)
  expect((await answered(500, 1, 90)).waitSeconds).toBe(5)
  expect((await answered(429, 2, 90)).waitSeconds).toBe(300)
  expect((await answered(429, 5, 90)).status).toBe('failed')
})

test('410 pauses the webhook, and the delivery waits for it', async () => {
  expect(await answered(410)).toMatchObject({
    status: 'pending',
    waitSeconds: 5,
    pauseReason: 'The endpoint returned 410 Gone.',
  })
  expect(await answered(410, 5)).toMatchObject({ status: 'failed', pauseReason: 'The endpoint returned 410 Gone.' })
})

test('no answer and a blocked address are failed attempts without a status', async () => {
  const silent = await attempted({ kind: 'no_answer', error: 'timeout' })
  expect(silent).toMatchObject({ status: 'pending', waitSeconds: 5, pauseReason: null })
  expect(silent.attempt).toMatchObject({ statusCode: null, error: 'timeout', responseExcerpt: null })
  const blocked = await attempted({ kind: 'blocked', reason: '10.0.0.1 is not a public address' }, 5)
  expect(blocked.status).toBe('failed')
  expect(blocked.attempt.error).toBe('blocked: 10.0.0.1 is not a public address')
})

test('an empty answer leaves no excerpt', async () => {
  const verdict = await attempted({ kind: 'answered', status: 200, excerpt: '' })
  expect(verdict.attempt.responseExcerpt).toBeNull()
})

test('an event in another format is signed as posted, and has the headers of Svix too', async () => {
  const { requests } = await attempted({ kind: 'answered', status: 200 }, 1, 'resend')
  const [, { body, headers }] = requests[0]!
  expect(body).toBe('evt_1 of msg_1 for Resend')
  const signature = createHmac('sha256', Buffer.from('c2VjcmV0', 'base64')).update(`evt_1.${NOW / 1000}.${body}`)
  expect(headers).toMatchObject({
    'svix-id': 'evt_1',
    'svix-timestamp': `${NOW / 1000}`,
    'svix-signature': `v1,${signature.digest('base64')}`,
    'webhook-id': 'evt_1',
  })
})

// threat: endpoint-headers-moved
test('additional headers are sent, and an endpoint that repeats them does not show them', async () => {
  const headers = [
    ['X-Api-Key', 'key-0123456789'],
    ['Authorization', 'Bearer token-0123456789-long'],
    ['X-Flag', 'on'],
  ] as const
  const excerpt = 'got key-0123456789 and token-0123456789-long, Bearer on key-0123456789'
  const said = { kind: 'answered', status: 302, excerpt, location: 'https://b.example/key-0123456789' } as const
  const { attempt, requests } = await attempted(said, 1, 'enveloped', headers)
  expect(requests[0]![1].headers).toMatchObject(Object.fromEntries(headers))
  expect(requests[0]![1].headers['X-Service-Signature']).toMatch(/^t=/)
  expect(attempt.responseExcerpt).toBe('got […] and […], Bearer on […]')
  expect(attempt.error).toBe('HTTP 302 to https://b.example/[…] (redirects are not followed)')
})

test('of two values that begin alike, the longer one is removed as a whole', async () => {
  const headers = [
    ['X-A', 'secret-1'],
    ['X-B', 'secret-1234'],
  ] as const
  const { attempt } = await attempted(
    { kind: 'answered', status: 200, excerpt: 'secret-1234' },
    1,
    'enveloped',
    headers,
  )
  expect(attempt.responseExcerpt).toBe('[…]')
})

test('headers of thousands of words cost little for each response', async () => {
  const words = (letter: string) => Array.from({ length: 400 }, (_, n) => `${letter}${n}`.padEnd(9, '-')).join(' ')
  const headers = [...'abcdefghi'].map((letter) => [`X-${letter}`, words(letter)] as const)
  const key = ['X-Api-Key', 'a-long-key-of-a-gateway'] as const
  const excerpt = `${key[1]} ${'a-'.repeat(2_030)}`
  const post = () => attempted({ kind: 'answered', status: 500, excerpt }, 1, 'enveloped', [...headers, key])
  expect((await post()).attempt.responseExcerpt).toStartWith('[…] a-')
  await expectCostUnder(75, async () => {
    for (let n = 0; n < 50; n++) await post()
  })
})
