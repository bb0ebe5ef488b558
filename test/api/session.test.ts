import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { FIRST_USER } from '../../src/model/user.ts'
import { hashToken } from '../../src/web/api/sessions.ts'
import { createTestApi, type TestApi } from '../support/api.ts'

/** Sessions of the operator's browser: sign-in, the scope of the cookie, and requests from other sites. */

let made: TestApi
beforeEach(async () => {
  made = await createTestApi()
})
afterEach(() => made.close())

const OURS = { 'x-operator': '1' }
const LINK = 'L'.repeat(40)
const PASSWORD = 'correct horse battery'
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

async function addLink(token = LINK) {
  const now = made.clock.now()
  await made.store.sessions.addLink({
    tokenHash: hashToken(token),
    userId: FIRST_USER,
    createdAt: now,
    expiresAt: now + 30 * MINUTE,
  })
}
const post = (body: object, headers: Record<string, string> = {}) =>
  made.ask('POST', '/session', { key: null, body, headers: { ...OURS, ...headers } })
const cookieOf = ({ headers }: { headers: Headers }) => headers.get('set-cookie')!.split(';', 1)[0]!
const as = (headers: Record<string, string>) => ({ key: null, headers })
async function signIn(): Promise<string> {
  await addLink()
  return cookieOf(await post({ token: LINK }))
}

describe('a sign-in link', () => {
  test('opens a session with a cookie that no script reads and no other site sends', async () => {
    await addLink()
    const answer = await post({ token: LINK }, { 'user-agent': 'Browser/1' })
    expect(answer.status).toBe(201)
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^postrider_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    )
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(answer.body).toMatchObject({ has_password: false, session: { ends_at: '2026-11-28T12:00:00.000Z' } })
    expect(answer.body.organizations.map(({ name }: { name: string }) => name).toSorted()).toEqual(['other', 'own'])
    const { body } = await made.ask('GET', '/session', as({ cookie: cookieOf(answer) }))
    expect(body).toEqual(answer.body)
    const [session] = (await made.store.sessions.list(made.clock.now(), { limit: 9, after: null })).records
    expect(session).toMatchObject({ userAgent: 'Browser/1' })
  })

  // threat: sign-in-guessing
  test('that was used, has expired or never existed gets the same error', async () => {
    await addLink()
    await post({ token: LINK })
    await addLink('X'.repeat(40))
    await made.clock.advance(30 * MINUTE)
    const responses = [
      await post({ token: LINK }),
      await post({ token: 'X'.repeat(40) }),
      await post({ token: 'none' }),
    ]
    for (const { status, body, headers } of responses) {
      expect(status).toBe(401)
      expect(headers.get('set-cookie')).toBeNull()
      expect(body.error.message).toBe(responses[0]!.body.error.message)
    }
  })

  // threat: cross-site-requests
  test('is accepted from our own page only', async () => {
    await addLink()
    const { status } = await made.ask('POST', '/session', { key: null, body: { token: LINK } })
    expect(status).toBe(403)
    expect((await post({ token: LINK }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await post({ token: LINK }, { 'sec-fetch-site': 'same-origin' })).status).toBe(201)
  })

  // threat: sign-in-guessing
  test('has ten attempts a minute for each address, whatever others do', async () => {
    await addLink()
    const from = { 'x-forwarded-for': '192.0.2.1' }
    for (let i = 0; i < 10; i++) expect((await post({ token: 'none' }, from)).status).toBe(401)
    const refused = await post({ token: LINK }, from)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '6'])
    expect((await post({ token: LINK }, { 'x-forwarded-for': '192.0.2.2' })).status).toBe(201)
    await made.clock.advance(6_000)
    expect((await post({ token: 'none' }, from)).status).toBe(401)
  })

  test('adds an entry to the audit log with the address that opened it', async () => {
    await addLink()
    await post({ token: 'none' })
    await post({ token: LINK }, { 'x-forwarded-for': '192.0.2.9' })
    const all = { organizationId: null, actorId: null, action: null, resourceId: null }
    const range = { createdAfter: null, createdBefore: null }
    const { records } = await made.store.auditLog.list({ ...all, ...range }, { limit: 9, after: null })
    expect(records).toMatchObject([
      { action: 'sessions_create', actor: { type: 'user', id: FIRST_USER }, ipAddress: '192.0.2.9', outcome: 'done' },
    ])
  })
})

