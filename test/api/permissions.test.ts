import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PERMISSIONS } from '../../src/model/api-key.ts'
import { createCompatApi } from '../../src/server/external-api.ts'
import { endpoint } from '../../src/web/compat/external-api.ts'
import { createTestApi, signIn, type TestApi } from '../support/api.ts'
import { inboundMessage, storedMail } from '../support/inbound.ts'
import { VERIFIED } from '../support/verified.ts'

let made: TestApi

beforeAll(async () => {
  made = await createTestApi()
})
afterAll(() => made.close())

/** Path pattern → path with an unknown value for each parameter. */
const pathOf = (path: string) => path.replace(/:\w+/g, 'none')

describe('every operation', () => {
  // threat: foreign-resources
  // threat: operator-only-operations
  test('accepts the keys that hold its permission or admin, and no others', async () => {
    const wrong: string[] = []
    for (const { id, method, path, access } of made.operations) {
      const { permission, role } = access
      for (const held of PERMISSIONS) {
        const { status, body } = await made.ask(method, pathOf(path), { key: made.own.keys[held] })
        const isIn = role !== 'operator' && [permission, 'admin'].includes(permission === 'any' ? 'any' : held)
        const isRefused =
          status === 403 && body.error.details.required === (role === 'operator' ? 'operator' : permission)
        if (isRefused === isIn) wrong.push(`${id} with ${held}: ${status}`)
      }
    }
    expect(wrong).toEqual([])
    expect(made.operations.length).toBeGreaterThan(25)
  })

  test('gets 401 without a key and 404 for an unknown resource', async () => {
    const wrong: string[] = []
    const operator = { ...(await made.signIn()), 'x-operator': '1' }
    for (const { id, method, path, access } of made.operations) {
      const bare = await made.ask(method, pathOf(path), { key: null })
      if (bare.status !== 401) wrong.push(`${id} without a key: ${bare.status}`)
      if (!path.includes(':')) continue
      const asked = access.role === 'operator' ? { key: null, headers: operator } : { key: made.own.keys.admin }
      const missing = await made.ask(method, pathOf(path), asked)
      if (missing.status !== 404) wrong.push(`${id} of nothing: ${missing.status}`)
    }
    expect(wrong).toEqual([])
  })

  // threat: foreign-resources
  test('gets 403 for a resource of another organization', async () => {
    const { ask, other } = made
    const key = other.keys.manage
    const webhook = await ask('POST', '/v1/webhooks', {
      key,
      body: { url: 'https://hooks.example.com/x', events: ['message.bounced'] },
    })
    await ask('POST', `/v1/webhooks/${webhook.body.id}/test`, { key, body: { type: 'message.bounced' } })
    const delivery = await ask('GET', `/v1/webhooks/${webhook.body.id}/deliveries`, { key })
    const suppression = await ask('POST', '/v1/suppressions', { key, body: { email: 'x@elsewhere.example' } })
    const event = await ask('GET', '/v1/events', { key: other.keys.read })
    const route = await ask('POST', '/v1/inbound-routes', {
      key,
      body: { name: 'all', match: { type: 'catch_all' }, action: { type: 'store' } },
    })
    const taken = inboundMessage({
      id: made.mintId('inb'),
      organizationId: other.organization.id,
      domainId: other.domain.id,
      routeId: route.body.id,
      receivedAt: made.clock.now(),
      action: 'store',
      from: 'x@elsewhere.example',
    })
    await made.store.inbound.accept({ ...storedMail(), taken: [{ message: taken, deliveryId: null, forward: null }] })
    const template = await ask('POST', '/v1/templates', { key, body: { name: 'elsewhere', text: 'Hi' } })
    const message = await ask('POST', '/v1/messages/send', {
      key: other.keys.send,
      body: { from: `a@${other.domain.name}`, to: 'x@elsewhere.example', subject: 'elsewhere', text: 'Hi' },
    })
    const { id: organizationId } = other.organization
    const email = 'ann@elsewhere.example'
    const times = { createdAt: made.clock.now(), expiresAt: made.clock.now() + 1000 }
    const user = {
      id: made.mintId('usr'),
      email,
      name: 'elsewhere',
      isOperator: false,
      roles: { [organizationId]: 'viewer' as const },
      createdAt: times.createdAt,
      disabledAt: null,
      lastSeenAt: null,
      ...VERIFIED,
    }
    await made.store.users.create(user, null)
    const invitation = { id: made.mintId('inv'), organizationId, email, role: 'viewer' as const, invitedBy: 'operator' }
    await made.store.invitations.create(
      { ...invitation, ...times },
      {
        shown: new Uint8Array(32),
        mailed: new Uint8Array(32).fill(1),
      },
    )
    const erasure = { id: made.mintId('era'), organizationId, email: 'x@elsewhere.example', now: made.clock.now() }
    await made.store.erasures.begin(erasure)
    const ids: Record<string, string> = {
      erasure_id: erasure.id,
      user_id: user.id,
      invitation_id: invitation.id,
      template_id: template.body.id,
      message_id: message.body.id,
      key_id: other.keys.send.record.id,
      domain_id: other.domain.id,
      webhook_id: webhook.body.id,
      delivery_id: delivery.body.data[0].id,
      id_or_email: suppression.body.id,
      event_id: event.body.data[0].id,
      route_id: route.body.id,
      inbound_message_id: taken.id,
    }
    const wrong: string[] = []
    for (const { id, method, path, access } of made.operations) {
      if (!path.includes(':') || access.role === 'operator') continue
      const filled = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? 'unknown-parameter')
      const answer = await ask(method, filled, { key: made.own.keys.admin })
      if (answer.status !== 403 || answer.text.includes('elsewhere')) wrong.push(`${id}: ${answer.status}`)
    }
    expect(wrong).toEqual([])
    expect((await ask('GET', '/v1/suppressions/x@elsewhere.example', { key: made.own.keys.admin })).status).toBe(404)
  })

  test('has its own name, summary and path', () => {
    const { operations } = made
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length)
    for (const { id, summary, path } of operations) {
      expect(id).toMatch(/^[a-z]+(_[a-z]+)+$/)
      expect(path).toMatch(/^\/v1(\/:?[a-z_-]+)+$/)
      expect(summary).not.toBe('')
    }
  })
})

