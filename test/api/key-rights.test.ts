import { afterEach, describe, expect, test } from 'bun:test'
import { createTestApi, START, type Tenant, type TestApi } from '../support/api.ts'

/** Attempts of a key to gain more rights than it has. walk.test.ts checks every operation against the permission
 *  table. */

let made: TestApi | null = null
afterEach(async () => {
  await made?.close()
  made = null
})

async function start(change: Parameters<typeof createTestApi>[0] = {}) {
  const api = await createTestApi(change)
  made = api
  const { own, store, mintId, ask, addKey } = api
  const second = {
    ...own.domain,
    id: mintId('dom'),
    name: 'second.example',
    returnPathHost: 'b.second.example',
    dkim: [],
  }
  const addSecond = async (): Promise<Pick<Tenant, 'organization' | 'domain'>> => {
    await store.domains.create(second, -1)
    return { organization: own.organization, domain: second }
  }
  const create = async (key: Awaited<ReturnType<typeof addKey>>, body: object = {}) => {
    const whole = { name: 'x', domain_id: own.domain.id, permissions: ['send'], ...body }
    const { status, body: answer } = await ask('POST', '/v1/api-keys', { key, body: whole })
    return { status, field: answer.error?.field as string | undefined, body: answer }
  }
  return { ...api, addSecond, create }
}
const LATER = START + 3_600_000

describe('a key never grants more than it has', () => {
  // threat: key-grants-beyond-its-rights
  test('a sandbox key creates no live key', async () => {
    const { own, addKey, create } = await start()
    for (const permissions of [['manage'], ['admin']] as const) {
      const key = await addKey(own, { mode: 'test', permissions: [...permissions] })
      expect(await create(key, { mode: 'live' })).toMatchObject({ status: 403, field: 'mode' })
      expect(await create(key)).toMatchObject({ status: 403, field: 'mode' })
      expect(await create(key, { mode: 'test' })).toMatchObject({ status: 201, body: { mode: 'test' } })
    }
  })

  // threat: key-grants-beyond-its-rights
  test('an expiring key creates none without expiry, and none that lasts longer', async () => {
    const { own, addKey, create } = await start()
    const key = await addKey(own, { permissions: ['admin'], expiresAt: LATER })
    const until = (at: number | null) => create(key, { expires_at: at === null ? null : new Date(at).toISOString() })
    expect(await create(key)).toMatchObject({ status: 403, field: 'expires_at' })
    expect(await until(null)).toMatchObject({ status: 403, field: 'expires_at' })
    expect(await until(LATER + 1)).toMatchObject({ status: 403, field: 'expires_at' })
    expect((await until(LATER)).status).toBe(201)
  })

  // threat: key-grants-beyond-its-rights
  test('an expiring key that rotates itself keeps its expiry', async () => {
    const { own, ask, addKey } = await start()
    const key = await addKey(own, { permissions: ['manage'], expiresAt: LATER })
    const { status, body } = await ask('POST', `/v1/api-keys/${key.record.id}/rotate`, { key })
    expect([status, body.expires_at]).toEqual([201, new Date(LATER).toISOString()])
  })

  // threat: key-grants-beyond-its-rights
  test('a key limited to networks creates none for others, and does not widen its own', async () => {
    const { own, ask, addKey, create } = await start()
    const key = await addKey(own, { permissions: ['admin'], allowedNetworks: ['192.0.2.0/24', '2001:db8::/32'] })
    const headers = { 'x-forwarded-for': '192.0.2.7' }
    const from = async (allowed_networks?: string[] | null) => {
      const body = { name: 'x', domain_id: own.domain.id, permissions: ['send'], allowed_networks }
      const answer = await ask('POST', '/v1/api-keys', { key, body, headers })
      return [answer.status, answer.body.error?.field]
    }
    for (const wide of [undefined, null, ['192.0.0.0/16'], ['192.0.2.0/24', '198.51.100.1'], ['::/0'], ['0.0.0.0/0']]) {
      expect([wide, await from(wide)]).toEqual([wide, [403, 'allowed_networks']])
    }
    expect(await from(['192.0.2.128/25', '::ffff:192.0.2.9', '2001:db8:1::/48'])).toEqual([201, undefined])
    const path = `/v1/api-keys/${key.record.id}`
    expect((await ask('PATCH', path, { key, headers, body: { allowed_networks: null } })).status).toBe(403)
    expect((await ask('PATCH', path, { key, headers, body: { allowed_networks: ['192.0.2.7'] } })).status).toBe(200)
    expect((await create(key)).status).toBe(401) // from an unknown address
  })

  // threat: key-grants-beyond-its-rights
  test('a manage key cannot revoke, rotate or change an admin key', async () => {
    const { own, ask } = await start()
    const { id } = own.keys.admin.record
    const key = own.keys.manage
    const responses = [
      await ask('DELETE', `/v1/api-keys/${id}`, { key }),
      await ask('POST', `/v1/api-keys/${id}/rotate`, { key }),
      await ask('PATCH', `/v1/api-keys/${id}`, { key, body: { name: 'mine' } }),
    ]
    expect(responses.map(({ status }) => status)).toEqual([403, 403, 403])
    expect((await ask('GET', `/v1/api-keys/${id}`, { key })).body).toMatchObject({ name: 'admin', revoked_at: null })
    expect((await ask('DELETE', `/v1/api-keys/${own.keys.manage.record.id}`, { key })).status).toBe(200) // itself
  })

  // threat: key-grants-beyond-its-rights
  test('a manage key creates, sees and revokes keys of its own domain only', async () => {
    const { own, ask, addKey, addSecond, create } = await start()
    const second = await addSecond()
    const other = await addKey(second, { permissions: ['read'] })
    const key = own.keys.manage
    expect(await create(key, { domain_id: second.domain.id })).toMatchObject({ status: 403, field: 'domain_id' })
    expect((await ask('DELETE', `/v1/api-keys/${other.record.id}`, { key })).status).toBe(403)
    const { body } = await ask('GET', '/v1/api-keys?limit=100', { key })
    expect(body.data.map(({ id }: { id: string }) => id)).not.toContain(other.record.id)
    expect((await create(own.keys.admin, { domain_id: second.domain.id })).status).toBe(201)
  })

  // threat: key-grants-beyond-its-rights
  test('a replayed request returns its secret only to a key of the same domain, expiry and networks', async () => {
    const { own, ask, addKey, addSecond } = await start()
    const second = await addSecond()
    const body = { name: 'ops', domain_id: own.domain.id, permissions: ['admin'] }
    const headers = { 'idempotency-key': 'deploy-1' }
    expect((await ask('POST', '/v1/api-keys', { key: own.keys.admin, body, headers })).status).toBe(201)
    const brief = await addKey(own, { permissions: ['admin'], expiresAt: LATER })
    const elsewhere = await addKey(second, { permissions: ['admin'] })
    for (const key of [brief, elsewhere]) {
      expect((await ask('POST', '/v1/api-keys', { key, body, headers })).status).toBe(409)
    }
  })
})