test('behind https the cookie is valid for https and this very host only', async () => {
  await made.close()
  const site = {
    hostNames: [],
    publicUrl: () => 'https://mail.example.com',
    isBehindProxy: true,
    isTrusted: () => false,
  }
  made = await createTestApi({ origin: site })
  await addLink()
  const answer = await post({ token: LINK })
  expect(answer.headers.getSetCookie()[0]).toMatch(
    /^__Host-postrider_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure$/,
  )
  // The cookie without its prefix is ignored, because another host of the domain could set it.
  const cookie = cookieOf(answer)
  const tossed = cookie.replace('__Host-', '')
  expect((await made.ask('GET', '/session', as({ cookie: tossed }))).status).toBe(401)
  expect((await made.ask('GET', '/session', as({ cookie: `${tossed}x; ${cookie}` }))).status).toBe(200)
})

test('without a dashboard there is no sign-in, and an existing session is worthless', async () => {
  await made.close()
  made = await createTestApi({ hasSessions: false })
  await addLink()
  expect((await post({ token: LINK })).status).toBe(404)
  const headers = { ...(await made.signIn()), ...OURS }
  expect((await made.ask('GET', '/v1/organizations', as(headers))).status).toBe(401)
})

describe('a session', () => {
  test('acts as an admin of the organization in X-Organization', async () => {
    const cookie = await signIn()
    for (const { organization, domain } of [made.own, made.other]) {
      const { status, body } = await made.ask('GET', '/v1/domains', as({ cookie, 'x-organization': organization.id }))
      expect([status, body.data[0].id]).toEqual([200, domain.id])
    }
    const key = { name: 'k', domain_id: made.own.domain.id, permissions: ['admin'] }
    const headers = { cookie, 'x-organization': made.own.organization.id, 'x-forwarded-for': '192.0.2.7' }
    expect((await made.ask('POST', '/v1/api-keys', { key: null, headers, body: key })).status).toBe(201)
    const { body } = await made.ask('GET', '/v1/audit-log?action=api_keys_create', { key: made.own.keys.admin })
    expect(body.data[0]).toMatchObject({
      actor: { type: 'user', id: FIRST_USER, name: 'Operator' },
      ip_address: '192.0.2.7',
    })
  })

  test('accepts only an existing organization, one of its domains and a known mode', async () => {
    const cookie = await signIn()
    const [own, other] = [made.own.organization.id, made.other.domain.id]
    for (const [headers, status] of [
      [{ 'x-organization': own }, 200],
      [{ 'x-organization': own, 'x-domain': made.own.domain.id, 'x-mode': 'test' }, 200],
      [{ 'x-operator': '1' }, 400],
      [{ 'x-organization': 'org_none' }, 400],
      [{ 'x-organization': own, 'x-domain': 'dom_none' }, 400],
      [{ 'x-organization': own, 'x-domain': other }, 400],
      [{ 'x-organization': own, 'x-mode': 'dead' }, 400],
    ] as [Record<string, string>, number][]) {
      expect([headers, (await made.ask('GET', '/v1/usage', as({ cookie, ...headers }))).status]).toEqual([
        headers,
        status,
      ])
    }
  })

  // threat: cross-site-requests
  test('is ignored in a request that another site can make', async () => {
    const cookie = await signIn()
    const organization = { 'x-organization': made.own.organization.id }
    const status = async (method: string, path: string, headers: Record<string, string>) =>
      (await made.ask(method, path, as({ cookie, ...headers }))).status
    expect(await status('GET', '/v1/usage', {})).toBe(401) // a form, a link or an image sends no custom header
    expect(await status('POST', '/v1/suppressions', { 'content-type': 'text/plain' })).toBe(401)
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect(await status('GET', '/v1/usage', { ...organization, 'sec-fetch-site': site })).toBe(403)
      expect(await status('GET', '/v1/organizations', { ...OURS, 'sec-fetch-site': site })).toBe(403)
      expect(await status('DELETE', '/session', { ...OURS, 'sec-fetch-site': site })).toBe(403)
    }
    expect(await status('GET', '/v1/usage', { ...organization, 'sec-fetch-site': 'same-origin' })).toBe(200)
    // A request that requires a preflight is not allowed.
    expect(
      (await made.ask('OPTIONS', '/v1/usage', { key: null })).headers.get('access-control-allow-origin'),
    ).toBeNull()
  })

  test('yields to a key', async () => {
    const cookie = await signIn()
    const headers = { cookie, 'x-organization': made.other.organization.id }
    const { body } = await made.ask('GET', '/v1/domains', { key: made.own.keys.admin, headers })
    expect(body.data[0].id).toBe(made.own.domain.id)
    expect((await made.ask('GET', '/v1/domains', { key: 'svc_live_none', headers })).status).toBe(401)
  })

  // threat: sign-in-guessing
  test('ends after seven days without use, and after thirty in any case', async () => {
    const cookie = await signIn()
    const isIn = async () => (await made.ask('GET', '/session', as({ cookie }))).status === 200
    for (let day = 0; day < 24; day += 6) {
      await made.clock.advance(6 * DAY)
      expect(await isIn()).toBe(true)
      await made.api.auth.flushUses()
    }
    await made.clock.advance(6 * DAY - 1)
    expect(await isIn()).toBe(true)
    await made.clock.advance(1)
    expect(await isIn()).toBe(false)

    const idle = await signIn()
    await made.clock.advance(7 * DAY - 1)
    expect((await made.ask('GET', '/session', as({ cookie: idle }))).status).toBe(200)
    const other = await signIn()
    await made.clock.advance(7 * DAY)
    expect((await made.ask('GET', '/session', as({ cookie: other }))).status).toBe(401)
  })

  test('is ended by its user, also from another session', async () => {
    const cookie = await signIn()
    const other = await signIn()
    const { session } = (await made.ask('GET', '/session', as({ cookie: other }))).body
    const { body } = await made.ask('GET', '/v1/sessions', as({ cookie, ...OURS }))
    expect(body.data).toHaveLength(2)
    const { status } = await made.ask('DELETE', `/v1/sessions/${session.id}`, as({ cookie, ...OURS }))
    expect(status).toBe(200)
    expect((await made.ask('GET', '/session', as({ cookie: other }))).status).toBe(401)
    const left = await made.ask('DELETE', '/session', as({ cookie, ...OURS }))
    expect(left.headers.get('set-cookie')).toStartWith(
      'postrider_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    )
    expect((await made.ask('GET', '/v1/organizations', as({ cookie, ...OURS }))).status).toBe(401)
  })

  test('has a separate rate limit', async () => {
    const cookie = await signIn()
    const headers = { cookie, 'x-organization': made.own.organization.id }
    const first = await made.ask('GET', '/v1/usage', as(headers))
    expect(first.headers.get('ratelimit-limit')).toBe('1200')
    for (let i = 1; i < 1_200; i++) await made.api.fetch(new Request('http://localhost/v1/usage', { headers }))
    expect((await made.ask('GET', '/v1/usage', as(headers))).status).toBe(429)
    expect((await made.ask('GET', '/v1/usage', { key: made.own.keys.admin })).status).toBe(200)
  })
})

