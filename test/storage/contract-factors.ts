import { expect } from 'bun:test'
import { MAX_CODE_TRIES, MAX_PASSKEYS, type Passkey, type SignInChallenge } from '../../src/model/factors.ts'
import type { Session } from '../../src/model/session.ts'
import { FIRST_USER } from '../../src/model/user.ts'
import type { Store } from '../../src/storage/store.ts'
import { VERIFIED } from '../support/verified.ts'
import type { Holds } from './contract.ts'
import { START } from './records.ts'

const SECRET = new Uint8Array([1, 2, 3])
const OTHER = 'usr_other'

const passkey = (number: number, change: Partial<Passkey> = {}): Passkey => ({
  id: `psk_${String(number).padStart(3, '0')}`,
  userId: FIRST_USER,
  credentialId: `credential-${number}`,
  publicKey: new Uint8Array([number]),
  counter: 0,
  transports: ['internal', 'hybrid'],
  name: `Key ${number}`,
  createdAt: START,
  lastUsedAt: null,
  ...change,
})
const session = (id: string, createdAt = START, userId = FIRST_USER): Session => ({
  id,
  userId,
  createdAt,
  lastSeenAt: createdAt,
  endsAt: createdAt + 1_000,
  ipAddress: null,
  userAgent: '',
})
const hash = (name: string) => new Uint8Array(Buffer.from(name.padEnd(32, '.')))
const challenge = (
  { factors }: Store,
  name: string,
  kind: SignInChallenge['kind'] = 'code',
  userId: string | null = FIRST_USER,
) => factors.addChallenge({ kind, userId, expiresAt: START + 100 }, hash(name), START)
const enable = async ({ factors }: Store, userId = FIRST_USER) => {
  await factors.beginTotp(userId, SECRET, START)
  const recoveryHashes = ['a', 'b'].map((name) => hash(userId + name))
  return factors.enableTotp(userId, { step: 5, begunAt: START, recoveryHashes, now: START }, 'ses_keep')
}
const isIn = async ({ sessions }: Store, id: string) => (await sessions.get(id)) !== null

