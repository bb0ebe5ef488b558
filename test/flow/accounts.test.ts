import { afterEach, beforeEach, expect, test } from 'bun:test'
import { codeOfStep } from '../../src/web/api/sign-in/totp.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'
import { addUser, cookieOf, forgot, MAIL_FROM, PASSWORD, page, tokenIn } from '../support/user-mail.ts'

/** An address is not a person until its mailbox has said so: a tenant takes somebody's address first, and later that
 *  person gets more rights. */

const OPERATOR = 'olivia@operator.remote.example'
const BOSS = 'boss@corp.remote.example'
const STOLEN = 'the password of a tenant'
const DAY = 86_400_000

let remote: RemoteMx
let server: TestServer
let operator: string
beforeEach(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote, config: { users: { mail_from: MAIL_FROM } } })
  await addUser(server, OPERATOR, { isOperator: true })
  operator = await cookieOf(server, OPERATOR)
})
afterEach(async () => {
  await server.close()
  await remote.stop()
})

const ask = (cookie: string, method: string, path: string, body?: Json, organizationId?: string) =>
  page(server, method, path, {
    headers: { cookie, ...(organizationId !== undefined && { 'x-organization': organizationId }) },
    ...(body !== undefined && { body }),
  })
const accept = (token: string, password: string) =>
  page(server, 'POST', '/session/invitation', { body: { token, name: 'Boss', password } })
const reset = (token: string, password: string, factors?: string) =>
  page(server, 'POST', '/session/reset', { body: { token, password, ...(factors && { factors }) } })
const signIn = (password: string) => page(server, 'POST', '/session', { body: { email: BOSS, password } })
const boss = async () => (await server.store().users.findByEmail(BOSS))!
const tokenOf = (url: string) => /=([0-9A-Za-z]{40})$/.exec(url)![1]!
const ownRole = { name: 'Mallory', mode: 'live', permissions: ['send'] }

/** An operator invites the boss for a tenant, which accepts with the link that was passed on → its cookie. */
async function takeFirst(): Promise<string> {
  const invitation = { email: BOSS, role: 'developer' }
  const invited = await ask(operator, 'POST', '/v1/invitations', invitation, server.organizationId)
  expect((await accept(tokenOf(invited.body.url), STOLEN)).status).toBe(200)
  await remote.received(1)
  return (await signIn(STOLEN)).headers.get('set-cookie')!.split(';', 1)[0]!
}

// threat: account-taken-first
test('an operator makes the boss operator: the tenant who took the address first gets nothing', async () => {
  const tenant = await takeFirst()
  const domain = (await server.read('/v1/domains')).data[0].id
  const key = await ask(tenant, 'POST', '/v1/api-keys', { ...ownRole, domain_id: domain }, server.organizationId)
  expect(key.status).toBe(201)
  const { id } = await boss()
  const granted = await ask(operator, 'PATCH', `/v1/users/${id}`, { is_operator: true })
  expect(granted.body).toMatchObject({
    is_operator: false,
    email_verified_at: null,
    awaiting: { is_operator: true, roles: [] },
  })
  expect((await ask(tenant, 'GET', '/session')).status).toBe(401)
  expect((await signIn(STOLEN)).status).toBe(401)
  // Its keys are those of the organization that invited, and know nothing of the new rights.
  expect((await server.store().apiKeys.get(key.body.id))?.revokedAt).toBeNull()
  expect(
    (await server.ask('GET', '/v1/organizations', undefined, { authorization: `Bearer ${key.body.key}` })).status,
  ).toBe(403)

  // A link that the operator is shown proves nothing; the mailed one does.
  const { body } = await ask(operator, 'POST', `/v1/users/${id}/reset`, {})
  expect((await reset(tokenOf(body.url), 'a password of somebody')).status).toBe(200)
  expect(await boss()).toMatchObject({ isOperator: false, emailVerifiedAt: null })
  await remote.received(2)
  await forgot(server, BOSS)
  const mails = await remote.received(3)
  expect((await reset(tokenIn(mails[2]!, 'reset'), 'the password of the boss')).status).toBe(200)
  expect(await boss()).toMatchObject({ isOperator: true, emailVerifiedAt: expect.any(Number) })
  expect((await signIn('a password of somebody')).status).toBe(401)
  expect((await signIn('the password of the boss')).status).toBe(201)
})

