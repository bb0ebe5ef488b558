import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConfigValues } from '../../src/config/load.ts'
import { FIRST_USER, type User } from '../../src/model/user.ts'
import { systemClock } from '../../src/os/clock.ts'
import { createLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { hashPassword } from '../../src/web/api/password.ts'
import { hashToken, mintToken, SESSION_COOKIE } from '../../src/web/api/sessions.ts'
import { userOfClaims } from '../../src/web/api/sign-in/single-sign-on/account.ts'
import { claimsIn, startOidcProvider, type TestProvider } from '../support/oidc-provider.ts'
import { describeWithPostgres, startPostgres } from '../support/postgres.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { START, startTestServer, type TestServer } from '../support/server.ts'
import { VERIFIED } from '../support/verified.ts'

/** Sign-in with a real OpenID Connect provider. The tests follow the redirects, like a browser. */

const PUBLIC = 'http://localhost:8025'
const CALLBACK = `${PUBLIC}/session/oidc/callback`

let provider: TestProvider
let remote: RemoteMx
let server: TestServer
let folder: string
beforeAll(async () => {
  provider = await startOidcProvider([CALLBACK])
  remote = await startRemoteMx()
  folder = mkdtempSync(join(tmpdir(), 'postrider-sso-'))
  writeFileSync(join(folder, 'ca.pem'), provider.ca)
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await provider.stop()
  await remote.stop()
})
beforeEach(() => {
  provider.current = { sub: 'ann', email: 'Ann@a.example', email_verified: true, name: 'Ann' }
  provider.rewrite = undefined
  provider.isDown = false
})
afterEach(() => server.close())

const ROLES = [
  { value: 'mail-admins', role: 'admin', organization: 'Shop' },
  { value: 'mail-readers', role: 'viewer', organization: 'Shop' },
  { value: 'elsewhere', role: 'owner', organization: 'Nowhere' },
  { value: 'ops', role: 'operator' },
] as const
const MAPPED = { roles_claim: 'groups', roles: ROLES }

/** Lines of the log. */
const lines: string[] = []

async function open(oidc: ConfigValues['oidc'] = {}, config: ConfigValues = {}): Promise<void> {
  server = await startTestServer({
    remote,
    log: createLog({ clock: systemClock, level: 'warn', format: 'json', write: (line) => lines.push(line) }),
    config: {
      http: { public_url: PUBLIC },
      oidc: {
        issuer: provider.issuer,
        client_id: provider.clientId,
        client_secret: provider.clientSecret,
        ca_file: join(folder, 'ca.pem'),
        ...oidc,
      },
      ...config,
    },
  })
}

const addUser = async (change: Partial<User> = {}, password: string | null = null) => {
  const user: User = {
    id: 'usr_ann',
    email: 'ann@a.example',
    name: 'Ann',
    isOperator: false,
    roles: { [server.organizationId]: 'support' },
    createdAt: START,
    disabledAt: null,
    lastSeenAt: null,
    ...VERIFIED,
    ...change,
  }
  await server.store().users.create(user, password === null ? null : await hashPassword(password))
}

/** Cookies by host and the requests of one browser. */
function browser(nodes: readonly string[] = [server.running().listening.http as never]) {
  const cookies = new Map<string, Map<string, string>>()
  let node = 0
  const request = async (address: string, init: RequestInit = {}) => {
    const url = new URL(address)
    const isOurs = url.origin === PUBLIC
    const jar = cookies.get(url.host) ?? new Map<string, string>()
    cookies.set(url.host, jar)
    const { listening } = { listening: nodes[node] }
    const reached = isOurs ? `http://${listening}${url.pathname}${url.search}` : address
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(init.headers as object), cookie, host: url.host }
    const response = await fetch(reached, { ...init, headers, redirect: 'manual', tls: { ca: provider.ca } } as never)
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }
  /** Follows redirects from `address` until one leads to `stop`, or the response is none → the last address. */
  const follow = async (address: string, stop = '/dashboard/'): Promise<string> => {
    let at = address
    for (let count = 0; count < 15; count++) {
      if (at.startsWith(PUBLIC) && new URL(at).pathname.startsWith(stop)) return at
      const response = await request(at)
      const location = response.headers.get('location')
      if (location === null) return `${response.status} ${await response.text()}`
      at = new URL(location, at).href
    }
    throw new Error('too many redirects')
  }
  const ours = () => cookies.get(new URL(PUBLIC).host)
  return {
    follow,
    request,
    switchTo: (to: number) => (node = to),
    cookie: (name: string) => ours()?.get(name),
    /** Signs in → the path at which the browser arrives. */
    signIn: async () => (await follow(`${PUBLIC}/session/oidc`)).slice(PUBLIC.length),
    /** The address with which the provider sends the browser back. */
    returning: () => follow(`${PUBLIC}/session/oidc`, '/session/oidc/callback'),
    session: async () => {
      const response = await request(`${PUBLIC}/session`)
      return response.ok
        ? ((await response.json()) as { user: { id: string; email: string; is_operator: boolean } })
        : null
    },
  }
}

