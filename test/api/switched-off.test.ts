import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'
import { readDocument } from '../support/documented.ts'

/** The server of openapi.test.ts has every feature on. Here, what the configuration can leave out is off. */
let made: TestApi
beforeAll(async () => {
  made = await createTestApi()
})
afterAll(() => made.close())

test('every operation documents what it answers where its feature is off', async () => {
  const { operations } = readDocument((await made.ask('GET', '/openapi.json', { key: null })).body)
  const operator = { ...(await made.signIn()), 'x-operator': '1' }
  const wrong: string[] = []
  const refused = new Set<string>()
  for (const { id, method, path, operation } of operations) {
    const isOperator = operation['x-permission'] === 'operator'
    const options = {
      ...(isOperator ? { key: null, headers: operator } : { key: made.own.keys.admin }),
      ...(operation.requestBody && { body: operation.requestBody.content['application/json'].example ?? {} }),
    }
    try {
      // It throws where the answer is not documented.
      const { status, body } = await made.ask(method, path.replace(/\{\w+\}/g, 'none'), options)
      if (status > 299) refused.add(`${id} ${status} ${body.error.code}`)
    } catch (error) {
      wrong.push(String(error))
    }
  }
  expect(wrong).toEqual([])
  expect([...refused]).toContain('canary_run 422 invalid_state')
})
