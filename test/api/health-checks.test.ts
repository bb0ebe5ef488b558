import { afterAll, beforeAll, expect, test } from 'bun:test'
import { warn } from '../../src/operating/health/check.ts'
import { createHealthWatch } from '../../src/operating/health/watch.ts'
import { silentLog } from '../../src/os/log.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'

let made: TestApi
let operator: Record<string, string>
beforeAll(async () => {
  const found = [{ name: 'dmarc', ...warn('example.com has none', 'Publish one.') }]
  const health = createHealthWatch({ run: async () => found, now: () => START, log: silentLog })
  made = await createTestApi({ health })
  operator = { ...(await made.signIn()), 'x-operator': '1' }
})
afterAll(() => made.close())

const ask = (method: string, path: string) => made.ask(method, path, { key: null, headers: operator })

test('the operator sees the last findings, and can run the checks now', async () => {
  const before = await ask('GET', '/v1/health-checks')
  expect([before.status, before.body]).toEqual([200, { checked_at: null, ok: null, checks: [] }])
  const now = await ask('POST', '/v1/health-checks/run')
  expect(now.status).toBe(200)
  expect(now.body).toEqual({
    checked_at: '2026-11-21T12:00:00.000Z',
    ok: true,
    checks: [{ name: 'dmarc', status: 'warn', message: 'example.com has none', advice: 'Publish one.', subject: null }],
  })
  expect((await ask('GET', '/v1/health-checks')).body).toEqual(now.body)
})