describe('a key limited to networks', () => {
  // threat: stolen-key-used-elsewhere
  test.each([
    ['192.0.2.7', 200],
    ['::ffff:192.0.2.7', 200],
    ['2001:db8::1', 200],
    ['192.0.3.7', 401],
    ['2001:db9::1', 401],
    ['', 401],
    ['nonsense', 401],
  ])('from %p is %d, with the error of any bad key', async (address, status) => {
    const { own, ask, addKey } = await start()
    const key = await addKey(own, { permissions: ['read'], allowedNetworks: ['192.0.2.0/24', '2001:db8::/32'] })
    const headers = { 'x-forwarded-for': address }
    const answer = await ask('GET', '/v1/events', { key, headers })
    expect(answer.status).toBe(status)
    if (status === 200) return
    const unknown = await ask('GET', '/v1/events', { key: `svc_live_${'x'.repeat(40)}`, headers })
    const words = ({ body }: typeof answer) => [body.error.code, body.error.message]
    expect(words(answer)).toEqual(words(unknown))
  })

  test('shows its networks in one form, accepts at most 50, and loses them by null', async () => {
    const { own, ask, create } = await start()
    const given = ['10.1.2.3/8', '192.0.2.1', '2001:DB8:0::/32', '::ffff:198.51.100.0/120', '10.0.0.0/8']
    const { status, body } = await create(own.keys.admin, { allowed_networks: given })
    const networks = ['10.0.0.0/8', '192.0.2.1/32', '2001:db8::/32', '198.51.100.0/24']
    expect([status, body.allowed_networks]).toEqual([201, networks])
    const path = `/v1/api-keys/${body.id}`
    const rename = await ask('PATCH', path, { body: { name: 'office' } })
    expect(rename.body).toMatchObject({ name: 'office', allowed_networks: networks })
    const free = await ask('PATCH', path, { body: { allowed_networks: null } })
    expect(free.body).toMatchObject({ name: 'office', allowed_networks: null })
    expect((await ask('GET', path)).body).toEqual(free.body)
    const many = Array.from({ length: 51 }, (_, n) => `192.0.2.${n}`)
    for (const bad of [[], many, ['example.com'], ['10.0.0.0/33'], ['fe80::1%eth0'], ['10.0.0.0/8/8'], '10.0.0.0/8']) {
      expect([bad, (await create(own.keys.admin, { allowed_networks: bad })).status]).toEqual([bad, 400])
    }
  })

  test('follows a change of its networks at once', async () => {
    const { own, ask } = await start()
    const { id } = own.keys.read.record
    expect((await ask('GET', '/v1/events', { key: own.keys.read })).status).toBe(200)
    await ask('PATCH', `/v1/api-keys/${id}`, { body: { allowed_networks: ['192.0.2.0/24'] } })
    expect((await ask('GET', '/v1/events', { key: own.keys.read })).status).toBe(401)
  })
})

