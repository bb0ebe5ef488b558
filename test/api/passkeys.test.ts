import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { UNLIMITED_PLAN } from '../../src/model/organization.ts'
import type { Store } from '../../src/storage/store.ts'
import { type Backend, postgresBackend } from '../storage/backends.ts'
import { type Answered, createTestApi, type TestApi } from '../support/api.ts'
import { type Change, createAuthenticator } from '../support/authenticator.ts'
import { cheapHash } from '../support/password-hash.ts'
import { describeWithPostgres } from '../support/postgres.ts'
import { VERIFIED } from '../support/verified.ts'

/** Passkeys: registration, sign-in, and every answer of a device or page that is not the expected one. */

const PASSWORD = 'correct horse battery'
const ORIGIN = 'http://localhost'
const MINUTE = 60_000

let made: TestApi
let store: Store

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  made.ask('POST', path, {
    key: null,
    body,
    headers: { 'x-operator': '1', host: 'localhost', origin: ORIGIN, ...headers },
  })
const cookieOf = ({ headers }: Answered) => ({ cookie: headers.get('set-cookie')!.split(';', 1)[0]! })
const signIn = async (email: string) => cookieOf(await post('/session', { email, password: PASSWORD }))
const factors = async (cookie: Record<string, string>) =>
  (await made.ask('GET', '/session/factors', { key: null, headers: cookie })).body

let hash: string | undefined
async function addUser(name: string) {
  hash ??= await cheapHash(PASSWORD)
  const id = made.mintId('usr')
  const user = { id, email: `${name}@a.example`, name, isOperator: false, roles: {}, createdAt: 0, disabledAt: null }
  await store.users.create({ ...user, lastSeenAt: null, ...VERIFIED }, hash)
  return { id, email: user.email, cookie: await signIn(user.email) }
}

/** Registers a passkey of a new device → the device and the response. */
async function register(cookie: Record<string, string>, credentialId = 'first', change: Change = {}) {
  const device = createAuthenticator(ORIGIN, credentialId)
  const { body: options } = await post('/session/passkeys/options', { password: PASSWORD }, cookie)
  const credential = device.create(options, change)
  const added = await post('/session/passkeys', { name: 'Phone', credential }, cookie)
  return { device, options, credential, added }
}
const optionsToSignIn = async () => (await post('/session/passkey/options', {})).body