const fault = (path: string) => new URL(path, PUBLIC).searchParams.get('sso')

test('signs in an existing user by address once, and then by subject whatever the address', async () => {
  await open()
  await addUser()
  const one = browser()
  expect(await one.signIn()).toBe('/dashboard/')
  expect((await one.session())?.user).toMatchObject({ id: 'usr_ann', email: 'ann@a.example' })
  expect(one.cookie('postrider_sign_on')).toBeUndefined()
  await addUser({ id: 'usr_bob', email: 'bob@a.example' })
  provider.current = { sub: 'ann', email: 'bob@a.example', email_verified: true }
  const again = browser()
  await again.signIn()
  expect((await again.session())?.user.id).toBe('usr_ann')
  expect((await server.store().users.get('usr_ann'))?.roles).toEqual({ [server.organizationId]: 'support' })
  const all = { organizationId: null, actorId: null, action: 'sessions_create', resourceId: null }
  const range = { createdAfter: null, createdBefore: null }
  const { records } = await server.store().auditLog.list({ ...all, ...range }, { limit: 9, after: null })
  expect(records[0]).toMatchObject({ actor: { id: 'usr_ann' }, fields: ['single_sign_on'] })
})

// threat: account-taken-first
test('an account that a tenant made with a link of its own is not the person who signs in later', async () => {
  await open(MAPPED)
  const made = { emailVerifiedAt: null, invitedTo: server.organizationId }
  await addUser({ ...made, email: 'boss@a.example' }, 'the password of a tenant')
  const { sessions, users, auditLog } = server.store()
  const token = mintToken(systemRandom)
  const times = { createdAt: START, lastSeenAt: START, endsAt: START + 1e9 }
  await sessions.open({ id: 'ses_1', userId: 'usr_ann', ...times, ipAddress: null, userAgent: '' }, hashToken(token))
  provider.current = { sub: 'boss', email: 'boss@a.example', email_verified: false, groups: ['ops'] }
  expect(fault(await browser().signIn())).toBe('unverified')
  expect(await sessions.findByToken(hashToken(token))).not.toBeNull()

  provider.current.email_verified = true
  const boss = browser()
  expect(await boss.signIn()).toBe('/dashboard/')
  expect((await boss.session())?.user).toMatchObject({ id: 'usr_ann', is_operator: true })
  expect([await sessions.findByToken(hashToken(token)), await users.passwordHash('usr_ann')]).toEqual([null, null])
  const all = { organizationId: null, actorId: null, action: 'users_clear', resourceId: null }
  const range = { createdAfter: null, createdBefore: null }
  const { records } = await auditLog.list({ ...all, ...range }, { limit: 9, after: null })
  expect(records).toMatchObject([{ actor: { type: 'server' }, resourceId: 'usr_ann' }])
  expect(await users.cleared(0)).toMatchObject([{ user: { id: 'usr_ann' } }])
})

test('a second account of the provider with a recycled address does not become the first one', async () => {
  await open()
  await addUser()
  expect(await browser().signIn()).toBe('/dashboard/')
  provider.current = { sub: 'another', email: 'ann@a.example', email_verified: true }
  expect(fault(await browser().signIn())).toBe('other_account')
  expect(await server.store().users.cleared(0)).toEqual([])
})

test('an address that the provider did not verify makes no account', async () => {
  await open(MAPPED)
  provider.current = { sub: 'new', email: 'new@a.example', groups: ['mail-readers'] }
  expect(fault(await browser().signIn())).toBe('unverified')
  expect(await server.store().users.findByEmail('new@a.example')).toBeNull()
})

test.each([false, true])('a refused address makes no account, with trust_email %p', async (trust_email) => {
  await open({ ...MAPPED, trust_email })
  provider.current = { sub: 'eve', email: 'eve@a.example', email_verified: false, groups: ['mail-readers'] }
  expect(fault(await browser().signIn())).toBe('unverified')
  expect(await server.store().users.findByEmail('eve@a.example')).toBeNull()
})