export function factorPromises(holds: Holds): void {
  holds('an app counts from its first code on, and its secret is kept until it is turned off', async (store) => {
    const { factors } = store
    expect(await factors.totp(FIRST_USER)).toBeNull()
    const first = { step: 1, begunAt: START - 1, recoveryHashes: [], now: START }
    expect(await factors.enableTotp(FIRST_USER, first, '')).toBe(false)
    expect(await factors.beginTotp(FIRST_USER, new Uint8Array([9]), START - 1)).toBe('begun')
    expect(await factors.beginTotp(FIRST_USER, SECRET, START)).toBe('begun')
    expect(await factors.enableTotp(FIRST_USER, first, '')).toBe(false)
    const known = await factors.totp(FIRST_USER)
    expect([[...known!.secret], known!.isEnabled]).toEqual([[1, 2, 3], false])
    expect(await factors.useCode(FIRST_USER, { step: 9 })).toBe(false)
    expect([...(await factors.summaries([FIRST_USER]))]).toEqual([])
    await Promise.all([
      store.sessions.open(session('ses_keep'), hash('1')),
      store.sessions.open(session('ses_2'), hash('2')),
    ])
    await challenge(store, 'pending')
    expect(await enable(store)).toBe(true)
    expect(await Promise.all(['ses_keep', 'ses_2'].map((id) => isIn(store, id)))).toEqual([true, false])
    expect(await factors.challenge(hash('pending'), 'code', START)).toBeNull()
    expect(await factors.beginTotp(FIRST_USER, new Uint8Array([9]), START)).toBe('enabled')
    expect((await factors.totp(FIRST_USER))!.isEnabled).toBe(true)
    expect([...(await factors.summaries([FIRST_USER, OTHER]))]).toEqual([[FIRST_USER, { hasTotp: true, passkeys: 0 }]])
    await factors.disableTotp(FIRST_USER, 'ses_keep')
    expect([await factors.totp(FIRST_USER), await factors.recoveryCodesLeft(FIRST_USER)]).toEqual([null, 0])
  })

  holds('a time step is used once, and none before it; also at once', async (store) => {
    const { factors } = store
    await enable(store)
    const use = (step: number) => factors.useCode(FIRST_USER, { step })
    expect([await use(5), await use(4)]).toEqual([false, false])
    expect((await Promise.all([use(6), use(6), use(6)])).filter((each) => each)).toHaveLength(1)
    expect([await use(6), await use(7)]).toEqual([false, true])
    expect(await factors.useCode(OTHER, { step: 8 })).toBe(false)
  })

  holds('a recovery code is used once, by its user, until there are new ones', async (store) => {
    const { factors } = store
    await enable(store)
    const use = (name: string, userId = FIRST_USER) => factors.useCode(userId, { recoveryHash: hash(name) })
    const [first, second] = [`${FIRST_USER}a`, `${FIRST_USER}b`]
    expect(await use(first, OTHER)).toBe(false)
    expect((await Promise.all([use(first), use(first)])).filter((each) => each)).toHaveLength(1)
    expect(await factors.recoveryCodesLeft(FIRST_USER)).toBe(1)
    expect(await factors.replaceRecoveryCodes(FIRST_USER, [hash('new')], 'ses_keep')).toBe(true)
    expect([await use(second), await use('new'), await use('new')]).toEqual([false, true, false])
    expect(await factors.replaceRecoveryCodes(OTHER, [hash('x')], '')).toBe(false)
  })

  holds('a challenge is of one kind and user, ends, and has a few tries', async (store) => {
    const { factors } = store
    await challenge(store, 'code')
    await challenge(store, 'any', 'passkey', null)
    expect(await factors.challenge(hash('code'), 'code', START + 99)).toEqual({
      kind: 'code',
      userId: FIRST_USER,
      expiresAt: START + 100,
    })
    expect(await factors.challenge(hash('any'), 'passkey', START)).toMatchObject({ userId: null })
    expect(await factors.challenge(hash('code'), 'passkey', START)).toBeNull()
    expect(await factors.challenge(hash('code'), 'code', START + 100)).toBeNull()
    const tries = await Promise.all(Array.from({ length: 8 }, () => factors.countTry(hash('code'), START)))
    expect(tries.filter((each) => each)).toHaveLength(MAX_CODE_TRIES)
    expect(await factors.countTry(hash('any'), START + 100)).toBe(false)
    await factors.addChallenge({ kind: 'passkey', userId: null, expiresAt: START + 300 }, hash('late'), START + 200)
    expect(await factors.challenge(hash('code'), 'code', START)).toBeNull()
  })

  holds('a session opens with a code and its challenge, once', async (store) => {
    const { factors, sessions } = store
    await enable(store)
    await challenge(store, 'one')
    const proof = (step: number, name = 'one') => ({ kind: 'code', challengeHash: hash(name), code: { step } }) as const
    const open = (id: string, given: ReturnType<typeof proof>, at = START) =>
      sessions.openByProof(given, session(id, at), hash(id))
    expect(await open('ses_replay', proof(5))).toBe(false)
    expect(await open('ses_late', proof(6), START + 100)).toBe(false)
    expect(await open('ses_none', proof(6, 'none'))).toBe(false)
    expect(await sessions.openByProof(proof(6), session('ses_other', START, OTHER), hash('o'))).toBe(false)
    // Nothing of these used up the challenge or the step.
    const opened = await Promise.all([open('ses_a', proof(6)), open('ses_b', proof(6)), open('ses_c', proof(7))])
    expect(opened.filter((each) => each)).toHaveLength(1)
    expect(await sessions.list(START, { limit: 9, after: null })).toMatchObject({ records: [{ userId: FIRST_USER }] })
    await challenge(store, 'two')
    const recovery = {
      kind: 'code',
      challengeHash: hash('two'),
      code: { recoveryHash: hash(`${FIRST_USER}a`) },
    } as const
    expect(await sessions.openByProof(recovery, session('ses_d'), hash('d'))).toBe(true)
    expect(await factors.recoveryCodesLeft(FIRST_USER)).toBe(1)
  })

  holds('a session opens with a password that is still the same, while the user is enabled', async (store) => {
    const { sessions, users } = store
    const user = { id: OTHER, email: 'o@a.example', name: 'O', isOperator: false, roles: { org_a: 'viewer' } } as const
    await users.create({ ...user, createdAt: START, disabledAt: null, lastSeenAt: null, ...VERIFIED }, 'first')
    const open = (id: string, passwordHash: string) =>
      sessions.openByProof({ kind: 'password', passwordHash }, session(id, START, OTHER), hash(id))
    expect(await open('ses_1', 'first')).toBe(true)
    await users.setPassword(OTHER, 'second', null)
    expect([await open('ses_2', 'first'), await open('ses_3', 'second')]).toEqual([false, true])
    await enable(store, OTHER)
    await challenge(store, 'pending', 'code', OTHER)
    await challenge(store, 'passkey', 'passkey', null)
    await store.factors.addPasskey(passkey(1, { userId: OTHER }), hash('none'))
    await users.update(OTHER, { disabledAt: START })
    expect(await open('ses_4', 'second')).toBe(false)
    for (const proof of [
      { kind: 'code', challengeHash: hash('pending'), code: { step: 9 } },
      { kind: 'passkey', challengeHash: hash('passkey'), passkeyId: 'psk_001', counter: 1 },
    ] as const) {
      expect(await sessions.openByProof(proof, session('ses_5', START, OTHER), hash('5'))).toBe(false)
    }
    expect(await store.factors.challenge(hash('passkey'), 'passkey', START)).not.toBeNull()
  })

  holds('a new password ends sign-ins that wait for a code', async (store) => {
    await challenge(store, 'pending')
    await store.users.setPassword(FIRST_USER, 'new', null)
    expect(await store.factors.challenge(hash('pending'), 'code', START)).toBeNull()
  })

  holds('a passkey is added with its challenge, known by its credential, and few of them fit', async (store) => {
    const { factors } = store
    const add = async (number: number, change: Partial<Passkey> = {}) => {
      await challenge(store, `new ${number}`, 'new_passkey')
      return factors.addPasskey(passkey(number, change), hash(`new ${number}`))
    }
    expect(await factors.addPasskey(passkey(1), hash('none'))).toBe('unknown')
    expect(await add(1, { userId: OTHER })).toBe('unknown')
    expect(await add(2)).toBe('added')
    expect(await factors.addPasskey(passkey(3), hash('new 2'))).toBe('unknown')
    expect(await add(3, { credentialId: 'credential-2' })).toBe('taken')
    const found = await factors.findPasskey('credential-2')
    expect({ ...found!, publicKey: [...found!.publicKey] }).toEqual({ ...passkey(2), publicKey: [2] as never })
    expect(await factors.findPasskey('credential-9')).toBeNull()
    for (let number = 4; number < 4 + MAX_PASSKEYS - 1; number++) expect(await add(number)).toBe('added')
    expect(await add(99)).toBe('too_many')
    expect((await factors.passkeys(FIRST_USER)).map(({ id }) => id).slice(0, 2)).toEqual(['psk_002', 'psk_004'])
    expect((await factors.summaries([FIRST_USER])).get(FIRST_USER)).toEqual({ hasTotp: false, passkeys: MAX_PASSKEYS })
    await store.sessions.open(session('ses_1'), hash('1'))
    expect(await factors.removePasskey(OTHER, 'psk_002', 'ses_1')).toBe(false)
    expect(await factors.removePasskey(FIRST_USER, 'psk_002', 'ses_none')).toBe(true)
    expect([await factors.findPasskey('credential-2'), await isIn(store, 'ses_1')]).toEqual([null, false])
  })

  holds('a session opens with a passkey of the user whose counter grew, or that does not count', async (store) => {
    const { factors, sessions } = store
    for (const number of [1, 2]) {
      await challenge(store, `new ${number}`, 'new_passkey')
      await factors.addPasskey(passkey(number), hash(`new ${number}`))
    }
    let count = 0
    const open = async (number: number, counter: number, userId = FIRST_USER) => {
      const name = `sign-in ${++count}`
      await challenge(store, name, 'passkey', null)
      const proof = { kind: 'passkey', challengeHash: hash(name), passkeyId: passkey(number).id, counter } as const
      return sessions.openByProof(proof, session(name, START + 1, userId), hash(name))
    }
    expect([await open(1, 0), await open(1, 0)]).toEqual([true, true])
    expect([await open(2, 7), await open(2, 7), await open(2, 0), await open(2, 8)]).toEqual([true, false, false, true])
    expect(await open(2, 9, OTHER)).toBe(false)
    expect(await factors.findPasskey('credential-2')).toMatchObject({ counter: 8, lastUsedAt: START + 1 })
  })

  holds('factors go with their user', async (store) => {
    const { factors, users } = store
    const user = { email: 'o@a.example', name: 'O', isOperator: false, roles: { org_a: 'viewer' } } as const
    const create = (id: string) =>
      users.create(
        { ...user, id, email: `${id}@a.example`, createdAt: START, disabledAt: null, lastSeenAt: null, ...VERIFIED },
        null,
      )
    for (const [at, id] of ['usr_2', 'usr_3'].entries()) {
      await create(id)
      await enable(store, id)
      await challenge(store, id, 'new_passkey', id)
      await factors.addPasskey(passkey(at, { userId: id }), hash(id))
    }
    await users.remove('usr_2')
    const summaries = await factors.summaries(['usr_2', 'usr_3'])
    expect([...summaries]).toEqual([['usr_3', { hasTotp: true, passkeys: 1 }]])
    expect(await Promise.all(['usr_2', 'usr_3'].map(factors.recoveryCodesLeft))).toEqual([0, 2])
  })
}