/** An API whose endpoint needs the rights to list templates, and lists webhooks. Both need `manage` of a key. */
const DETOUR = {
  name: 'detour',
  root: '/compat/detour',
  refuse: ({ message }: { message: string }) => ({ status: 403, body: message }),
  endpoints: [
    endpoint({
      id: 'list',
      method: 'GET',
      path: '/list',
      operation: 'templates_list',
      handle: (_call, ours) => ours.ask('webhooks_list', {}, ({ data }) => data.length),
    }),
  ],
}

// threat: rights-by-detour
test('an endpoint of a compatible API needs the rights to every operation that it calls', async () => {
  const compatApis = (operations: TestApi['operations']) => [
    createCompatApi(DETOUR, operations, { downloadUrl: () => '', signingSecret: async () => null }),
  ]
  const own = await createTestApi({ compatApis })
  const organizationId = own.own.organization.id
  const account = { id: own.mintId('usr'), email: 'vic@a.example', name: 'Vic', isOperator: false, createdAt: 1 }
  const roles = { [organizationId]: 'viewer' as const }
  await own.store.users.create({ ...account, roles, disabledAt: null, lastSeenAt: null, ...VERIFIED }, null)
  const statusWith = async (role: 'viewer' | 'developer') => {
    await own.store.users.setRole(account.id, organizationId, role, true)
    const { cookie } = await signIn(own.store, own.clock.now(), own.random, own.mintId, account.id)
    const headers = { cookie, 'x-organization': organizationId }
    return (await own.api.fetch(new Request('http://localhost/compat/detour/list', { headers }))).status
  }
  expect([await statusWith('viewer'), await statusWith('developer')]).toEqual([403, 200])
  await own.close()
})