test('asks the UserInfo endpoint for what the ID token lacks, and logs the claims that came', async () => {
  const full = provider
  provider = await startOidcProvider([CALLBACK], 'web', true)
  try {
    writeFileSync(join(folder, 'thin.pem'), provider.ca)
    await open({ ...MAPPED, ca_file: join(folder, 'thin.pem') })
    provider.current = {
      sub: 'ann',
      email: 'ann@a.example',
      email_verified: true,
      name: 'Ann',
      groups: ['mail-readers'],
    }
    expect(await browser().signIn()).toBe('/dashboard/')
    const roles = { [server.organizationId]: 'viewer' }
    expect(await server.store().users.findByEmail('ann@a.example')).toMatchObject({ name: 'Ann', roles })
    provider.current = { ...provider.current, groups: [] }
    expect(fault(await browser().signIn())).toBe('no_role')
    const rejected = lines.map((line) => JSON.parse(line)).findLast(({ reason }) => reason === 'no_role')
    expect(rejected.claims.split(' ')).toEqual(expect.arrayContaining(['email', 'groups', 'sub']))
    provider.current = { sub: 'bob', email: 'bob@a.example', email_verified: false, groups: ['mail-readers'] }
    expect(fault(await browser().signIn())).toBe('unverified')
  } finally {
    await provider.stop()
    provider = full
  }
})

test('does not ask the UserInfo endpoint when the ID token has all of it', async () => {
  await open(MAPPED)
  provider.current.groups = ['mail-readers']
  provider.requests.length = 0
  expect(await browser().signIn()).toBe('/dashboard/')
  expect(provider.requests).not.toContain('/me')
})

test.each(['', 'x'.repeat(256)])('a subject of %j is refused', async (sub) => {
  await open(MAPPED)
  const claims = { iss: provider.issuer, sub, email: 'ann@a.example', email_verified: true, groups: ['ops'] }
  const { store } = server
  const context = { store: store(), mintId: () => 'usr_new', audited: (_: unknown, work: () => unknown) => work() }
  const options = { rolesClaim: 'groups', roles: ROLES, trustEmail: true }
  const found = await userOfClaims(context as never, options, claims, { now: START, address: '' })
  expect([found, await store().users.findByEmail('ann@a.example')]).toEqual(['invalid', null])
})

test('sends PKCE, state and nonce to the provider, and sets a cookie that scripts and other sites cannot read', async () => {
  await open()
  const response = await browser().request(`${PUBLIC}/session/oidc`)
  expect(response.headers.get('set-cookie')).toMatch(
    /^postrider_sign_on=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
  )
  const url = new URL(response.headers.get('location')!)
  expect(url.origin).toBe(provider.issuer)
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    redirect_uri: CALLBACK,
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[0-9A-Za-z]{40}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  })
})

test('sets the roles of the claim at every sign-in, and takes away what it no longer gives', async () => {
  await open(MAPPED)
  const roles = async () => (await server.store().users.findByEmail('ann@a.example'))!
  provider.current.groups = ['staff', 'mail-readers', 'mail-admins', 'elsewhere']
  expect(await browser().signIn()).toBe('/dashboard/')
  expect(await roles()).toMatchObject({ name: 'Ann', isOperator: false, roles: { [server.organizationId]: 'admin' } })
  provider.current.groups = ['ops']
  const operator = browser()
  await operator.signIn()
  expect(await roles()).toMatchObject({ isOperator: true, roles: {} })
  provider.current.groups = ['mail-readers']
  await browser().signIn()
  expect(await roles()).toMatchObject({ isOperator: false, roles: { [server.organizationId]: 'viewer' } })
  expect(await operator.session()).toBeNull()
  const before = browser()
  await before.signIn()
  provider.current.groups = []
  expect(fault(await browser().signIn())).toBe('no_role')
  expect([(await roles()).roles, await before.session()]).toEqual([{}, null])
})

test('refuses an account without a role or user, a disabled user, and to demote the last operator', async () => {
  await open(MAPPED)
  expect(fault(await browser().signIn())).toBe('no_role')
  expect(await server.store().users.findByEmail('ann@a.example')).toBeNull()
  await addUser({ disabledAt: START })
  provider.current.groups = ['mail-readers']
  expect(fault(await browser().signIn())).toBe('disabled')
  await server.store().users.update(FIRST_USER, { email: 'first@a.example' })
  provider.current = { sub: 'first', email: 'first@a.example', email_verified: true, groups: ['mail-readers'] }
  expect(fault(await browser().signIn())).toBe('last_operator')
  expect((await server.store().users.get(FIRST_USER))?.isOperator).toBe(true)
})

