import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { UNLIMITED_PLAN } from '../../src/model/organization.ts'
import type { Store } from '../../src/storage/store.ts'
import { codeOfStep } from '../../src/web/api/sign-in/totp.ts'
import { type Backend, postgresBackend } from '../storage/backends.ts'
import { type Answered, createTestApi, type TestApi } from '../support/api.ts'
import { cheapHash } from '../support/password-hash.ts'
import { describeWithPostgres } from '../support/postgres.ts'
import { VERIFIED } from '../support/verified.ts'

/** Two-step sign-in with codes of an app and recovery codes, over HTTP and on both stores. */

const PASSWORD = 'correct horse battery'
const MINUTE = 60_000
const ANN = 'ann@a.example'

let made: TestApi
let store: Store

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  made.ask('POST', path, { key: null, body, headers: { 'x-operator': '1', ...headers } })
const cookieOf = ({ headers }: Answered) => ({ cookie: headers.get('set-cookie')!.split(';', 1)[0]! })
const signIn = (email = ANN, password = PASSWORD) => post('/session', { email, password })
const sendCode = (token: string, code: string) => post('/session/code', { token, code })
const status = async (cookie: Record<string, string>) =>
  (await made.ask('GET', '/session', { key: null, headers: cookie })).status
const tokenOf = async (answer = signIn()) => (await answer).body.two_step.token as string
const step = () => Math.floor(made.clock.now() / 30_000)

let hash: string | undefined
async function addUser(email: string): Promise<string> {
  hash ??= await cheapHash(PASSWORD)
  const id = made.mintId('usr')
  const user = { id, email, name: email, isOperator: false, roles: {}, createdAt: 0, disabledAt: null }
  await store.users.create({ ...user, lastSeenAt: null, ...VERIFIED }, hash)
  return id
}

/** A user with two-step sign-in, its secret, recovery codes, and the session that set it up. The code of the present time
 *  step is used. */
async function addSecured(email = ANN) {
  const id = await addUser(email)
  const cookie = cookieOf(await signIn(email))
  const begun = await post('/session/two-step', { password: PASSWORD }, { ...cookie, host: 'localhost' })
  expect(begun.status).toBe(201)
  const { secret } = (await store.factors.totp(id))!
  const code = (steps = 0) => codeOfStep(secret, step() + steps)
  const { body } = await post('/session/two-step/enable', { code: code() }, cookie)
  return { id, cookie, code, begun: begun.body, recovery: body.recovery_codes as string[] }
}

const audited = async () => {
  const all = { organizationId: null, actorId: null, action: null, resourceId: null }
  const range = { createdAfter: null, createdBefore: null }
  const { records } = await store.auditLog.list({ ...all, ...range }, { limit: 50, after: null })
  return records.map(({ action, fields }) => [action, ...fields].join(' ')).toReversed()
}