describe('resources of a test key', () => {
  // threat: key-beyond-its-mode
  test('a suppression applies to test messages only, a template to test messages only', async () => {
    const { own, ask, addKey, store } = await start()
    const key = await addKey(own, { mode: 'test', permissions: ['manage', 'read'] })
    const email = 'ann@customer.example'
    const { body } = await ask('POST', '/v1/suppressions', { key, body: { email } })
    expect(body.mode).toBe('test')
    const { organization, domain } = own
    const mail = { organizationId: organization.id, domainId: domain.id, stream: 'transactional' }
    const among = async (mode: 'live' | 'test') => (await store.suppressions.among({ ...mail, mode }, [email])).size
    expect([await among('live'), await among('test')]).toEqual([0, 1])
    expect((await ask('POST', '/v1/suppressions', { body: { email } })).status).toBe(201) // a live one
    expect((await ask('DELETE', `/v1/suppressions/${email}`, { key })).status).toBe(200)
    expect([await among('live'), await among('test')]).toEqual([1, 1])
    expect((await ask('GET', `/v1/suppressions/${email}`, { key })).status).toBe(404)

    const template = { name: 'T', alias: 'reset', subject: 'x', text: 'x' }
    const test = (await ask('POST', '/v1/templates', { key, body: template })).body
    expect(await store.templates.current(organization.id, 'reset', 'live')).toBeNull()
    const live = (await ask('POST', '/v1/templates', { body: template })).body // the test template has the same alias
    expect([test.mode, live.mode]).toEqual(['test', 'live'])
    expect((await store.templates.current(organization.id, 'reset', 'live'))?.id).toBe(live.id)
    expect((await store.templates.current(organization.id, 'reset', 'test'))?.id).toBe(test.id)
  })

  // threat: key-beyond-its-mode
  test('a webhook gets events of test mail only, and a replay adds no others', async () => {
    const { own, ask, addKey, store, mintId } = await start()
    const key = await addKey(own, { mode: 'test', permissions: ['manage'] })
    const body = { url: 'https://hooks.example.com/t', events: ['message.delivered'] }
    const { id, mode } = (await ask('POST', '/v1/webhooks', { key, body })).body
    expect(mode).toBe('test')
    const { createEvent } = await import('../../src/model/event.ts')
    const event = (of: 'live' | 'test') => {
      const about = { organizationId: own.organization.id, domainId: own.domain.id, messageId: null, createdAt: START }
      return createEvent({ id: mintId('evt'), type: 'message.delivered', mode: of, ...about }, {})
    }
    const [live, test] = [event('live'), event('test')]
    await store.events.append([live, test])
    const reported = async () => {
      const { data } = (await ask('GET', `/v1/webhooks/${id}/deliveries`, { key })).body
      return data.map(({ event_id }: { event_id: string }) => event_id)
    }
    expect(await reported()).toEqual([test.id])
    await ask('POST', `/v1/webhooks/${id}/replay`, { key, body: { from: '2026-11-01T00:00:00Z', to: '2026-12-01' } })
    expect(new Set(await reported())).toEqual(new Set([test.id]))
  })
})