function passkeyTests(): void {
  test('a passkey is registered and signs its user in without an address', async () => {
    const { id, cookie } = await addUser('ann')
    const { device, options, added } = await register(cookie)
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    })
    expect(added.status).toBe(201)
    await made.clock.advance(MINUTE)
    const asked = await optionsToSignIn()
    expect(asked).toMatchObject({ rpId: 'localhost', userVerification: 'required', allowCredentials: [] })
    const opened = await post('/session/passkey', device.get(asked))
    expect([opened.status, opened.body.user.id]).toEqual([201, id])
    expect((await factors(cookieOf(opened))).passkeys).toMatchObject([
      { id: added.body.id, name: 'Phone', last_used_at: new Date(made.clock.now()).toISOString() },
    ])
  })

  test('it is both factors: no code is asked for', async () => {
    const { id, cookie } = await addUser('ann')
    const { device } = await register(cookie)
    await store.factors.beginTotp(id, new Uint8Array(20), 0)
    await store.factors.enableTotp(id, { step: 1, begunAt: 0, recoveryHashes: [], now: 0 }, '')
    expect((await post('/session', { email: 'ann@a.example', password: PASSWORD })).body.two_step).toBeDefined()
    expect((await post('/session/passkey', device.get(await optionsToSignIn()))).status).toBe(201)
  })

  // threat: sign-in-guessing
  test('an answer works once, within five minutes, and for its own challenge', async () => {
    const { cookie } = await addUser('ann')
    const { device } = await register(cookie)
    const answer = device.get(await optionsToSignIn())
    expect((await post('/session/passkey', answer)).status).toBe(201)
    expect((await post('/session/passkey', answer)).status).toBe(401)
    const late = device.get(await optionsToSignIn())
    await made.clock.advance(5 * MINUTE)
    expect((await post('/session/passkey', late)).status).toBe(401)
    expect((await post('/session/passkey', device.get({ challenge: 'A'.repeat(44), rpId: 'localhost' }))).status).toBe(
      401,
    )
    const at = device.get(await optionsToSignIn())
    const both = await Promise.all([post('/session/passkey', at), post('/session/passkey', at)])
    expect(both.map((each) => each.status).toSorted()).toEqual([201, 401])
  })

  // threat: sign-in-guessing
  test('every wrong answer gets the same refusal', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const { device } = await register(ann.cookie)
    await register(bob.cookie, 'second')
    const stranger = createAuthenticator(ORIGIN, 'first')
    const wrong: Change[] = [
      { origin: 'https://evil.example' },
      { host: 'evil.example' },
      { type: 'webauthn.create' },
      { flags: 1 }, // present, not verified
      { flags: 4 },
      { counter: 0 },
      { userHandle: Buffer.from(bob.id).toString('base64url') },
    ]
    expect((await post('/session/passkey', device.get(await optionsToSignIn()))).status).toBe(201)
    const answers: Answered[] = []
    const send = async (change: object) => {
      await made.clock.advance(MINUTE)
      answers.push(await post('/session/passkey', { ...device.get(await optionsToSignIn()), ...change }))
    }
    for (const change of wrong) {
      await made.clock.advance(MINUTE)
      answers.push(await post('/session/passkey', device.get(await optionsToSignIn(), change)))
    }
    answers.push(await post('/session/passkey', stranger.get(await optionsToSignIn())))
    await send({ id: Buffer.from('second').toString('base64url') })
    await send({ id: Buffer.from('none').toString('base64url') })
    await send({ signature: 'AAAA' })
    await send({ authenticator_data: 'AAAA' })
    await send({ client_data: 'AAAA' })
    await send({ client_data: Buffer.from('null').toString('base64url') })
    for (const { status, body } of answers) {
      expect([status, body.error.message]).toEqual([401, answers[0]!.body.error.message])
    }
    expect((await post('/session/passkey', device.get(await optionsToSignIn()))).status).toBe(201)
  })

  test('fields are bounded', async () => {
    const { device } = await register((await addUser('ann')).cookie)
    const answer = device.get(await optionsToSignIn())
    for (const change of [
      { id: 'A'.repeat(1_365) },
      { client_data: 'A'.repeat(2_001) },
      { authenticator_data: 'A'.repeat(2_001) },
      { signature: 'A'.repeat(2_001) },
      { user_handle: 'A'.repeat(101) },
      { signature: 'not base64url!' },
      { more: 1 },
    ]) {
      expect((await post('/session/passkey', { ...answer, ...change })).status).toBe(400)
    }
    expect((await post('/session/passkey', { ...answer, signature: 'A'.repeat(20_000) })).status).toBe(413)
    const deep = Buffer.alloc(4_400, 0x81).toString('base64url')
    expect((await post('/session/passkey', { ...answer, authenticator_data: deep.slice(0, 2_000) })).status).toBe(401)
  })

  test('a registration is checked like a sign-in, and nothing is stored', async () => {
    const { cookie } = await addUser('ann')
    let count = 0
    for (const change of [
      { origin: 'https://evil.example' },
      { host: 'evil.example' },
      { type: 'webauthn.get' },
      { flags: 1 },
    ]) {
      await made.clock.advance(MINUTE)
      expect((await register(cookie, `c${++count}`, change)).added.status).toBe(422)
    }
    await made.clock.advance(MINUTE)
    const { credential, added } = await register(cookie, 'good')
    expect(added.status).toBe(201)
    expect((await post('/session/passkeys', { name: 'Again', credential }, cookie)).status).toBe(422)
    await made.clock.advance(MINUTE)
    expect((await register(cookie, 'good')).added.status).toBe(409)
    const deep = { ...credential, attestation: Buffer.alloc(4_000, 0x81).toString('base64url') }
    expect((await post('/session/passkeys', { name: 'Deep', credential: deep }, cookie)).status).toBe(422)
    expect((await factors(cookie)).passkeys).toHaveLength(1)
  })

  test('a challenge for a new passkey is for its user, and not for a sign-in', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const device = createAuthenticator(ORIGIN)
    const { body: options } = await post('/session/passkeys/options', { password: PASSWORD }, ann.cookie)
    const credential = device.create(options)
    expect((await post('/session/passkeys', { name: 'Mine', credential }, bob.cookie)).status).toBe(422)
    expect((await post('/session/passkeys', { name: 'Mine', credential }, ann.cookie)).status).toBe(201)
    const { body: again } = await post('/session/passkeys/options', { password: PASSWORD }, ann.cookie)
    expect(again.excludeCredentials).toMatchObject([{ id: credential.id, transports: ['internal'] }])
    expect((await post('/session/passkey', device.get({ ...again, rpId: 'localhost' }))).status).toBe(401)
  })

  // threat: stolen-session
  test('the holder of a session alone adds and removes none', async () => {
    const { cookie } = await addUser('ann')
    const { added } = await register(cookie)
    for (const given of [{}, { password: 'a wrong one' }, { code: '123456' }]) {
      expect((await post('/session/passkeys/options', given, cookie)).status).toBe(400)
      expect((await post('/session/passkeys/remove', { id: added.body.id, ...given }, cookie)).status).toBe(400)
      await made.clock.advance(MINUTE)
    }
    expect((await factors(cookie)).passkeys).toHaveLength(1)
  })

  test('a removed passkey signs nobody in, and other sessions end', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const { device, added } = await register(ann.cookie)
    const other = cookieOf(await post('/session/passkey', device.get(await optionsToSignIn())))
    const remove = (cookie: Record<string, string>) =>
      post('/session/passkeys/remove', { id: added.body.id, password: PASSWORD }, cookie)
    expect((await remove(bob.cookie)).status).toBe(404)
    expect((await remove(ann.cookie)).status).toBe(200)
    expect((await made.ask('GET', '/session', { key: null, headers: other })).status).toBe(401)
    expect((await post('/session/passkey', device.get(await optionsToSignIn()))).status).toBe(401)
  })

  test('a disabled user is refused', async () => {
    const { id, cookie } = await addUser('ann')
    const { device } = await register(cookie)
    await store.users.update(id, { disabledAt: 1 })
    expect((await post('/session/passkey', device.get(await optionsToSignIn()))).status).toBe(401)
  })

  // threat: cross-site-requests
  test('requests of other pages, and those without an origin, are refused', async () => {
    const { device } = await register((await addUser('ann')).cookie)
    const answer = device.get(await optionsToSignIn())
    const others: Record<string, string>[] = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]
    for (const headers of others) {
      expect((await post('/session/passkey/options', {}, headers)).status).toBe(403)
      expect((await post('/session/passkey', answer, headers)).status).toBe(403)
    }
    const headers = { 'x-operator': '1', host: 'localhost' }
    expect((await made.ask('POST', '/session/passkey', { key: null, body: answer, headers })).status).toBe(403)
  })
}

