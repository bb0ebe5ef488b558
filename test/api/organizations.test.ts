import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi
let operator: Record<string, string>
beforeAll(async () => {
  made = await createTestApi()
  operator = { ...(await made.signIn()), 'x-operator': '1' }
})
afterAll(() => made.close())

const ask = (method: string, path: string, body?: object) =>
  made.ask(method, path, { key: null, headers: operator, body })

test('the operator creates, shows, lists and changes an organization', async () => {
  await made.clock.advance(1_000) // IDs of the same millisecond have no defined order
  const { status, body } = await ask('POST', '/v1/organizations', { name: 'New' })
  expect([status, body]).toEqual([
    201,
    { id: expect.stringMatching(/^org_/), name: 'New', plan: 'free', created_at: '2026-11-21T12:00:01.000Z' },
  ])
  expect((await ask('GET', `/v1/organizations/${body.id}`)).body).toEqual(body)
  expect((await ask('GET', '/v1/organizations?limit=1')).body).toMatchObject({ data: [body], has_more: true })
  const changed = await ask('PATCH', `/v1/organizations/${body.id}`, { name: 'Newer', plan: 'enterprise' })
  expect(changed.body).toEqual({ ...body, name: 'Newer', plan: 'enterprise' })
  expect((await ask('GET', `/v1/organizations/${body.id}`)).body).toEqual(changed.body)
  expect((await ask('PATCH', `/v1/organizations/${body.id}`, {})).body).toEqual(changed.body)
})

test('a name belongs to one organization, and a plan must be in the config', async () => {
  expect((await ask('POST', '/v1/organizations', { name: 'own' })).status).toBe(409)
  expect((await ask('PATCH', `/v1/organizations/${made.own.organization.id}`, { name: 'other' })).status).toBe(409)
  expect((await ask('PATCH', `/v1/organizations/${made.own.organization.id}`, { name: 'own' })).status).toBe(200)
  expect((await ask('POST', '/v1/organizations', { name: 'x', plan: 'gold' })).body.error.field).toBe('plan')
  expect((await ask('PATCH', `/v1/organizations/${made.own.organization.id}`, { plan: '' })).body.error.field).toBe(
    'plan',
  )
})

test('of concurrent requests for a name one succeeds, and the others are a conflict', async () => {
  const asked = Array.from({ length: 8 }, () => ask('POST', '/v1/organizations', { name: 'Wanted' }))
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([201, 409, 409, 409, 409, 409, 409, 409])
})

test('changes of an organization are in its own audit log', async () => {
  await ask('PATCH', `/v1/organizations/${made.own.organization.id}`, { plan: 'internal' })
  const { body } = await made.ask('GET', '/v1/audit-log?action=organizations_update', { key: made.own.keys.admin })
  expect(body.data[0]).toMatchObject({
    actor: { type: 'user', name: 'Operator' },
    resource_id: made.own.organization.id,
    fields: ['plan'],
  })
})