test('a role in another organization waits too, and its owner can take it back', async () => {
  const tenant = await takeFirst()
  const { id } = await boss()
  const other = (await ask(operator, 'POST', '/v1/organizations', { name: 'Other' })).body.id
  const granted = await ask(operator, 'PATCH', `/v1/users/${id}`, { role: 'admin' }, other)
  expect(granted.body).toMatchObject({ awaiting: { roles: [{ organization_id: other, role: 'admin' }] } })
  expect((await ask(tenant, 'GET', '/v1/messages', undefined, server.organizationId)).status).toBe(401)
  await addUser(server, 'owner@other.remote.example', { roles: { [other]: 'owner' } })
  const owner = await cookieOf(server, 'owner@other.remote.example')
  expect((await ask(owner, 'DELETE', `/v1/users/${id}`, undefined, other)).status).toBe(200)
  expect((await boss()).awaiting.roles).toEqual({})
})

test('an invitation of another organization: the shown link is refused, the mailed one gives the account away', async () => {
  const tenant = await takeFirst()
  const other = (await ask(operator, 'POST', '/v1/organizations', { name: 'Other' })).body.id
  const { body } = await ask(operator, 'POST', '/v1/invitations', { email: BOSS, role: 'owner' }, other)
  expect((await accept(tokenOf(body.url), STOLEN)).status).toBe(409)
  expect((await boss()).roles[other]).toBeUndefined()
  const mails = await remote.received(2)
  expect((await accept(tokenIn(mails[1]!, 'invitation'), 'the password of the boss')).status).toBe(200)
  expect((await boss()).roles).toMatchObject({ [other]: 'owner' })
  expect((await ask(tenant, 'GET', '/session')).status).toBe(401)
  expect((await signIn(STOLEN)).status).toBe(401)
  expect((await signIn('the password of the boss')).status).toBe(201)
})

test('an owner who sets a role again ends nothing of a user who also belongs to others', async () => {
  await takeFirst()
  const { id } = await boss()
  const other = (await ask(operator, 'POST', '/v1/organizations', { name: 'Other' })).body.id
  await server.store().users.setRole(id, other, 'viewer', true)
  await addUser(server, 'owner@other.remote.example', { roles: { [other]: 'owner' } })
  const owner = await cookieOf(server, 'owner@other.remote.example')
  for (const role of ['viewer', 'owner'])
    expect((await ask(owner, 'PATCH', `/v1/users/${id}`, { role }, other)).status).toBe(200)
  expect(await server.store().users.cleared(0)).toEqual([])
  expect((await signIn(STOLEN)).status).toBe(201)
  expect((await boss()).awaiting.roles).toEqual({ [other]: 'owner' })
})

test('a second factor of somebody else does not lock out whoever reads the mail of the address', async () => {
  const tenant = await takeFirst()
  const begun = await ask(tenant, 'POST', '/session/two-step', { password: STOLEN })
  const secret = (await server.store().factors.totp((await boss()).id))!.secret
  const code = codeOfStep(secret, Math.floor(server.clock.now() / 30_000))
  expect([begun.status, (await ask(tenant, 'POST', '/session/two-step/enable', { code })).status]).toEqual([201, 200])
  await forgot(server, BOSS)
  const token = tokenIn((await remote.received(2))[1]!, 'reset')
  const asked = await reset(token, PASSWORD)
  expect([asked.status, asked.body.error.details.factors]).toMatchObject([409, [{ kind: 'app' }]])
  expect((await reset(token, PASSWORD, 'remove')).status).toBe(200)
  expect((await signIn(PASSWORD)).status).toBe(201)
})

test('a mailbox alone does not remove a second factor that has been there for long', async () => {
  const id = await addUser(server, BOSS, { roles: { [server.organizationId]: 'viewer' } })
  const { factors } = server.store()
  const before = server.clock.now() - 8 * DAY
  await factors.beginTotp(id, new Uint8Array(20), before)
  await factors.enableTotp(id, { step: 1, begunAt: before, recoveryHashes: [], now: before }, 'none')
  await forgot(server, BOSS)
  const token = tokenIn((await remote.received(1))[0]!, 'reset')
  expect((await reset(token, 'an entirely new one', 'remove')).status).toBe(200)
  expect((await signIn('an entirely new one')).body).toMatchObject({ two_step: expect.anything() })
})