test('without a claim for roles, signs in existing users only', async () => {
  await open()
  expect(fault(await browser().signIn())).toBe('no_account')
  provider.current = { sub: 'none' }
  expect(fault(await browser().signIn())).toBe('no_account')
})

// threat: single-sign-on-takeover
test('does not match an address that the provider has not verified', async () => {
  await open(MAPPED)
  await addUser({ isOperator: true })
  provider.current = { sub: 'mallory', email: 'ann@a.example', email_verified: false, groups: ['mail-readers'] }
  expect(fault(await browser().signIn())).toBe('unverified')
  expect(await server.store().singleSignOn.userOf(provider.issuer, 'mallory')).toBeNull()
  expect((await server.store().users.get('usr_ann'))?.isOperator).toBe(true)
})

// threat: single-sign-on-takeover
test.each([
  [undefined, false, 'unverified'],
  [undefined, true, null],
  ['false', true, 'unverified'],
  ['true', false, null],
] as const)(
  'matches an address with email_verified %p and trust_email %p: %p',
  async (verified, trust_email, expected) => {
    await open({ trust_email })
    await addUser()
    provider.current = {
      sub: 'ann',
      email: 'ann@a.example',
      ...(verified === undefined ? {} : { email_verified: verified }),
    }
    const end = await browser().signIn()
    expect(fault(end)).toBe(expected)
  },
)

// threat: single-sign-on-forgery
test('refuses a callback with another state, a second time, and in another browser', async () => {
  await open()
  await addUser()
  const attacker = browser()
  const victim = browser()
  const callback = await attacker.returning()
  expect(fault(await victim.follow(callback, '/dashboard'))).toBe('expired')
  await victim.returning()
  expect(fault(await victim.follow(callback, '/dashboard'))).toBe('expired')
  expect(await victim.session()).toBeNull()
  const changed = new URL(callback)
  changed.searchParams.set('state', 'S'.repeat(40))
  expect(fault(await attacker.follow(changed.href, '/dashboard'))).toBe('expired')
  expect(await attacker.follow(callback, '/dashboard')).toBe(`${PUBLIC}/dashboard/`)
  expect(fault(await attacker.follow(callback, '/dashboard'))).toBe('expired')
  const late = browser()
  const lateCallback = await late.returning()
  await server.clock.advance(600_000)
  expect(fault(await late.follow(lateCallback, '/dashboard'))).toBe('expired')
})

