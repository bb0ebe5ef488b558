import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { FIRST_USER, type Role } from '../../src/model/user.ts'
import { hashToken } from '../../src/web/api/sessions.ts'
import { createTestApi, type TestApi } from '../support/api.ts'
import { cheapHash } from '../support/password-hash.ts'
import { VERIFIED } from '../support/verified.ts'

/** Users: roles, sign-in with their own password, and what each may change. */

let made: TestApi
beforeEach(async () => {
  made = await createTestApi()
})
afterEach(() => made.close())

const PASSWORD = 'correct horse battery'
let hash: string | undefined

async function addUser(name: string, roles: Record<string, Role>, isOperator = false): Promise<string> {
  hash ??= await cheapHash(PASSWORD)
  const [id, createdAt] = [made.mintId('usr'), made.clock.now()]
  const user = { id, email: `${name}@a.example`, name, isOperator, roles, createdAt }
  await made.store.users.create({ ...user, disabledAt: null, lastSeenAt: null, ...VERIFIED }, hash)
  return id
}
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  made.ask('POST', path, { key: null, body, headers: { 'x-operator': '1', ...headers } })
const signIn = (email: string, password = PASSWORD) => post('/session', { email, password })
const cookieOf = ({ headers }: { headers: Headers }) => headers.get('set-cookie')!.split(';', 1)[0]!
async function browserOf(name: string, organizationId = made.own.organization.id) {
  const cookie = cookieOf(await signIn(`${name}@a.example`))
  return (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    made.ask(method, path, {
      key: null,
      headers: { cookie, 'x-organization': organizationId, ...headers },
      ...(body && { body }),
    })
}
const own = () => made.own.organization.id
const other = () => made.other.organization.id

describe('signing in', () => {
  test('works with address and password, in any case, and lists the organizations of the user', async () => {
    const id = await addUser('ann', { [own()]: 'support' })
    const answer = await signIn('Ann@A.example')
    expect(answer.status).toBe(201)
    expect(answer.body.user).toEqual({ id, email: 'ann@a.example', name: 'ann', is_operator: false })
    expect(answer.body.organizations).toEqual([{ id: own(), name: 'own', plan: 'enterprise', role: 'support' }])
  })

  // threat: sign-in-guessing
  test('answers an unknown address, a wrong password and a disabled account alike', async () => {
    await addUser('ann', { [own()]: 'viewer' })
    await made.store.users.update(await addUser('bob', { [own()]: 'viewer' }), { disabledAt: 1 })
    const answers = [
      await signIn('ann@a.example', 'wrong'),
      await signIn('bob@a.example'),
      await signIn('none@a.example'),
    ]
    for (const { status, body } of answers) {
      expect([status, body.error.message]).toEqual([401, 'Wrong email address or password.'])
    }
  })

  test('needs the address once there are several users', async () => {
    await made.store.users.setPassword(FIRST_USER, await cheapHash(PASSWORD), null)
    expect((await post('/session', { password: PASSWORD })).status).toBe(201)
    await addUser('ann', { [own()]: 'viewer' })
    expect((await post('/session', { password: PASSWORD })).status).toBe(401)
  })
})

describe('rights', () => {
  // threat: stale-rights
  test('change with the next request after a new role, a removal and disabling', async () => {
    const id = await addUser('ann', { [own()]: 'developer' })
    const ask = await browserOf('ann')
    expect((await ask('GET', '/v1/api-keys')).status).toBe(200)
    await made.store.users.setRole(id, own(), 'viewer', true)
    expect((await ask('GET', '/v1/api-keys')).status).toBe(403)
    expect((await ask('GET', '/v1/domains')).status).toBe(200)
    await made.store.users.update(id, { disabledAt: 1 })
    expect((await ask('GET', '/v1/domains')).status).toBe(401)
    await made.store.users.update(id, { disabledAt: null })
    expect((await ask('GET', '/v1/domains')).status).toBe(401)
  })

  test('of a role limit the keys that it can create, and the key says who created it', async () => {
    const id = await addUser('ann', { [own()]: 'admin' })
    const ask = await browserOf('ann')
    const key = { name: 'k', domain_id: made.own.domain.id }
    expect((await ask('POST', '/v1/api-keys', { ...key, permissions: ['admin'] })).status).toBe(403)
    const { status, body } = await ask('POST', '/v1/api-keys', { ...key, permissions: ['manage'] })
    expect([status, body.created_by]).toEqual([201, id])
    expect((await ask('DELETE', `/v1/api-keys/${made.own.keys.admin.record.id}`)).status).toBe(403)
    const entries = await made.ask('GET', '/v1/audit-log?action=api_keys_create', { key: made.own.keys.admin })
    expect(entries.body.data[0].actor).toEqual({ type: 'user', id, name: 'ann@a.example' })
  })
})

describe('managing users', () => {
  // threat: privilege-escalation
  test('is for owners: nobody raises a role, becomes operator, or changes an account beyond the organization', async () => {
    const [owner, ann] = [await addUser('olga', { [own()]: 'owner' }), await addUser('ann', { [own()]: 'admin' })]
    const shared = await addUser('sam', { [own()]: 'viewer', [other()]: 'owner' })
    const operator = await addUser('op', { [own()]: 'viewer' }, true)
    const asAdmin = await browserOf('ann')
    expect((await asAdmin('PATCH', `/v1/users/${ann}`, { role: 'owner' })).status).toBe(403)
    const ask = await browserOf('olga')
    expect((await ask('PATCH', `/v1/users/${owner}`, { is_operator: true })).status).toBe(403)
    expect((await ask('PATCH', `/v1/users/${ann}`, { disabled: true })).status).toBe(403)
    expect((await ask('PATCH', `/v1/users/${ann}`, { email: 'evil@a.example' })).status).toBe(403)
    expect((await ask('POST', `/v1/users/${operator}/reset`)).status).toBe(403)
    for (const id of [shared, operator]) expect((await ask('DELETE', `/v1/users/${id}/sessions`)).status).toBe(403)
    expect((await ask('GET', `/v1/users/${shared}`)).body.roles).toEqual([{ organization_id: own(), role: 'viewer' }])
    expect((await ask('PATCH', `/v1/users/${ann}`, { role: 'support' })).body.roles[0].role).toBe('support')
    expect((await ask('PATCH', `/v1/users/${owner}`, { name: 'Olga' })).body.name).toBe('Olga')
    expect((await ask('DELETE', `/v1/users/${shared}`)).status).toBe(200)
    expect((await made.store.users.get(shared))?.roles).toEqual({ [other()]: 'owner' })
    expect((await ask('GET', `/v1/users/${shared}`)).status).toBe(403)
    expect((await ask('GET', '/v1/users', undefined, { 'x-organization': other() })).status).toBe(403)
  })

  test('keeps the last owner and the last operator', async () => {
    const owner = await addUser('olga', { [own()]: 'owner' })
    const ask = await browserOf('olga')
    expect((await ask('DELETE', `/v1/users/${owner}`)).status).toBe(409)
    expect((await ask('PATCH', `/v1/users/${owner}`, { role: 'viewer' })).status).toBe(409)
    const operator = { key: null, headers: { ...(await made.signIn()), 'x-operator': '1' } }
    expect((await made.ask('DELETE', `/v1/users/${FIRST_USER}`, operator)).status).toBe(409)
    expect((await made.ask('DELETE', `/v1/users/${owner}`, operator)).status).toBe(200)
    expect((await made.ask('GET', '/v1/users', operator)).body.data.map(({ id }: { id: string }) => id)).toEqual([
      FIRST_USER,
    ])
  })

  test('by an API key needs admin without expiry or networks, and never touches an owner', async () => {
    const [owner, ann] = [await addUser('olga', { [own()]: 'owner' }), await addUser('ann', { [own()]: 'viewer' })]
    const { admin, manage } = made.own.keys
    const change = (id: string, body: object, key = admin) => made.ask('PATCH', `/v1/users/${id}`, { key, body })
    expect((await change(ann, { role: 'developer' })).status).toBe(200)
    expect((await change(ann, { role: 'developer' }, manage)).status).toBe(403)
    expect((await change(ann, { role: 'owner' })).status).toBe(403)
    expect((await change(ann, { name: 'x' })).status).toBe(403)
    expect((await change(owner, { role: 'viewer' })).status).toBe(403)
    expect((await made.ask('DELETE', `/v1/users/${owner}`, { key: admin })).status).toBe(403)
    const limits = { permissions: ['admin' as const], expiresAt: made.clock.now() + 60_000 }
    expect((await change(ann, { role: 'admin' }, await made.addKey(made.own, limits))).status).toBe(403)
  })
})

test('a link of the operator sets a password once and ends the sessions of the user', async () => {
  const id = await addUser('ann', { [own()]: 'viewer' })
  const ask = await browserOf('ann')
  const headers = { ...(await made.signIn()), 'x-operator': '1' }
  const { body } = await made.ask('POST', `/v1/users/${id}/reset`, { key: null, headers })
  const token = /#reset=([0-9A-Za-z]{40})$/.exec(body.url)![1]!
  expect(await made.store.users.reset(hashToken(token), made.clock.now())).toEqual({ userId: id, isProof: false })
  expect((await post('/session/reset', { token: 'none', password: 'another long one' })).status).toBe(401)
  expect((await post('/session/reset', { token, password: 'another long one' })).status).toBe(200)
  expect((await post('/session/reset', { token, password: 'another long one' })).status).toBe(401)
  expect((await ask('GET', '/v1/domains')).status).toBe(401)
  expect((await signIn('ann@a.example', 'another long one')).status).toBe(201)
})

describe('a key', () => {
  const keyOf = async (name: string, permission = 'manage') => {
    const body = { name: 'k', domain_id: made.own.domain.id, permissions: [permission] }
    const { status, body: made_ } = await (await browserOf(name))('POST', '/v1/api-keys', body)
    expect(status).toBe(201)
    return made_ as { id: string; key: string }
  }
  const ask = (key: string, method: string, path: string, body?: object) =>
    made.ask(method, path, { key, ...(body && { body }) })

  // threat: privilege-escalation
  test('never does more than the user who made it, now and later', async () => {
    const id = await addUser('dev', { [own()]: 'developer' })
    const { key } = await keyOf('dev')
    const missing = '/v1/messages/msg_00000000000000000000000000/content'
    expect((await ask(key, 'DELETE', missing)).status).toBe(403)
    expect((await ask(made.own.keys.manage.value, 'DELETE', missing)).status).toBe(404)
    expect((await ask(key, 'GET', '/v1/templates')).status).toBe(200)
    // Neither does a key that it makes.
    const body = { name: 'child', domain_id: made.own.domain.id, permissions: ['manage'] }
    const child = (await ask(key, 'POST', '/v1/api-keys', body)).body
    expect(child.created_by).toBe(id)
    expect((await ask(child.key, 'DELETE', missing)).status).toBe(403)
    const rotated = (await ask(made.own.keys.admin.value, 'POST', `/v1/api-keys/${child.id}/rotate`, {})).body
    // Nor one of an admin that it rotates.
    await addUser('adam', { [own()]: 'admin' })
    const taken = (await ask(key, 'POST', `/v1/api-keys/${(await keyOf('adam')).id}/rotate`, {})).body
    expect([taken.created_by, (await ask(taken.key, 'DELETE', missing)).status]).toEqual([id, 403])
    // Nor an answer that an admin got.
    const named = { 'idempotency-key': 'deploy-1' }
    const first = await (await browserOf('adam'))('POST', '/v1/api-keys', body, named)
    const second = await (await browserOf('dev'))('POST', '/v1/api-keys', body, named)
    expect([first.status, second.status]).toEqual([201, 409])
    expect((await ask(rotated.key, 'DELETE', missing)).status).toBe(403)

    await made.store.users.setRole(id, own(), 'viewer', true)
    await made.clock.advance(1_000)
    for (const each of [key, child.key]) expect((await ask(each, 'GET', '/v1/webhooks')).status).toBe(403)
    expect((await ask(key, 'GET', '/v1/templates')).status).toBe(200)
    await made.store.users.update(id, { disabledAt: 1 })
    await made.clock.advance(1_000)
    expect((await ask(key, 'GET', '/v1/templates')).status).toBe(403)
  })

  test('ends with the user who made it, unless the owner keeps it for the organization', async () => {
    await addUser('olga', { [own()]: 'owner' })
    const asOwner = await browserOf('olga')
    for (const [name, query, status] of [
      ['ann', '', 401],
      ['bob', '?keys=keep', 200],
    ] as const) {
      const id = await addUser(name, { [own()]: 'developer', [other()]: 'viewer' })
      const { key } = await keyOf(name)
      expect((await asOwner('DELETE', `/v1/users/${id}${query}`)).status).toBe(200)
      await made.clock.advance(1_000)
      expect([name, (await ask(key, 'GET', '/v1/templates')).status]).toEqual([name, status])
    }
  })

  // threat: rights-by-detour
  test('that is kept does no more than the last role of its user, and neither do the keys that it makes', async () => {
    await addUser('olga', { [own()]: 'owner' })
    const id = await addUser('dev', { [own()]: 'developer' })
    const { key } = await keyOf('dev')
    const asOwner = await browserOf('olga')
    expect((await asOwner('DELETE', `/v1/users/${id}?keys=keep`)).status).toBe(200)
    const body = { name: 'child', domain_id: made.own.domain.id, permissions: ['manage'] }
    const child = (await ask(key, 'POST', '/v1/api-keys', body)).body
    const { record: peer } = await made.addKey(made.own)
    const taken = (await ask(key, 'POST', `/v1/api-keys/${peer.id}/rotate`, {})).body
    const rotated = (await ask(made.own.keys.admin.value, 'POST', `/v1/api-keys/${child.id}/rotate`, {})).body
    const missing = '/v1/messages/msg_00000000000000000000000000/content'
    for (const each of [key, child.key, taken.key, rotated.key]) {
      expect((await ask(each, 'GET', '/v1/webhooks')).status).toBe(200)
      const { status, body: refusal } = await ask(each, 'DELETE', missing)
      expect([status, refusal.error.details]).toMatchObject([403, { required: 'admin', created_by: null }])
    }
    // Nobody gets its answer who has other rights.
    const named = { 'idempotency-key': 'deploy-2' }
    const post_ = (by: string) => made.ask('POST', '/v1/api-keys', { key: by, body, headers: named })
    expect((await post_(made.own.keys.manage.value)).status).toBe(201)
    expect((await post_(key)).status).toBe(409)
    // The owner takes the key over.
    const own_ = (await asOwner('POST', `/v1/api-keys/${rotated.id}/rotate`, {})).body
    expect((await ask(own_.key, 'DELETE', missing)).status).toBe(404)
  })
})

test('strangers who guess at an account do not lock out a browser in which its user has signed in before', async () => {
  await addUser('ann', { [own()]: 'viewer' })
  const known = (await signIn('ann@a.example')).headers.getSetCookie().map((each) => each.split(';', 1)[0])
  expect(known[1]).toMatch(/^postrider_known=[\w-]{22}$/)
  const from = (address: string, password: string, cookie = '') =>
    post('/session', { email: 'ann@a.example', password }, { 'x-forwarded-for': address, cookie })
  for (let at = 1; at <= 10; at++) await from(`198.51.100.${at}`, 'wrong')
  expect((await from('198.51.101.1', PASSWORD)).status).toBe(429)
  expect((await from('198.51.101.2', PASSWORD, 'postrider_known=AAAAAAAAAAAAAAAAAAAAAA')).status).toBe(429)
  expect((await from('198.51.101.3', PASSWORD, known[1])).status).toBe(201)
})

describe('an invitation', () => {
  /** Token of the link in the mail that an owner causes: owners do not see it. */
  const invite = async (invitedBy: string, email: string, role: Role = 'developer') => {
    const [id, createdAt] = [made.mintId('inv'), made.clock.now()]
    const invitation = { id, organizationId: own(), email, role, invitedBy, createdAt, expiresAt: createdAt + 60_000 }
    await made.store.invitations.create(invitation, { shown: hashToken(id), mailed: hashToken(`mailed ${id}`) })
    return id
  }
  const accept = (token: string, password: string) => post('/session/invitation', { token, name: 'New', password })

  test('creates an account with the role, once', async () => {
    const headers = { ...(await made.signIn()), 'x-organization': own() }
    const body = { email: 'New@a.example', role: 'developer' }
    const invited = await made.ask('POST', '/v1/invitations', { key: null, headers, body })
    const token = /#invitation=([0-9A-Za-z]{40})$/.exec(invited.body.url)![1]!
    expect((await accept(token, 'short')).status).toBe(400)
    expect((await accept(token, 'another long one')).status).toBe(200)
    expect((await accept(token, 'another long one')).status).toBe(401)
    expect((await signIn('new@a.example', 'another long one')).body.organizations).toMatchObject([
      { id: own(), role: 'developer' },
    ])
  })

  // threat: privilege-escalation
  test('gives its holder no access to an existing account, and ends with the rights of its author', async () => {
    const owner = await addUser('olga', { [own()]: 'owner' })
    const sam = await addUser('sam', { [other()]: 'owner' })
    const token = await invite(owner, 'sam@a.example')
    expect((await accept(token, 'a password of olga')).status).toBe(401)
    expect((await signIn('sam@a.example')).status).toBe(201)
    expect((await accept(token, PASSWORD)).status).toBe(200)
    expect((await made.store.users.get(sam))?.roles).toEqual({ [own()]: 'developer', [other()]: 'owner' })
    const back = await invite(owner, 'back@a.example', 'owner')
    await made.store.users.setRole(owner, own(), 'viewer', true)
    expect((await accept(back, 'another long one')).status).toBe(401)
  })

  // threat: accounts-listed
  test('answers an owner and a key alike for every address, and shows them no link to try', async () => {
    await addUser('olga', { [own()]: 'owner' })
    await addUser('sam', { [other()]: 'owner' })
    const asOwner = await browserOf('olga')
    const key = await made.addKey(made.own, { permissions: ['admin'] })
    const asKey = (method: string, path: string, body: object) => made.ask(method, path, { key, body })
    for (const ask of [asOwner, asKey]) {
      const answers: object[] = []
      for (const email of ['sam@a.example', 'new@a.example']) {
        const { status, body } = await ask('POST', '/v1/invitations', { email, role: 'viewer' })
        answers.push({ ...body, status, id: '', email: '' })
      }
      expect(answers[0]).toMatchObject({ status: 201, url: null, mail_queued: false, mail_reason: 'not_configured' })
      expect(answers[1]).toEqual(answers[0]!)
    }
  })
})

test('a user lists the own sessions and signs out everywhere else', async () => {
  await addUser('ann', { [own()]: 'viewer' })
  const [first, second] = [await browserOf('ann'), await browserOf('ann')]
  await made.signIn() // of the operator
  const listed = await second('GET', '/session/all')
  expect(listed.body.data.map(({ is_current }: { is_current: boolean }) => is_current).toSorted()).toEqual([
    false,
    true,
  ])
  expect((await second('DELETE', '/session/all')).body.data).toHaveLength(1)
  expect((await first('GET', '/session')).status).toBe(401)
  expect((await second('GET', '/session')).status).toBe(200)
  expect((await second('DELETE', '/session/all', undefined, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
})

test('a record says whether the user signs in with a code of an app, and how many passkeys there are', async () => {
  await addUser('olga', { [own()]: 'owner' })
  const id = await addUser('ann', { [own()]: 'viewer' })
  const ask = await browserOf('olga')
  const factors = async () => {
    const { data } = (await ask('GET', '/v1/users')).body
    const listed = data.find((each: { id: string }) => each.id === id)
    const { two_step, passkeys } = (await ask('GET', `/v1/users/${id}`)).body
    expect([two_step, passkeys]).toEqual([listed.two_step, listed.passkeys])
    return [two_step, passkeys]
  }
  expect(await factors()).toEqual([false, 0])
  await made.store.factors.beginTotp(id, new Uint8Array(20), 0)
  expect(await factors()).toEqual([false, 0])
  await made.store.factors.enableTotp(id, { step: 1, begunAt: 0, recoveryHashes: [], now: 0 }, '')
  expect(await factors()).toEqual([true, 0])
})