describe('a key without admin, where the organization has two domains', () => {
  // threat: key-beyond-its-domain
  test('creates a catch-all for its own domain, which takes no mail of the other', async () => {
    const { ask, addSecond, own } = await start()
    const body = { name: 'all', match: { type: 'catch_all' }, action: { type: 'store' } }
    const { body: route } = await ask('POST', '/v1/inbound-routes', { body }) // while the organization has one domain
    await addSecond()
    expect(route).toMatchObject({ match: { type: 'catch_all', value: null }, domain: 'own.example' })
    const takes = async (to: string) =>
      (await ask('POST', `/v1/inbound-routes/${route.id}/test`, { key: own.keys.admin, body: { to } })).body.takes
    expect([await takes('a@own.example'), await takes('a@second.example')]).toEqual([true, false])
  })

  // threat: key-beyond-its-domain
  test('suppresses for its own domain, and removes no suppression that applies to all', async () => {
    const { ask, addSecond, own } = await start()
    const second = await addSecond()
    const mine = await ask('POST', '/v1/suppressions', { body: { email: 'a@x.example' } })
    expect(mine.body.domain_id).toBe(own.domain.id)
    for (const domain_id of [null, second.domain.id]) {
      const body = { email: 'b@x.example', domain_id }
      expect((await ask('POST', '/v1/suppressions', { body })).status).toBe(403)
    }
    const all = await ask('POST', '/v1/suppressions', { key: own.keys.admin, body: { email: 'c@x.example' } })
    expect(all.body.domain_id).toBeNull()
    expect((await ask('GET', `/v1/suppressions/${all.body.id}`, { key: own.keys.read })).status).toBe(200)
    expect((await ask('DELETE', `/v1/suppressions/${all.body.id}`)).status).toBe(403)
    expect((await ask('DELETE', '/v1/suppressions/a@x.example')).status).toBe(200)
  })
})

// threat: key-beyond-its-domain
test('deleting a domain, and its admin keys with it, needs admin', async () => {
  const { ask, own, store } = await start()
  const answer = await ask('DELETE', `/v1/domains/${own.domain.id}`)
  expect([answer.status, answer.body.error.details.required]).toEqual([403, 'admin'])
  expect(await store.domains.get(own.domain.id)).not.toBeNull()
})

describe('a key that ends while its request still arrives', () => {
  /** Sends a body in two halves; `meanwhile` runs between them. */
  const trickled = async (
    { api, own }: Awaited<ReturnType<typeof start>>,
    path: string,
    key: { value: string },
    body: object,
    meanwhile: () => Promise<unknown> | unknown,
  ) => {
    const text = new TextEncoder().encode(JSON.stringify({ name: 'x', domain_id: own.domain.id, ...body }))
    const stream = new ReadableStream({
      async start(controller) {
        controller.enqueue(text.subarray(0, 5))
        await new Promise(setImmediate)
        await meanwhile()
        controller.enqueue(text.subarray(5))
        controller.close()
      },
    })
    const headers = { authorization: `Bearer ${key.value}`, 'content-type': 'application/json' }
    const response = await api.fetch(new Request(`http://api.test${path}`, { method: 'POST', headers, body: stream }))
    return response.status
  }

  // threat: key-grants-beyond-its-rights
  test('by being revoked creates no key', async () => {
    const made = await start()
    const key = await made.addKey(made.own, { permissions: ['admin'] })
    const revoke = () => made.store.apiKeys.revoke(key.record.id, START)
    expect(await trickled(made, '/v1/api-keys', key, { permissions: ['admin'] }, revoke)).toBe(401)
    const { records } = await made.store.apiKeys.list(made.own.organization.id, { limit: 100, after: null })
    expect(records.map(({ name }) => name)).not.toContain('x')
  })

  // threat: key-grants-beyond-its-rights
  test('by its expiry, or by other networks, creates no key', async () => {
    const made = await start()
    const expiring = await made.addKey(made.own, { permissions: ['admin'], expiresAt: START + 1000 })
    const expires_at = new Date(START + 1000).toISOString()
    const later = () => made.clock.advance(1000)
    expect(await trickled(made, '/v1/api-keys', expiring, { permissions: ['send'], expires_at }, later)).toBe(401)
    const bound = await made.addKey(made.own, { permissions: ['admin'] })
    const bind = () => made.store.apiKeys.update(bound.record.id, { allowedNetworks: ['198.51.100.0/24'] })
    expect(await trickled(made, '/v1/api-keys', bound, { permissions: ['send'] }, bind)).toBe(401)
  })
})