function twoStepTests(): void {
  test('is on after a first code, and then a password asks for one', async () => {
    const { id, cookie, code, begun, recovery } = await addSecured()
    expect(begun.uri).toMatch(/^otpauth:\/\/totp\/Postrider%20localhost:ann%40a\.example\?secret=[A-Z2-7]{32}&issuer=/)
    expect(recovery).toHaveLength(10)
    for (const each of recovery) expect(each).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
    expect(await status(cookie)).toBe(200)

    await made.clock.advance(30_000)
    const asked = await signIn()
    expect([asked.status, asked.headers.get('set-cookie')]).toEqual([200, null])
    const opened = await sendCode(asked.body.two_step.token, code())
    expect([opened.status, opened.body.user.id]).toEqual([201, id])
    expect(await audited()).toEqual([
      'sessions_create email password',
      'two_step_begin',
      'two_step_enable',
      'sessions_create code',
    ])
  })

  test('turning it on signs out other sessions, which had a password only', async () => {
    await addUser(ANN)
    const [own, other] = [cookieOf(await signIn()), cookieOf(await signIn())]
    await post('/session/two-step', { password: PASSWORD }, own)
    const { secret } = (await store.factors.totp((await store.users.findByEmail(ANN))!.id))!
    expect((await post('/session/two-step/enable', { code: '000000' }, own)).status).toBe(400)
    expect((await signIn()).status).toBe(201)
    expect((await post('/session/two-step/enable', { code: codeOfStep(secret, step()) }, own)).status).toBe(200)
    expect([await status(own), await status(other)]).toEqual([200, 401])
    expect((await post('/session/two-step', { password: PASSWORD }, own)).status).toBe(409)
  })

  // threat: sign-in-guessing
  test('a code works once: not again in another sign-in, nor at once in two', async () => {
    const { code } = await addSecured()
    expect((await sendCode(await tokenOf(), code())).status).toBe(401)
    await made.clock.advance(30_000)
    const tokens = [await tokenOf(), await tokenOf()]
    const answers = await Promise.all(tokens.map((token) => sendCode(token, code())))
    expect(answers.map((each) => each.status).toSorted()).toEqual([201, 401])
    // The code of the step before is refused too, the one of the next step is not.
    const left = tokens[answers.findIndex((each) => each.status === 401)]!
    expect((await sendCode(left, code(-1))).status).toBe(401)
    expect((await sendCode(left, code(1))).status).toBe(201)
    expect((await sendCode(left, code(1))).status).toBe(401)
  })

  // threat: sign-in-guessing
  test('a sign-in allows five codes, an account ten a minute and twenty an hour, whatever the address', async () => {
    const { code } = await addSecured()
    const wrong = '000000'
    let from = 0
    const send = (token: string, given: string) =>
      post('/session/code', { token, code: given }, { 'x-forwarded-for': `192.0.2.${++from}` })
    const token = await tokenOf()
    for (let count = 0; count < 5; count++) expect((await send(token, wrong)).status).toBe(401)
    const sixth = await send(token, code(1))
    expect([sixth.status, sixth.body.error.message]).toEqual([401, expect.stringContaining('Start again')])
    await made.clock.advance(10 * MINUTE)
    const statuses: number[] = []
    for (let count = 0; count < 3; count++) {
      await made.clock.advance(MINUTE)
      const again = await tokenOf(
        post('/session', { email: ANN, password: PASSWORD }, { 'x-forwarded-for': `198.51.100.${count}` }),
      )
      for (let tries = 0; tries < 5; tries++) statuses.push((await send(again, wrong)).status)
    }
    expect(statuses.filter((each) => each === 401).length).toBeLessThanOrEqual(20)
    await made.clock.advance(MINUTE)
    const last = await tokenOf(
      post('/session', { email: ANN, password: PASSWORD }, { 'x-forwarded-for': '203.0.113.1' }),
    )
    let limited = 0
    for (let tries = 0; tries < 5; tries++) if ((await send(last, wrong)).status === 429) limited++
    expect(limited).toBeGreaterThan(0)
  })

  test('a sign-in that waits for a code ends after five minutes', async () => {
    const { code } = await addSecured()
    const token = await tokenOf()
    await made.clock.advance(5 * MINUTE - 1)
    const kept = await tokenOf()
    expect((await sendCode(token, '111111')).status).toBe(401)
    await made.clock.advance(1)
    const { body } = await sendCode(token, code())
    expect(body.error.message).toContain('expired')
    expect((await sendCode(kept, code())).status).toBe(201)
  })

  test('a token is for its own user, and no link or session', async () => {
    const [ann, bob] = [await addSecured(), await addSecured('bob@a.example')]
    await made.clock.advance(30_000)
    const token = await tokenOf()
    expect((await sendCode(token, bob.code())).status).toBe(401)
    expect((await sendCode(token, bob.recovery[0]!)).status).toBe(401)
    expect((await post('/session', { token })).status).toBe(401)
    expect((await post('/session/reset', { token, password: 'another long one' })).status).toBe(401)
    expect(await status({ cookie: `postrider_session=${token}` })).toBe(401)
    expect((await sendCode(token, ann.code())).body.user.id).toBe(ann.id)
  })

  test('a recovery code signs in once, however it is typed', async () => {
    const { cookie, recovery } = await addSecured()
    const [first = '', second = ''] = recovery
    expect((await sendCode(await tokenOf(), first)).status).toBe(201)
    expect((await sendCode(await tokenOf(), first)).status).toBe(401)
    expect((await sendCode(await tokenOf(), ` ${second.toUpperCase().replaceAll('-', ' ')}`)).status).toBe(201)
    const shown = await made.ask('GET', '/session/factors', { key: null, headers: cookie })
    expect(shown.body).toEqual({ has_password: true, two_step: true, recovery_codes_left: 8, passkeys: [] })
    expect(await audited()).toContain('sessions_create recovery_code')
  })

  test('new recovery codes replace the old ones and end other sessions', async () => {
    const { cookie, recovery } = await addSecured()
    const other = cookieOf(await sendCode(await tokenOf(), recovery[0]!))
    expect((await post('/session/two-step/recovery-codes', {}, cookie)).status).toBe(400)
    const { body } = await post('/session/two-step/recovery-codes', { password: PASSWORD }, cookie)
    expect([await status(cookie), await status(other)]).toEqual([200, 401])
    await made.clock.advance(MINUTE)
    expect((await sendCode(await tokenOf(), recovery[1]!)).status).toBe(401)
    expect((await sendCode(await tokenOf(), body.recovery_codes[9])).status).toBe(201)
  })

  // threat: stolen-session
  test('the holder of a session alone changes nothing', async () => {
    const { cookie, code, recovery } = await addSecured()
    for (const path of ['/session/two-step', '/session/two-step/disable', '/session/two-step/recovery-codes']) {
      for (const given of [{}, { password: 'a wrong one' }, { code: '123456' }, { code: code() }]) {
        const { status, body } = await post(path, given, cookie)
        expect([path, status, ['password', 'code'].includes(body.error.field)]).toEqual([path, 400, true])
        await made.clock.advance(6 * MINUTE)
      }
    }
    expect((await post('/session/two-step/disable', { code: recovery[0]! }, cookie)).status).toBe(200)
    expect((await signIn()).status).toBe(201)
  })

  test('it is turned off with the password or a code, which ends other sessions', async () => {
    const { id, cookie, code, recovery } = await addSecured()
    const other = cookieOf(await sendCode(await tokenOf(), recovery[0]!))
    await made.clock.advance(30_000)
    expect((await post('/session/two-step/disable', { code: code() }, cookie)).status).toBe(200)
    expect([await status(cookie), await status(other)]).toEqual([200, 401])
    expect([await store.factors.totp(id), await store.factors.recoveryCodesLeft(id)]).toEqual([null, 0])
    expect((await signIn()).status).toBe(201)
    expect(await audited()).toContain('two_step_disable')
  })

  test('a new password, disabling and removal end a sign-in that waits for a code', async () => {
    const { id, code, recovery } = await addSecured()
    const first = await tokenOf()
    await store.users.setPassword(id, hash!, null)
    expect((await sendCode(first, code(1))).status).toBe(401)
    const second = await tokenOf()
    await store.users.update(id, { disabledAt: 1 })
    expect((await sendCode(second, code(1))).status).toBe(401)
    await store.users.update(id, { disabledAt: null })
    const third = await tokenOf()
    await store.users.remove(id)
    expect((await sendCode(third, recovery[0]!)).status).toBe(401)
  })

  // threat: sign-in-guessing
  test('nothing differs before the password is right', async () => {
    await addSecured()
    await addUser('bob@a.example')
    const answers = [await signIn(ANN, 'wrong'), await signIn('bob@a.example', 'wrong'), await signIn('none@a.example')]
    for (const { status, text } of answers) {
      expect([status, JSON.parse(text).error.message]).toEqual([401, 'Wrong email address or password.'])
    }
  })

  // threat: cross-site-requests
  test('every change is accepted from our own page only', async () => {
    const { cookie } = await addSecured()
    for (const path of ['', '/enable', '/disable', '/recovery-codes']) {
      const url = `/session/two-step${path}`
      const body = { password: PASSWORD }
      expect((await made.ask('POST', url, { key: null, body, headers: cookie })).status).toBe(403)
      expect((await post(url, body, { ...cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
      expect((await post(url, body, { ...cookie, origin: 'https://evil.example' })).status).toBe(403)
      expect((await post(url, body)).status).toBe(401)
      expect((await post(url, { ...body, more: 1 }, cookie)).status).toBe(400)
    }
    expect((await sendCode('x'.repeat(201), '1')).status).toBe(400)
    expect((await sendCode('x', '1'.repeat(41))).status).toBe(400)
    expect((await post('/session/code', { token: 'x', code: '1' }, { origin: 'https://evil.example' })).status).toBe(
      403,
    )
  })
}

describe('two-step sign-in on SQLite', () => {
  beforeEach(async () => {
    made = await createTestApi()
    store = made.store
  })
  afterEach(() => made.close())
  twoStepTests()

  test('a user without a password confirms by a recent sign-in', async () => {
    const cookie = await made.signIn()
    expect((await post('/session/two-step', {}, cookie)).status).toBe(201)
    await made.clock.advance(10 * MINUTE)
    expect((await post('/session/two-step', {}, cookie)).status).toBe(403)
    expect((await post('/session/password', { password: PASSWORD }, cookie)).status).toBe(403)
    expect((await post('/session/password', { password: PASSWORD }, await made.signIn())).status).toBe(200)
  })
})

describeWithPostgres('two-step sign-in', () => {
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
    twoStepTests()
  })
})
