import { expect } from 'bun:test'
import type { Session } from '../../src/model/session.ts'
import { FIRST_USER, type User } from '../../src/model/user.ts'
import { VERIFIED } from '../support/verified.ts'
import type { Holds } from './contract.ts'
import { found, idsByPage, START } from './records.ts'

/** Ids sort by time. */
export const user = (number: number, change: Partial<User> = {}): User => ({
  id: `usr_${number}`,
  email: `u${number}@a.example`,
  name: `User ${number}`,
  isOperator: false,
  roles: { org_a: 'viewer' },
  createdAt: START,
  disabledAt: null,
  lastSeenAt: null,
  ...VERIFIED,
  ...change,
})

export const sessionOf = (id: string, userId: string): Session => ({
  id,
  userId,
  createdAt: START,
  lastSeenAt: START,
  endsAt: START + 10_000,
  ipAddress: null,
  userAgent: '',
})

export function userPromises(holds: Holds): void {
  holds('an installation begins with one operator, without address and password', async ({ users }) => {
    const [operator, ...others] = await users.operators()
    expect(others).toEqual([])
    expect(operator).toMatchObject({ id: FIRST_USER, email: null, name: 'Operator', isOperator: true, roles: {} })
    expect(await users.only()).toEqual(operator!)
    expect(await users.passwordHash(FIRST_USER)).toBeNull()
    await users.create(user(1), null)
    expect(await users.only()).toBeNull()
  })

  holds('a user is found by id and address; an address is taken once', async ({ users }) => {
    const roles = { org_a: 'owner', org_b: 'support' } as const
    expect(await users.create(user(1, { roles }), 'hash')).toBe('created')
    expect(await users.get('usr_1')).toEqual(user(1, { roles }))
    expect(await users.findByEmail('u1@a.example')).toEqual(user(1, { roles }))
    expect(await users.findByEmail('u2@a.example')).toBeNull()
    expect(await users.passwordHash('usr_1')).toBe('hash')
    expect(await users.create(user(2, { email: 'u1@a.example' }), null)).toBe('email_taken')
    expect(await users.get('usr_2')).toBeNull()
    expect(await users.update(FIRST_USER, { email: 'u1@a.example' })).toBe('email_taken')
    expect(await users.update('usr_1', { email: 'u1@a.example', name: 'Ann' })).toBe('updated')
    expect(await users.get('usr_1')).toMatchObject({ name: 'Ann', email: 'u1@a.example' })
    expect(await users.update('usr_none', { name: 'x' })).toBe('unknown')
  })

  holds('lists are of an organization, or of all, newest first', async ({ users }) => {
    for (const number of [1, 2, 3]) await users.create(user(number), null)
    await users.create(user(4, { roles: { org_b: 'viewer' } }), null)
    expect(await idsByPage((page) => users.list('org_a', page))).toEqual(['usr_3', 'usr_2', 'usr_1'])
    expect(await idsByPage((page) => users.list(null, page))).toEqual(
      [4, 3, 2, 1].map((n) => `usr_${n}`).concat(FIRST_USER),
    )
  })

  holds('the last enabled operator is neither removed, disabled nor demoted, also at once', async ({ users }) => {
    for (const change of [{ isOperator: false }, { disabledAt: START }]) {
      expect(await users.update(FIRST_USER, change)).toBe('last_operator')
    }
    expect(await users.remove(FIRST_USER)).toBe('last_operator')
    await users.create(user(1, { isOperator: true, roles: {} }), null)
    const results = await Promise.all([users.remove(FIRST_USER), users.update('usr_1', { isOperator: false })])
    expect(results.filter((each) => each === 'last_operator')).toHaveLength(1)
    expect((await users.operators()).length).toBeGreaterThan(0)
  })

  holds('the last owner of an organization is removed only if that is allowed', async ({ users }) => {
    await users.create(user(1, { roles: { org_a: 'owner', org_b: 'viewer' } }), null)
    await users.create(user(2, { roles: { org_a: 'owner' }, disabledAt: START }), null)
    expect(await users.setRole('usr_1', 'org_a', 'admin', false)).toBe('last_owner')
    expect(await users.setRole('usr_1', 'org_a', null, false)).toBe('last_owner')
    expect(await users.update('usr_2', { disabledAt: null })).toBe('updated')
    expect(await users.setRole('usr_1', 'org_a', 'admin', false)).toBe('updated')
    expect((await users.get('usr_1'))?.roles).toEqual({ org_a: 'admin', org_b: 'viewer' })
    expect(await users.setRole('usr_2', 'org_a', 'viewer', false)).toBe('last_owner')
    expect(await users.setRole('usr_2', 'org_a', 'viewer', true)).toBe('updated')
    expect(await users.setRole('usr_none', 'org_a', 'viewer', true)).toBe('unknown')
  })

  holds('a user without a role and not an operator is gone, with sessions', async ({ users, sessions }, records) => {
    const token = records.hash()
    await users.create(user(1, { roles: { org_a: 'viewer', org_b: 'viewer' } }), null)
    await sessions.open(sessionOf('ses_1', 'usr_1'), token)
    await users.setRole('usr_1', 'org_a', null, false)
    expect(await sessions.findByToken(token)).not.toBeNull()
    await users.setRole('usr_1', 'org_b', null, false)
    expect([await users.get('usr_1'), await sessions.findByToken(token)]).toEqual([null, null])
    expect(await users.setRole(FIRST_USER, 'org_a', 'owner', true)).toBe('updated')
    expect(await users.setRole(FIRST_USER, 'org_a', null, true)).toBe('updated')
    expect(await users.get(FIRST_USER)).not.toBeNull()
  })

  holds('a new password ends the sessions of its user except one', async ({ users, sessions }, records) => {
    await users.create(user(1), null)
    const tokens = [records.hash(), records.hash(), records.hash()]
    await sessions.open(sessionOf('ses_1', 'usr_1'), tokens[0]!)
    await sessions.open(sessionOf('ses_2', 'usr_1'), tokens[1]!)
    await sessions.open(sessionOf('ses_3', FIRST_USER), tokens[2]!)
    const left = () => Promise.all(tokens.map(async (token) => (await sessions.findByToken(token))?.userId ?? null))
    await users.setPassword('usr_1', 'first', 'ses_2')
    expect(await left()).toEqual([null, 'usr_1', FIRST_USER])
    await users.setPassword('usr_1', null, null)
    expect(await left()).toEqual([null, null, FIRST_USER])
    expect(await users.passwordHash('usr_1')).toBeNull()
  })

  holds(
    'a link sets a password once, ends sessions, and replaces earlier links',
    async ({ users, sessions }, records) => {
      await users.create(user(1), null)
      const [first, second, token] = [records.hash(), records.hash(), records.hash()]
      const reset = { userId: 'usr_1', isProof: false, createdAt: START, expiresAt: START + 10 }
      const use = (hash: string, now = START) => ({ hash, removesSince: null, now })
      await sessions.open(sessionOf('ses_1', 'usr_1'), token)
      for (const tokenHash of [first, second]) {
        await users.addResets([{ ...reset, tokenHash }])
      }
      expect(await users.useReset(first, use('stolen'))).toBeNull()
      expect(await users.reset(second, START + 10)).toBeNull()
      expect(await users.useReset(second, use('late', START + 10))).toBeNull()
      expect(await users.reset(second, START)).toEqual({ userId: 'usr_1', isProof: false })
      expect(await Promise.all([users.useReset(second, use('new')), users.useReset(second, use('new'))])).toEqual([
        'usr_1',
        null,
      ])
      expect([await users.passwordHash('usr_1'), await sessions.findByToken(token)]).toEqual(['new', null])
      await users.addResets([{ ...reset, tokenHash: first }])
      await users.update('usr_1', { disabledAt: START })
      expect(await users.reset(first, START)).toBeNull()
    },
  )

  holds('an unverified user has only the role that came with the account', async ({ users }) => {
    const unverified = { emailVerifiedAt: null, invitedTo: 'org_a' }
    const granted = { isOperator: true, roles: { org_a: 'viewer', org_b: 'owner' } } as const
    await users.create(user(1, { ...unverified, ...granted }), null)
    const waits = {
      isOperator: false,
      roles: { org_a: 'viewer' },
      awaiting: { isOperator: true, roles: { org_b: 'owner' } },
    }
    expect(await users.get('usr_1')).toEqual(user(1, { ...unverified, ...waits } as Partial<User>))
    expect((await users.operators()).map(({ id }) => id)).toEqual([FIRST_USER])
    expect(await users.update(FIRST_USER, { isOperator: false })).toBe('last_operator')
    expect((await users.waiting()).map(({ id }) => id)).toEqual(['usr_1'])
    await users.setRole('usr_1', 'org_b', 'admin', true)
    expect((await users.get('usr_1'))?.awaiting).toEqual({ isOperator: true, roles: { org_b: 'admin' } })
    expect(await users.setRole('usr_1', 'org_a', null, true)).toBe('updated')
    expect((await users.get('usr_1'))?.roles).toEqual({})
    await users.verify('usr_1', START)
    await users.verify('usr_1', START + 1)
    expect(await users.get('usr_1')).toMatchObject({
      emailVerifiedAt: START,
      isOperator: true,
      roles: { org_b: 'admin' },
    })
    expect(await users.waiting()).toEqual([])
    await users.update('usr_1', { email: 'other@a.example' })
    expect(await users.get('usr_1')).toMatchObject({ emailVerifiedAt: null, isOperator: false, roles: {} })
    await users.update('usr_1', { email: 'third@a.example', emailVerifiedAt: START })
    expect((await users.get('usr_1'))?.isOperator).toBe(true)
  })

  holds('a password is changed only while it and the session are still there', async ({ users, sessions }, records) => {
    await users.create(user(1, { emailVerifiedAt: null, invitedTo: 'org_a' }), 'old')
    const tokens = [records.hash(), records.hash()]
    for (const [at, token] of tokens.entries()) await sessions.open(sessionOf(`ses_${at}`, 'usr_1'), token)
    const change = (from: string | null, sessionId: string) =>
      users.changePassword('usr_1', { from, to: 'new', sessionId })
    expect(await change('other', 'ses_0')).toBe(false)
    expect(await change('old', 'ses_none')).toBe(false)
    expect(await change('old', 'ses_0')).toBe(true)
    const left = await Promise.all(tokens.map(async (token) => (await sessions.findByToken(token))?.id ?? null))
    expect([await users.passwordHash('usr_1'), left]).toEqual(['new', ['ses_0', null]])
    await users.clear('usr_1', { proved: { passwordHash: null }, now: START })
    expect(await change('new', 'ses_0')).toBe(false)
    expect(await change(null, 'ses_0')).toBe(false)
    expect(await users.passwordHash('usr_1')).toBeNull()
  })

  holds(
    'an owner whose role waits does not count, and a new address ends links to the old one',
    async ({ users }, records) => {
      await users.create(user(1, { roles: { org_a: 'owner' } }), null)
      await users.create(user(2, { emailVerifiedAt: null, roles: { org_a: 'owner' } }), null)
      expect(await users.setRole('usr_1', 'org_a', 'viewer', false)).toBe('last_owner')
      const tokenHash = records.hash()
      await users.addResets([{ tokenHash, userId: 'usr_2', isProof: true, createdAt: START, expiresAt: START + 10 }])
      await users.update('usr_2', { email: 'other@a.example' })
      expect(await users.reset(tokenHash, START)).toBeNull()
    },
  )

  holds('more rights than before end sessions, and fewer do not', async ({ users, sessions }, records) => {
    await users.create(user(1, { roles: { org_a: 'support' } }), null)
    let made = 0
    const ends = async (change: () => Promise<unknown>) => {
      const token = records.hash()
      await sessions.open(sessionOf(`ses_${++made}`, 'usr_1'), token)
      await change()
      return (await sessions.findByToken(token)) === null
    }
    expect(await ends(() => users.setRole('usr_1', 'org_a', 'viewer', true))).toBe(false)
    expect(await ends(() => users.setRole('usr_1', 'org_a', 'owner', true))).toBe(true)
    expect(await ends(() => users.setRole('usr_1', 'org_b', 'viewer', true))).toBe(true)
    expect(await ends(() => users.update('usr_1', { name: 'Other' }))).toBe(false)
    expect(await ends(() => users.update('usr_1', { isOperator: true }))).toBe(true)
    await users.create(user(2, { emailVerifiedAt: null, isOperator: true }), null)
    const token = records.hash()
    await sessions.open(sessionOf('ses_verified', 'usr_2'), token)
    await users.verify('usr_2', START)
    expect(await sessions.findByToken(token)).toBeNull()
  })

  holds('a key of a user who is removed notes the last role of the user there', async (store, records) => {
    await found(store, records)
    const { users, apiKeys } = store
    const keyOf = async (createdBy: string) => {
      const key = records.apiKey({ createdBy })
      await apiKeys.create(key, records.hash())
      return key
    }
    const organizationId = (await keyOf(FIRST_USER)).organizationId
    const roles = { [organizationId]: 'developer', org_b: 'owner' } as const
    await users.create(user(1, { roles }), null)
    await users.create(user(2, { roles }), null)
    await users.create(user(3, { roles: { org_b: 'owner' } }), null)
    await users.create(user(4, { isOperator: true, roles: { [organizationId]: 'viewer' } }), null)
    await users.create(user(5, { isOperator: true, emailVerifiedAt: null, invitedTo: organizationId, roles }), null)
    const noted = async (id: string) => {
      const key = await keyOf(id)
      if (id === 'usr_1') await users.setRole(id, organizationId, null, false)
      await users.remove(id)
      await apiKeys.disown(id, null)
      const { createdBy, makerRole } = (await apiKeys.get(key.id))!
      return [createdBy, makerRole]
    }
    const all = await Promise.all(['usr_1', 'usr_2', 'usr_3', 'usr_4', 'usr_5'].map(noted))
    expect(all).toEqual(['developer', 'developer', 'viewer', null, 'developer'].map((role) => [null, role]))
  })

  holds('a link that proves the address verifies it, and removes young factors only', async (store, records) => {
    const { users, factors } = store
    await users.create(user(1, { emailVerifiedAt: null, invitedTo: 'org_a' }), 'old')
    await factors.beginTotp('usr_1', records.hash(), START)
    await factors.enableTotp('usr_1', { step: 1, begunAt: START, recoveryHashes: [records.hash()], now: START }, 'none')
    const use = async (isProof: boolean, removesSince: number | null) => {
      const tokenHash = records.hash()
      await users.addResets([{ tokenHash, userId: 'usr_1', isProof, createdAt: START, expiresAt: START + 10 }])
      await users.useReset(tokenHash, { hash: 'new', removesSince, now: START + 1 })
      return [(await users.get('usr_1'))?.emailVerifiedAt, await factors.recoveryCodesLeft('usr_1')]
    }
    expect(await use(false, START + 1)).toEqual([null, 1])
    expect(await use(true, null)).toEqual([START + 1, 1])
    expect(await use(true, START)).toEqual([START + 1, 0])
    expect(await factors.totp('usr_1')).toBeNull()
  })

  holds('clearing ends everything to sign in with, and is noted if there was something', async (store, records) => {
    await found(store, records)
    const { users, factors, sessions, apiKeys } = store
    await users.create(user(1, { emailVerifiedAt: null, invitedTo: 'org_a', isOperator: true }), 'old')
    await users.create(user(2, { emailVerifiedAt: null }), null)
    const [token, link] = [records.hash(), records.hash()]
    await sessions.open(sessionOf('ses_1', 'usr_1'), token)
    await users.addResets([
      { tokenHash: link, userId: 'usr_1', isProof: true, createdAt: START, expiresAt: START + 10 },
    ])
    await factors.beginTotp('usr_1', records.hash(), START)
    const keys = [records.apiKey({ createdBy: 'usr_1' }), records.apiKey({ createdBy: 'usr_2' })]
    for (const key of keys) await apiKeys.create(key, records.hash())
    expect([await apiKeys.revokeOf('usr_1', null, START), await apiKeys.revokeOf('usr_1', null, START)]).toEqual([1, 0])
    expect(await apiKeys.revokeOf('usr_2', 'org_other', START)).toBe(0)
    await apiKeys.disown('usr_2', 'org_other')
    expect(await apiKeys.get(keys[1]!.id)).toMatchObject({ revokedAt: null, createdBy: 'usr_2' })
    await apiKeys.disown('usr_2', keys[1]!.organizationId)
    expect(await apiKeys.get(keys[1]!.id)).toMatchObject({ revokedAt: null, createdBy: null })
    await users.clear('usr_1', { proved: null, now: START + 1 })
    expect([await users.passwordHash('usr_1'), await sessions.findByToken(token), await factors.totp('usr_1')]).toEqual(
      [null, null, null],
    )
    expect(await users.reset(link, START)).toBeNull()
    expect((await users.get('usr_1'))?.emailVerifiedAt).toBeNull()
    await users.clear('usr_2', { proved: { passwordHash: 'mine' }, now: START + 2 })
    expect([await users.passwordHash('usr_2'), (await users.get('usr_2'))?.emailVerifiedAt]).toEqual([
      'mine',
      START + 2,
    ])
    expect((await users.cleared(START)).map(({ user: { id }, at }) => [id, at])).toEqual([['usr_1', START + 1]])
    expect(await users.cleared(START + 1)).toEqual([])
  })

  holds('disabling, demotion and removal end sessions; use is noted', async ({ users, sessions }, records) => {
    await users.create(user(1), null)
    await users.create(user(2, { isOperator: true }), null)
    const tokens = [records.hash(), records.hash()]
    for (const [at, token] of tokens.entries()) await sessions.open(sessionOf(`ses_${at}`, `usr_${at + 1}`), token)
    await sessions.recordSeen([{ id: 'ses_0', at: START + 5, endsAt: START + 20_000 }])
    expect((await users.get('usr_1'))?.lastSeenAt).toBe(START + 5)
    await users.update('usr_1', { disabledAt: START + 6 })
    await users.update('usr_2', { isOperator: false })
    expect(await Promise.all(tokens.map((token) => sessions.findByToken(token)))).toEqual([null, null])
    expect(await users.get('usr_1')).toMatchObject({ disabledAt: START + 6 })
    expect(await users.remove('usr_1')).toBe('removed')
    expect(await users.remove('usr_1')).toBe('unknown')
  })
}