describe('passkeys on SQLite', () => {
  beforeEach(async () => {
    made = await createTestApi()
    store = made.store
  })
  afterEach(() => made.close())
  passkeyTests()

  test('under the public host name, pages of other ports and schemes are refused', async () => {
    await made.close()
    const origin = {
      hostNames: [],
      publicUrl: () => 'https://mail.example.com',
      isBehindProxy: false,
      isTrusted: () => false,
    }
    made = await createTestApi({ origin })
    const ask = (page: string, host: string) => post('/session/passkey/options', {}, { origin: page, host })
    expect((await ask('https://mail.example.com', 'mail.example.com')).body.rpId).toBe('mail.example.com')
    expect((await ask('https://mail.example.com:8443', 'mail.example.com:8443')).status).toBe(403)
    expect((await ask('http://mail.example.com', 'mail.example.com')).status).toBe(403)
    expect((await ask('http://localhost:8025', 'localhost:8025')).body.rpId).toBe('localhost')
  })

  // threat: sign-in-guessing
  test('challenges are limited for each address and each network', async () => {
    const ask = async (address: string) =>
      (await post('/session/passkey/options', {}, { 'x-forwarded-for': address })).status
    const statuses = []
    for (let count = 0; count < 11; count++) statuses.push(await ask('192.0.2.1'))
    expect(statuses).toEqual([...Array(10).fill(201), 429])
    let stored = 0
    while ((await ask(`198.51.100.${stored % 250}`)) === 201 && stored < 1_000) stored++
    expect([stored, await ask('203.0.113.1')]).toEqual([60, 201])
  })
})

describeWithPostgres('passkeys', () => {
  const backend: Backend = postgresBackend()
  let opened: Awaited<ReturnType<Backend['open']>>
  describe('on PostgreSQL', () => {
    beforeEach(async () => {
      opened = await backend.open(UNLIMITED_PLAN)
      store = opened.store
      made = await createTestApi({ wrapStore: () => store })
    })
    afterEach(async () => {
      await made.close()
      await opened.remove()
    })
    afterAll(() => backend.stop?.())
    passkeyTests()
  })
})