describe('a password', () => {
  const set = (cookie: string, body: object) =>
    made.ask('POST', '/session/password', { key: null, headers: { cookie, ...OURS }, body })

  test('is set by a signed-in operator, works from then on, and ends other sessions', async () => {
    expect((await post({ password: PASSWORD })).status).toBe(401)
    const [cookie, other] = [await signIn(), await signIn()]
    expect((await set(cookie, { password: 'short' })).body.error.field).toBe('password')
    expect((await set(cookie, { password: PASSWORD })).body.has_password).toBe(true)
    expect((await made.ask('GET', '/session', as({ cookie }))).status).toBe(200)
    expect((await made.ask('GET', '/session', as({ cookie: other }))).status).toBe(401)
    expect((await post({ password: PASSWORD })).status).toBe(201)
    expect((await post({ password: `${PASSWORD}!` })).status).toBe(401)
    expect(await made.store.users.passwordHash(FIRST_USER)).toStartWith('$argon2id$')
  })

  test('is changed only with the current one', async () => {
    const cookie = await signIn()
    await set(cookie, { password: PASSWORD })
    for (const present of [undefined, 'a wrong one']) {
      expect((await set(cookie, { password: 'another horse', present })).body.error.field).toBe('present')
    }
    expect((await set(cookie, { password: 'another horse', present: PASSWORD })).status).toBe(200)
    expect((await post({ password: 'another horse' })).status).toBe(201)
    const nobody = await made.ask('POST', '/session/password', {
      key: null,
      headers: OURS,
      body: { password: PASSWORD },
    })
    expect(nobody.status).toBe(401)
  })
})
