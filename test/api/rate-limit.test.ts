import { afterEach, expect, test } from 'bun:test'
import { UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { createTestApi, type TestApi } from '../support/api.ts'
import { until } from '../support/patience.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

const start = async (plan = 'free') => {
  made = await createTestApi({ plan })
  return made
}
const rates = ({ headers }: { headers: Headers }) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`)))

test('the 61st request of a minute gets 429, and Retry-After says when the window ends', async () => {
  const { ask, clock } = await start()
  expect(rates(await ask('GET', '/v1/webhooks'))).toEqual([60, 59, 60])
  await clock.advance(10_500)
  for (let n = 2; n <= 60; n++) expect((await ask('GET', '/v1/webhooks')).status).toBe(200)
  const over = await ask('GET', '/v1/webhooks', { headers: { 'x-request-id': 'r' } })
  expect(over.status).toBe(429)
  expect(over.body).toEqual({
    error: {
      code: 'rate_limited',
      message: 'More than 60 requests per minute. Retry after 50 s.',
      details: { request_id: 'r', docs: '/manual/errors#rate_limited' },
      retry_after: 50,
    },
  })
  expect(over.headers.get('retry-after')).toBe('50')
  expect(rates(over)).toEqual([60, 0, 50])
  await clock.advance(49_499)
  expect((await ask('GET', '/v1/webhooks')).status).toBe(429)
  await clock.advance(1)
  expect(rates(await ask('GET', '/v1/webhooks'))).toEqual([60, 59, 60])
})

// threat: plan-limits-bypassed
test('parallel requests, refused ones and unknown paths all count, and never more than the limit pass', async () => {
  const { ask } = await start()
  const paths = ['/v1/webhooks', '/v1/nowhere', '/v1/events', '/v1/webhooks/whk_x']
  const responses = await Promise.all(Array.from({ length: 160 }, (_, n) => ask(n % 2 ? 'GET' : 'HEAD', paths[n % 4]!)))
  expect(responses.filter(({ status }) => status !== 429)).toHaveLength(60)
})

// threat: refusals-without-end
test('after 100 refusals in a window, each further one of that key takes half a second', async () => {
  const { ask, own, clock } = await start()
  for (let n = 0; n < 160; n++) await ask('GET', '/v1/webhooks')
  const settled: string[] = []
  const refused = (what: string, options?: Parameters<typeof ask>[2]) =>
    ask('POST', '/v1/send', options).then(({ status }) => settled.push(`${what} ${status}`))
  const all = [
    refused('small', { body: 'x', headers: { 'content-length': '1' } }),
    refused('large', { body: 'x', headers: { 'content-length': String(20 * 2 ** 20) } }),
    refused('other key', { key: own.keys.admin }),
  ]
  await until('the others', () => settled.length === 2)
  await clock.untilSleeping()
  await clock.advance(499)
  expect(settled.sort()).toEqual(['large 429', 'other key 400'])
  await clock.advance(1)
  await Promise.all(all)
  expect(settled).toContain('small 429')
  await clock.advance(60_000)
  expect((await ask('GET', '/v1/webhooks')).status).toBe(200)
  for (let n = 0; n < 60; n++) await ask('GET', '/v1/webhooks') // the new window refuses at once again
})

test('every key has its own window, and a request without a key uses none', async () => {
  const { ask, own } = await start()
  for (let n = 0; n < 61; n++) await ask('GET', '/v1/events', { key: own.keys.read })
  expect((await ask('GET', '/v1/events', { key: own.keys.read })).status).toBe(429)
  expect((await ask('GET', '/v1/webhooks', { key: own.keys.manage })).status).toBe(200)
  expect((await ask('GET', '/v1/webhooks', { key: null })).status).toBe(401)
})

test('a rotated key and its successors share one window', async () => {
  const { ask, own } = await start()
  const admin = own.keys.admin
  const use = async (key: string, times: number) => {
    let passed = 0
    for (let n = 0; n < times; n++) if ((await ask('GET', '/v1/webhooks', { key })).status === 200) passed++
    return passed
  }
  expect(await use(own.keys.manage.value, 20)).toBe(20)
  const second = await ask('POST', `/v1/api-keys/${own.keys.manage.record.id}/rotate`, { key: admin })
  expect(await use(own.keys.manage.value, 10)).toBe(10)
  expect(await use(second.body.key, 10)).toBe(10)
  const third = await ask('POST', `/v1/api-keys/${second.body.id}/rotate`, { key: admin })
  const passed =
    (await use(second.body.key, 10)) + (await use(third.body.key, 30)) + (await use(own.keys.manage.value, 10))
  expect(passed).toBe(20)
})

test('an unlimited plan reports a limit that no client reaches; without its plan in the config, the smallest applies', async () => {
  const { ask, store, own } = await start('enterprise')
  expect(rates(await ask('GET', '/v1/webhooks'))).toEqual([1e9, 1e9, 60])
  await store.organizations.setPlan(own.organization.id, 'no-such-plan')
  expect(rates(await ask('GET', '/v1/webhooks'))).toEqual([60, 59, 60])
})

test('a clock that is set back does not lengthen a window', async () => {
  const { createRateLimit } = await import('../../src/web/api/rate-limit.ts')
  const { store, own } = await start()
  const limiter = createRateLimit({
    snapshot: store.snapshot,
    plans: () => ({ ...UNLIMITED_PLAN, requestsPerMinute: 1 }),
  })
  const key = own.keys.read.record
  expect(limiter.take(key, 10_000_000).allowed).toBe(true)
  expect(limiter.take(key, 10_000_001).allowed).toBe(false)
  expect(limiter.take(key, 1_000_000)).toEqual({ allowed: true, limit: 1, remaining: 0, resetSeconds: 60, refused: 0 })
})
