import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'
import { addUser, MAIL_FROM, PASSWORD, page } from '../support/user-mail.ts'

/** Rights that one node takes away, used at the other: nothing of them may be kept there for longer than a second. */

const BOSS = 'boss@corp.remote.example'
const STOLEN = 'the password of a tenant'

describeWithPostgres('on two nodes', () => {
  let postgres: TestPostgres
  let remote: RemoteMx
  let server: TestServer
  let other: Awaited<ReturnType<TestServer['addNode']>>
  let operator: string
  let users = 0
  beforeAll(async () => {
    postgres = await startPostgres()
    remote = await startRemoteMx()
    const url = await postgres.createDatabase('accounts')
    const config = { users: { mail_from: MAIL_FROM }, database: { url } }
    server = await startTestServer({ remote, config })
    other = await server.addNode({ users: config.users, database: config.database })
    await addUser(server, 'olivia@operator.remote.example', { isOperator: true })
    operator = await signedIn(here, 'olivia@operator.remote.example')
  })
  afterAll(async () => {
    await server.close()
    await remote.stop()
    await postgres.stop()
  })
  // All attempts to sign in come from one address.
  beforeEach(() => server.clock.advance(60_000))

  type Node = Parameters<typeof page>[0]
  const here: Node = { running: () => server.running() }
  const there: Node = { running: () => other.server }
  const signIn = (node: Node, email: string, password = PASSWORD) =>
    page(node, 'POST', '/session', { body: { email, password } })
  const signedIn = async (node: Node, email: string) => {
    const { status, headers, body } = await signIn(node, email)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return headers.get('set-cookie')!.split(';', 1)[0]!
  }
  const ask = (node: Node, cookie: string, method: string, path: string, body?: Json) =>
    page(node, method, path, {
      headers: { cookie, 'x-organization': server.organizationId },
      ...(body !== undefined && { body }),
    })

  /** An admin who has a session and a key, both used at the other node, which so has read both. */
  async function admin() {
    const email = `admin${++users}@shop.remote.example`
    const id = await addUser(server, email, { roles: { [server.organizationId]: 'admin' } })
    const cookie = await signedIn(there, email)
    const domain = (await server.read('/v1/domains')).data[0].id
    const rights = { mode: 'live', permissions: ['manage'], domain_id: domain }
    const key = (await ask(there, cookie, 'POST', '/v1/api-keys', { name: email, ...rights })).body
    const uses = {
      bySession: async () => (await ask(there, cookie, 'GET', '/v1/api-keys')).status,
      byKey: async () => {
        const authorization = `Bearer ${key.key}`
        return (await other.ask('GET', '/v1/api-keys', undefined, { authorization })).status
      },
    }
    expect([await uses.bySession(), await uses.byKey()]).toEqual([200, 200])
    return { id, keyId: key.id, ...uses }
  }

  const taken: [what: string, take: (user: { id: string }) => Promise<Json>, session: number, key: number][] = [
    ['lowers the role of', ({ id }) => ask(here, operator, 'PATCH', `/v1/users/${id}`, { role: 'viewer' }), 403, 403],
    ['disables', ({ id }) => ask(here, operator, 'PATCH', `/v1/users/${id}`, { disabled: true }), 401, 403],
    ['removes', ({ id }) => ask(here, operator, 'DELETE', `/v1/users/${id}`), 401, 401],
  ]
  for (const [what, take, ...refused] of taken) {
    // threat: stale-rights
    test(`one node ${what} a user: the other refuses the session at once, and the key`, async () => {
      const user = await admin()
      expect((await take(user)).status).toBe(200)
      const session = await user.bySession()
      await server.clock.advance(1_000)
      expect([session, await user.byKey()]).toEqual(refused)
    })
  }

  // threat: revoked-keys
  test('one node revokes a key: the other refuses it when the request has its answer', async () => {
    const { keyId, byKey } = await admin()
    expect((await ask(here, operator, 'DELETE', `/v1/api-keys/${keyId}`)).status).toBe(200)
    expect(await byKey()).toBe(401)
  })

  // threat: account-taken-first
  test('one node makes the boss operator: the tenant who took the address first is nobody at the other', async () => {
    const invited = await ask(here, operator, 'POST', '/v1/invitations', { email: BOSS, role: 'developer' })
    const token = /=([0-9A-Za-z]{40})$/.exec(invited.body.url)![1]!
    const accepted = { token, name: 'Boss', password: STOLEN }
    expect((await page(there, 'POST', '/session/invitation', { body: accepted })).status).toBe(200)
    const tenant = (await signIn(there, BOSS, STOLEN)).headers.get('set-cookie')!.split(';', 1)[0]!
    const { id } = (await server.store().users.findByEmail(BOSS))!
    const granted = await ask(here, operator, 'PATCH', `/v1/users/${id}`, { is_operator: true })
    expect(granted.body).toMatchObject({ is_operator: false, awaiting: { is_operator: true } })
    expect((await ask(there, tenant, 'GET', '/session')).status).toBe(401)
    expect((await signIn(there, BOSS, STOLEN)).status).toBe(401)
  })
})
