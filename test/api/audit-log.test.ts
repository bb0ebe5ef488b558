import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'

/** `/v1/audit-log`. openapi.test.ts checks that every operation that changes data writes an entry. */

let made: TestApi

beforeAll(async () => {
  made = await createTestApi()
})
afterAll(() => made.close())

const from = (ip: string, id: string) => ({ 'x-forwarded-for': ip, 'x-request-id': id })
const entries = async (query = '') => {
  const { body } = await made.ask('GET', `/v1/audit-log${query}`, { key: made.own.keys.admin })
  return body.data
}
const URL = 'https://hooks.example.com/canary-in-a-body'
const createWebhook = (headers: Record<string, string> = {}) =>
  made.ask('POST', '/v1/webhooks', { body: { url: URL, events: ['message.bounced'] }, headers })

describe('the audit log', () => {
  test('records who did what to which resource, from where, and with which result', async () => {
    const { body } = await createWebhook(from('192.0.2.77', 'first'))
    await made.ask('PATCH', `/v1/webhooks/${body.id}`, {
      body: { status: 'paused' },
      headers: from('192.0.2.78', 'next'),
    })
    const { record } = made.own.keys.manage
    const [changed, created] = await entries()
    expect(created).toEqual({
      id: expect.stringMatching(/^aud_/),
      created_at: '2026-11-21T12:00:00.000Z',
      actor: { type: 'api_key', id: record.id, name: 'manage' },
      action: 'webhooks_create',
      resource_id: body.id,
      created_id: null,
      fields: ['url', 'events'],
      ip_address: '192.0.2.77',
      outcome: 'done',
      request_id: 'first',
    })
    expect(changed).toMatchObject({ action: 'webhooks_update', resource_id: body.id, fields: ['status'] })
    expect(changed).toMatchObject({ ip_address: '192.0.2.78', request_id: 'next' })
  })

  test('records refusals with their code', async () => {
    const { keys } = made.own
    const outcomeOf = async (method: string, path: string, options: object) => {
      await made.ask(method, path, options)
      const [{ action, resource_id, outcome }] = await entries('?limit=1')
      return [action, resource_id, outcome]
    }
    const theirs = made.other.keys.send.record.id
    const none = 'key_00000000000000000000000000'
    expect(await outcomeOf('POST', '/v1/templates', { key: keys.read })).toEqual([
      'templates_create',
      null,
      'forbidden',
    ])
    const path = `/v1/api-keys/${theirs}`
    expect(await outcomeOf('DELETE', path, {})).toEqual(['api_keys_revoke', theirs, 'forbidden'])
    expect(await outcomeOf('DELETE', `/v1/api-keys/${none}`, {})).toEqual(['api_keys_revoke', none, 'not_found'])
    const bad = { body: { url: 'ftp://x', events: [] } }
    expect(await outcomeOf('POST', '/v1/webhooks', bad)).toEqual(['webhooks_create', null, 'validation_error'])
  })

  test('names the key that a rotation created, and marks replayed answers', async () => {
    const { record } = await made.addKey(made.own, { permissions: ['send'] })
    const ask = () =>
      made.ask('POST', `/v1/api-keys/${record.id}/rotate`, { body: {}, headers: { 'idempotency-key': 'once' } })
    const { body } = await ask()
    const rotated = { action: 'api_keys_rotate', resource_id: record.id, created_id: body.id, outcome: 'done' }
    expect((await entries('?limit=1'))[0]).toMatchObject(rotated)
    await ask()
    expect((await entries('?limit=1'))[0]).toMatchObject({ action: 'api_keys_rotate', outcome: 'repeated' })
  })

  test('contains no recipient address and no field value', async () => {
    await made.ask('POST', '/v1/suppressions', { body: { email: 'canary@customer.example' } })
    await made.ask('DELETE', '/v1/suppressions/canary@customer.example')
    await made.ask('DELETE', '/v1/suppressions/canary@customer.example')
    const text = JSON.stringify(await entries('?limit=100'))
    expect(text).toContain('suppressions_delete')
    expect(text).not.toContain('canary')
  })

  test('is filtered by actor, action, resource and time, and read by admins of the organization only', async () => {
    const { body } = await createWebhook()
    await made.clock.advance(1_000)
    const later = await createWebhook()
    const ids = async (query: string) => (await entries(query)).map((each: { resource_id: string }) => each.resource_id)
    expect(await ids(`?resource_id=${body.id}`)).toEqual([body.id])
    expect(await ids('?action=webhooks_create&limit=2')).toEqual([later.body.id, body.id])
    expect(await ids('?created_after=2026-11-21T12:00:00.500Z')).toEqual([later.body.id])
    expect(await ids(`?actor_id=${made.own.keys.send.record.id}`)).toEqual([])
    const { status } = await made.ask('GET', '/v1/audit-log')
    expect(status).toBe(403)
    const theirs = await made.ask('GET', '/v1/audit-log', { key: made.other.keys.admin })
    expect(theirs.body.data).toEqual([])
  })
})
