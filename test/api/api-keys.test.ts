import { afterEach, describe, expect, test } from 'bun:test'
import { createTestApi, START, type TestApi } from '../support/api.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

const start = async () => {
  made = await createTestApi()
  return made
}
const VALUE = /^svc_live_[0-9A-Za-z]{40}$/

describe('creating a key', () => {
  test('answers 201 with the record, and with the value this once', async () => {
    const { ask, own } = await start()
    const body = { name: 'shop', domain_id: own.domain.id, permissions: ['send', 'read'] }
    const answer = await ask('POST', '/v1/api-keys', { body })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    const { id, key, prefix } = answer.body
    expect(key).toMatch(VALUE)
    const record = {
      id,
      name: 'shop',
      domain_id: own.domain.id,
      domain: 'own.example',
      mode: 'live',
      permissions: ['send', 'read'],
      prefix: key.slice(0, 16),
      created_at: '2026-11-21T12:00:00.000Z',
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
      rotated_to: null,
      allowed_networks: null,
      created_by: null,
    }
    expect(answer.body).toEqual({ ...record, key })
    expect(id).toMatch(/^key_[0-9a-z]{26}$/)
    expect(prefix).toHaveLength(16)
    expect((await ask('GET', `/v1/api-keys/${id}`)).body).toEqual(record)
    expect((await ask('GET', '/v1/events', { key })).status).toBe(200)
    expect((await ask('GET', '/v1/webhooks', { key })).status).toBe(403)
  })

  test('accepts a mode and an expiry, after which requests with the key get 401', async () => {
    const { ask, own, clock } = await start()
    const expires_at = '2026-11-21T13:00:00+01:00' // = START
    const body = { name: 'x', domain_id: own.domain.id, permissions: ['read'], mode: 'test', expires_at }
    const past = await ask('POST', '/v1/api-keys', { body })
    expect([past.status, past.body.error.field]).toEqual([400, 'expires_at'])
    const { body: made } = await ask('POST', '/v1/api-keys', {
      body: { ...body, expires_at: '2026-11-21T13:00:00.001+01:00' },
    })
    expect([made.mode, made.expires_at]).toEqual(['test', '2026-11-21T12:00:00.001Z'])
    expect(made.key).toStartWith('svc_test_')
    expect((await ask('GET', '/v1/events', { key: made.key })).status).toBe(200)
    await clock.advance(1)
    expect((await ask('GET', '/v1/events', { key: made.key })).status).toBe(401)
  })

  const bad: [string, Record<string, unknown>, string][] = [
    ['no name', { name: undefined }, 'name'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a name with a line break', { name: 'a\nb' }, 'name'],
    ['no permission', { permissions: [] }, 'permissions'],
    ['an unknown permission', { permissions: ['send', 'root'] }, 'permissions[1]'],
    ['a permission twice', { permissions: ['send', 'send'] }, 'permissions'],
    ['an unknown mode', { mode: 'sandbox' }, 'mode'],
    ['an unknown domain', { domain_id: 'dom_nothing' }, 'domain_id'],
    ['an invalid time', { expires_at: 'tomorrow' }, 'expires_at'],
    ['an unknown field', { permission: 'send' }, 'permission'],
  ]
  test.each(bad)('with %s gets 400', async (_what, change, field) => {
    const { ask, own } = await start()
    const body = { name: 'x', domain_id: own.domain.id, permissions: ['send'], ...change }
    const answer = await ask('POST', '/v1/api-keys', { body })
    expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([400, 'validation_error', field])
  })

  test('for a domain of another organization gets 403', async () => {
    const { ask, other } = await start()
    const body = { name: 'x', domain_id: other.domain.id, permissions: ['send'] }
    expect((await ask('POST', '/v1/api-keys', { body })).status).toBe(403)
  })

  test('grants only what the asking key may grant', async () => {
    const { ask, own } = await start()
    const create = async (asking: 'manage' | 'admin', permissions: string[]) =>
      (
        await ask('POST', '/v1/api-keys', {
          key: own.keys[asking],
          body: { name: 'x', domain_id: own.domain.id, permissions },
        })
      ).status
    expect(await create('manage', ['send', 'read', 'manage'])).toBe(201)
    expect(await create('manage', ['send', 'admin'])).toBe(403)
    expect(await create('admin', ['admin', 'send'])).toBe(201)
  })

  test('with an Idempotency-Key gives the same key again', async () => {
    const { ask, own } = await start()
    const body = { name: 'x', domain_id: own.domain.id, permissions: ['send'] }
    const headers = { 'idempotency-key': 'deploy-1' }
    const first = await ask('POST', '/v1/api-keys', { body, headers })
    const again = await ask('POST', '/v1/api-keys', { body, headers })
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
    expect((await ask('GET', '/v1/api-keys?limit=100')).body.data).toHaveLength(5)
  })
})

test('a repeated creation does not hand an admin key to a key that may not grant it', async () => {
  const { ask, own, addKey } = await start()
  const body = { name: 'ops', domain_id: own.domain.id, permissions: ['admin'] }
  const headers = { 'idempotency-key': 'deploy-1' }
  const first = await ask('POST', '/v1/api-keys', { key: own.keys.admin, body, headers })
  expect(first.status).toBe(201)
  const lesser = await ask('POST', '/v1/api-keys', { key: own.keys.manage, body, headers })
  expect([lesser.status, JSON.stringify(lesser.body).includes(first.body.key)]).toEqual([403, false])
  const peer = await addKey(own, { permissions: ['admin'] })
  expect((await ask('POST', '/v1/api-keys', { key: peer, body, headers })).text).toBe(first.text)
})

test('the list is newest first, in pages, and only of the organization', async () => {
  const { ask, addKey, own, clock } = await start()
  const ids = Object.values(own.keys).map(({ record }) => record.id)
  for (let n = 0; n < 3; n++) {
    await clock.advance(1)
    ids.push((await addKey(own, { name: `k${n}` })).record.id)
  }
  const seen: string[] = []
  let path = '/v1/api-keys?limit=3'
  for (let pages = 1; ; pages++) {
    const { body } = await ask('GET', path)
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    expect(body.has_more).toBe(pages < 3)
    if (!body.has_more) {
      expect(body.next_cursor).toBeNull()
      break
    }
    path = `/v1/api-keys?limit=3&cursor=${body.next_cursor}`
  }
  expect(seen).toEqual(ids.sort().reverse())
})

test.each(['x', '', 'AWtleV8wMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMA', 'a'.repeat(42), '%00'.repeat(42)])(
  'the cursor %p that the list did not return is 400 or an empty page, never an error',
  async (cursor) => {
    const { ask } = await start()
    const answer = await ask('GET', `/v1/api-keys?cursor=${cursor}`)
    if (answer.status !== 200) expect([answer.status, answer.body.error.field]).toEqual([400, 'cursor'])
  },
)

test.each(['0', '101', '-1', '1.5', 'ten', ''])('a limit of %p gets 400', async (limit) => {
  const { ask } = await start()
  const answer = await ask('GET', `/v1/api-keys?limit=${limit}`)
  expect([answer.status, answer.body.error.field]).toEqual([400, 'limit'])
})

test('a deleted key gets 401 at once and keeps its record', async () => {
  const { ask, own, clock } = await start()
  const { id } = own.keys.read.record
  await clock.advance(5)
  const answer = await ask('DELETE', `/v1/api-keys/${id}`)
  expect([answer.status, answer.body]).toEqual([200, { id, deleted: true }])
  expect((await ask('GET', '/v1/events', { key: own.keys.read })).status).toBe(401)
  expect((await ask('GET', `/v1/api-keys/${id}`)).body.revoked_at).toBe('2026-11-21T12:00:00.005Z')
  expect((await ask('DELETE', `/v1/api-keys/${id}`)).status).toBe(200)
  expect((await ask('GET', `/v1/api-keys/${id}`)).body.revoked_at).toBe('2026-11-21T12:00:00.005Z')
})

describe('rotating a key', () => {
  const rotate = (api: TestApi, id: string, body?: unknown) =>
    api.ask('POST', `/v1/api-keys/${id}/rotate`, { key: api.own.keys.admin, body })

  test('answers 201 with the new key and when the old one ends; both work until then', async () => {
    const api = await start()
    const old = api.own.keys.read
    const answer = await rotate(api, old.record.id, { grace_period_minutes: 10 })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      name: 'read',
      domain: 'own.example',
      permissions: ['read'],
      mode: 'live',
      expires_at: null,
      rotated_to: null,
      previous: { id: old.record.id, expires_at: '2026-11-21T12:10:00.000Z' },
    })
    expect(answer.body.key).toMatch(VALUE)
    const works = async () => [
      (await api.ask('GET', '/v1/events', { key: old })).status,
      (await api.ask('GET', '/v1/events', { key: answer.body.key })).status,
    ]
    expect(await works()).toEqual([200, 200])
    await api.clock.advance(599_999)
    expect(await works()).toEqual([200, 200])
    await api.clock.advance(1)
    expect(await works()).toEqual([401, 200])
    const { body } = await api.ask('GET', `/v1/api-keys/${old.record.id}`)
    expect([body.rotated_to, body.expires_at]).toEqual([answer.body.id, '2026-11-21T12:10:00.000Z'])
  })

  test('without a body ends the old key after an hour; with 0 minutes at once', async () => {
    const api = await start()
    const hour = await rotate(api, api.own.keys.read.record.id)
    expect(hour.body.previous.expires_at).toBe('2026-11-21T13:00:00.000Z')
    await rotate(api, api.own.keys.send.record.id, { grace_period_minutes: 0 })
    expect((await api.ask('POST', '/v1/nothing', { key: api.own.keys.send })).status).toBe(401)
  })

  test('never extends the life of a key with an expiry', async () => {
    const api = await start()
    const { record } = await api.addKey(api.own, { expiresAt: START + 60_000 })
    const { body } = await rotate(api, record.id, { grace_period_minutes: 60 })
    expect([body.previous.expires_at, body.expires_at]).toEqual([
      '2026-11-21T12:01:00.000Z',
      '2026-11-21T12:01:00.000Z',
    ])
  })

  test.each([-1, 10_081, 1.5, '60', null])('for %p minutes gets 400', async (grace_period_minutes) => {
    const api = await start()
    const answer = await rotate(api, api.own.keys.read.record.id, { grace_period_minutes })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'grace_period_minutes'])
  })

  test('that is rotated, revoked or expired gets 422 invalid_state', async () => {
    const api = await start()
    const rotated = api.own.keys.read.record.id
    await rotate(api, rotated)
    const revoked = (await api.addKey(api.own, { revokedAt: START })).record.id
    const expired = (await api.addKey(api.own, { expiresAt: START })).record.id
    for (const id of [rotated, revoked, expired]) {
      const answer = await rotate(api, id)
      expect([answer.status, answer.body.error.code]).toEqual([422, 'invalid_state'])
    }
  })

  test('that can do more than the asking key may grant gets 403', async () => {
    const { ask, own } = await start()
    const answer = await ask('POST', `/v1/api-keys/${own.keys.admin.record.id}/rotate`, { key: own.keys.manage })
    expect(answer.status).toBe(403)
    expect((await ask('POST', `/v1/api-keys/${own.keys.send.record.id}/rotate`, { key: own.keys.manage })).status).toBe(
      201,
    )
  })
})

test('a key whose domain was deleted keeps its record, with no domain name', async () => {
  const { ask, own, store } = await start()
  const body = { name: 'shop', domain_id: own.domain.id, permissions: ['send'] }
  const { id } = (await ask('POST', '/v1/api-keys', { body })).body
  const get = store.domains.get.bind(store.domains)
  store.domains.get = async (domainId) => (domainId === own.domain.id ? null : get(domainId))
  const { status, body: record } = await ask('GET', `/v1/api-keys/${id}`)
  expect([status, record.domain_id, record.domain]).toEqual([200, own.domain.id, null])
})

test('key values are spread evenly over base62', async () => {
  const { mintKeyValue } = await import('../../src/web/api/authentication.ts')
  const { createTestRandom } = await import('../support/random.ts')
  const random = createTestRandom()
  const counts = new Map<string, number>()
  for (let n = 0; n < 2000; n++) {
    for (const character of mintKeyValue('live', random).slice(9)) {
      counts.set(character, (counts.get(character) ?? 0) + 1)
    }
  }
  const expected = (2000 * 40) / 62
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  expect(counts.size).toBe(62)
  expect(chiSquare).toBeLessThan(140) // 61 degrees of freedom: 1 in 20,000,000
})
