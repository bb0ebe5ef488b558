import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi

beforeAll(async () => {
  made = await createTestApi({ plan: 'free' })
})
afterAll(() => made.close())

test('a key of any permission reads its organization, domain, mode, permissions and limit', async () => {
  const { own } = made
  for (const permission of ['send', 'read', 'manage', 'admin'] as const) {
    const { status, body } = await made.ask('GET', '/v1/me', { key: own.keys[permission] })
    expect(status).toBe(200)
    expect(body).toEqual({
      organization_id: own.organization.id,
      organization: own.organization.name,
      domain_id: own.domain.id,
      domain: own.domain.name,
      key_id: own.keys[permission].record.id,
      permissions: [permission],
      mode: 'live',
      plan: 'free',
      requests_per_minute: 60,
    })
  }
  const tester = await made.addKey(own, { mode: 'test' })
  expect((await made.ask('GET', '/v1/me', { key: tester })).body).toMatchObject({
    mode: 'test',
    domain: own.domain.name,
  })
})

test('a session reads its user, role and what it has selected', async () => {
  const cookie = await made.signIn()
  const { own } = made
  const selected = { 'x-organization': own.organization.id, 'x-domain': own.domain.id, 'x-mode': 'test' }
  const chosen = await made.ask('GET', '/v1/me', { key: null, headers: { ...cookie, ...selected } })
  expect(chosen.body).toMatchObject({ organization_id: own.organization.id, domain: own.domain.name, role: 'operator' })
  expect(chosen.body).toMatchObject({ user_id: expect.stringMatching(/^usr_/), mode: 'test' })
  expect(chosen.body).not.toHaveProperty('key_id')
  const none = await made.ask('GET', '/v1/me', { key: null, headers: { ...cookie, 'x-operator': '1' } })
  expect(none.body).toMatchObject({ organization_id: null, organization: null, domain: null, plan: null })
})

test('without a key, 401', async () => {
  expect((await made.ask('GET', '/v1/me', { key: null })).status).toBe(401)
})