// threat: single-sign-on-forgery
test('refuses ID tokens with another nonce, audience, party, issuer, signature, or past their time', async () => {
  await open()
  await addUser()
  const wrong: Record<string, (claims: Record<string, unknown>) => Record<string, unknown>> = {
    nonce: (claims) => ({ ...claims, nonce: 'another' }),
    'no nonce': ({ nonce: _, ...claims }) => claims,
    audience: (claims) => ({ ...claims, aud: 'another' }),
    'no audience': ({ aud: _, ...claims }) => claims,
    party: (claims) => ({ ...claims, azp: 'another' }),
    'empty party': (claims) => ({ ...claims, azp: '' }),
    'null party': (claims) => ({ ...claims, azp: null }),
    'several parties': (claims) => ({ ...claims, azp: [provider.clientId] }),
    'party in other letters': (claims) => ({ ...claims, azp: provider.clientId.toUpperCase() }),
    'one audience, another party': (claims) => ({ ...claims, aud: [provider.clientId], azp: 'another' }),
    'several audiences': (claims) => ({ ...claims, aud: [provider.clientId, 'another'] }),
    'several audiences, another party': (claims) => ({
      ...claims,
      aud: [provider.clientId, 'another'],
      azp: 'another',
    }),
    'other audiences, our party': (claims) => ({ ...claims, aud: ['another', 'third'], azp: provider.clientId }),
    issuer: (claims) => ({ ...claims, iss: 'https://elsewhere.example' }),
    expired: (claims) => ({ ...claims, iat: Number(claims.iat) - 7200, exp: Number(claims.iat) - 3600 }),
  }
  for (const [name, change] of Object.entries(wrong)) {
    provider.rewrite = (idToken) => provider.sign(change(claimsIn(idToken)))
    expect([name, fault(await browser().signIn())]).toEqual([name, 'invalid'])
    await server.clock.advance(60_000)
  }
  provider.rewrite = async (idToken) => {
    const [head, , signature] = idToken.split('.')
    const claims = { ...claimsIn(idToken), sub: 'mallory' }
    return `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
  }
  expect(fault(await browser().signIn())).toBe('invalid')
  const right: Record<string, unknown>[] = [
    {},
    { azp: provider.clientId },
    { aud: [provider.clientId] },
    { aud: [provider.clientId, 'another'], azp: provider.clientId },
  ]
  for (const change of right) {
    provider.rewrite = (idToken) => provider.sign({ ...claimsIn(idToken), ...change })
    expect([change, await browser().signIn()]).toEqual([change, '/dashboard/'])
  }
})

test('shows no text of a link, and redirects to its own pages and the provider only', async () => {
  await open()
  const one = browser()
  await one.returning()
  const error = '?error=access_denied&error_description=Call+me&return_to=https%3A%2F%2Fevil.example'
  expect(await one.follow(`${CALLBACK}${error}`, '/dashboard')).toBe(`${PUBLIC}/dashboard/sign-in?sso=expired`)
  const state = new URL(await one.returning()).searchParams.get('state')
  expect(await one.follow(`${CALLBACK}${error}&state=${state}`, '/dashboard')).toBe(
    `${PUBLIC}/dashboard/sign-in?sso=denied`,
  )
  const response = await one.request(`${PUBLIC}/session/oidc`, { headers: { host: 'evil.example' } })
  expect([response.status, response.headers.get('location')?.includes('evil') ?? false]).not.toContain(true)
  const other = await fetch(`http://${server.running().listening.http}/session/oidc`, { redirect: 'manual' })
  expect(other.headers.get('location')).toBe(`${PUBLIC}/session/oidc`)
})

test('says that the provider does not answer, and passwords go on', async () => {
  await open()
  await addUser({}, 'correct horse battery')
  provider.isDown = true
  const one = browser()
  expect(await one.signIn()).toBe('/dashboard/sign-in?sso=unavailable')
  const signIn = (body: object) =>
    one.request(`${PUBLIC}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-operator': '1' },
      body: JSON.stringify(body),
    })
  expect((await signIn({ email: 'ann@a.example', password: 'correct horse battery' })).status).toBe(201)
  provider.isDown = false
  const two = browser()
  const callback = await two.returning()
  provider.isDown = true
  expect(fault(await two.follow(callback, '/dashboard'))).toBe('unavailable')
})

// threat: single-sign-on-bypass
test('with only = true, refuses passwords, and accepts a link of the command line', async () => {
  await open({ only: true }, { users: { mail_from: 'no-reply@sender.example' } })
  await addUser({}, 'correct horse battery')
  const one = browser()
  const post = (path: string, body: object) =>
    one.request(`${PUBLIC}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-operator': '1' },
      body: JSON.stringify(body),
    })
  const options = await (await one.request(`${PUBLIC}/session/options`)).json()
  expect(options).toEqual({ single_sign_on: true, only_single_sign_on: true, password_links: false })
  const password = 'correct horse battery'
  expect((await post('/session', { email: 'ann@a.example', password })).status).toBe(403)
  expect((await post('/session/forgot', { email: 'ann@a.example' })).status).toBe(403)
  expect((await post('/session/reset', { token: 'x', password })).status).toBe(403)
  expect((await post('/session/invitation', { token: 'x', password, name: 'x' })).status).toBe(403)
  expect(await one.signIn()).toBe('/dashboard/')
  expect((await post('/session/password', { password })).status).toBe(403)
  const token = mintToken(systemRandom)
  const now = server.clock.now()
  const link = { tokenHash: hashToken(token), userId: FIRST_USER, createdAt: now, expiresAt: now + 60_000 }
  await server.store().sessions.addLink(link)
  expect((await post('/session', { token })).status).toBe(201)
  expect(one.cookie(SESSION_COOKIE)).toMatch(/^[0-9A-Za-z]{43}$/)
})

describeWithPostgres('on two nodes', () => {
  test('a sign-in that begins on one node ends on the other', async () => {
    const postgres = await startPostgres()
    try {
      await open({}, { database: { url: await postgres.createDatabase('sso') } })
      await addUser()
      const other = await server.addNode({ http: { public_url: PUBLIC } })
      const one = browser([server.running().listening.http, other.server.listening.http] as never)
      const callback = await one.returning()
      one.switchTo(1)
      expect(await one.follow(callback, '/dashboard')).toBe(`${PUBLIC}/dashboard/`)
      expect((await one.session())?.user.id).toBe('usr_ann')
      one.switchTo(0)
      expect(fault(await one.follow(callback, '/dashboard'))).toBe('expired')
    } finally {
      await server.close()
      await postgres.stop()
      await open() // for afterEach
    }
  })
})
