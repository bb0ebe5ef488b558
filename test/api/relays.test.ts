import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createRelayCounters } from '../../src/sending/outbound/relays/relay-counters.ts'
import { relayOperations } from '../../src/web/api/routes/relays.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'

const failure = { kind: 'deferred', code: '4.3.2', message: '421 4.3.2 busy', aboutRecipient: false } as const
const DELIVERED = { kind: 'delivered', reply: { code: 250, enhanced: null, text: 'ok' } } as never

let api: TestApi
beforeAll(async () => {
  const relays = [
    { name: 'provider', host: 'smtp.provider.example', port: 587, pricePerThousand: 0.1 },
    { name: 'spare', host: '10.0.0.5', port: 25, pricePerThousand: 0 },
  ]
  api = await createTestApi({
    operations: ({ store }) => {
      const counters = createRelayCounters({ store, clock: { now: () => START } as never })
      for (let n = 0; n < 25; n++) counters.count('provider', DELIVERED)
      counters.count('provider', { ...failure, cause: { class: 'busy', rule: 'busy' } })
      return relayOperations({ store, config: { relays }, delivery: { relayCounters: counters } })
    },
  })
})
afterAll(() => api.close())

test('each relay has its use, cost and last error of the month', async () => {
  const operator = { ...(await api.signIn()), 'x-operator': '1' }
  const { body } = await api.ask('GET', '/v1/relays', { key: null, headers: operator })
  const month = new Date(START).toISOString().slice(0, 7)
  expect(body.data).toEqual([
    {
      name: 'provider',
      host: 'smtp.provider.example',
      port: 587,
      month,
      sent: 25,
      failed: 1,
      cost: 0.0025,
      last_error: { at: new Date(START).toISOString(), message: '421 4.3.2 busy' },
    },
    { name: 'spare', host: '10.0.0.5', port: 25, month, sent: 0, failed: 0, cost: null, last_error: null },
  ])
})

test('is for the operator only', async () => {
  expect((await api.ask('GET', '/v1/relays', { key: api.own.keys.admin })).status).toBe(403)
})
