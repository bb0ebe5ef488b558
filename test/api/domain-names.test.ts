import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi

beforeAll(async () => {
  made = await createTestApi()
})
afterAll(() => made.close())

test('the name of a domain works where its ID does: in a path, a query and a body', async () => {
  const { id, name } = made.own.domain
  for (const text of [name, name.toUpperCase(), `${name}.`])
    expect((await made.ask('GET', `/v1/domains/${text}`)).body).toMatchObject({ id, name })
  expect((await made.ask('GET', `/v1/stats?domain_id=${name}`, { key: made.own.keys.read })).status).toBe(200)
  const key = await made.ask('POST', '/v1/api-keys', { body: { name: 'k', domain_id: name, permissions: ['send'] } })
  expect(key).toMatchObject({ status: 201, body: { domain_id: id } })
  const added = await made.ask('POST', '/v1/suppressions', { body: { email: 'a@b.example', domain_id: name } })
  expect(added).toMatchObject({ status: 201, body: { domain_id: id } })
  const mail = await made.ask('GET', `/v1/events?domain_id=${id}`, { key: made.own.keys.read })
  const named = await made.ask('GET', `/v1/events?domain_id=${name}`, { key: made.own.keys.read })
  expect(named.body).toEqual(mail.body)
})

// threat: foreign-resources
test('the name of another organization’s domain is one that does not exist', async () => {
  for (const name of [made.other.domain.name, 'nobody.example', `${'a.'.repeat(200)}example`]) {
    expect([name, (await made.ask('GET', `/v1/domains/${name}`)).status]).toEqual([name, 404])
    const stats = await made.ask('GET', `/v1/stats?domain_id=${name}`, { key: made.own.keys.read })
    expect([name, stats.status]).toEqual([name, name.length > 254 ? 400 : 404])
    const body = { name: 'k', domain_id: name, permissions: ['send'] }
    expect((await made.ask('POST', '/v1/api-keys', { body })).status).toBe(400)
  }
})
