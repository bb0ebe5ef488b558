import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApi, TEST_PLANS, type TestApi } from '../support/api.ts'

let made: TestApi
beforeAll(async () => {
  made = await createTestApi()
})
afterAll(() => made.close())

test('the operator reads the configuration and the plans', async () => {
  const headers = { ...(await made.signIn()), 'x-operator': '1' }
  const ask = async (path: string) => (await made.ask('GET', path, { key: null, headers })).body.data
  expect(await ask('/v1/configuration')).toEqual([
    { key: 'hostname', value: '"mail.example.com"', source: 'config.toml:1', is_given: true },
  ])
  expect((await ask('/v1/plans')).map(({ plan }: { plan: string }) => plan)).toEqual(Object.keys(TEST_PLANS))
})
