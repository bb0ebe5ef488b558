import { expect } from 'bun:test'
import type { Session } from '../../src/model/session.ts'
import { FIRST_USER, type User } from '../../src/model/user.ts'
import type { Holds } from './contract.ts'
import { idsByPage, START } from './records.ts'

/** Ids sort by time. */
const user = (number: number, change: Partial<User> = {}): User => ({
  id: `usr_${number}`,
  email: `u${number}@a.example`,
  name: `User ${number}`,
  isOperator: false,
  roles: { org_a: 'viewer' },
  createdAt: START,
  disabledAt: null,
  lastSeenAt: null,
  ...change,
})

const sessionOf = (id: string, userId: string): Session => ({
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
      await sessions.open(sessionOf('ses_1', 'usr_1'), token)
      for (const tokenHash of [first, second]) {
        await users.addReset({ tokenHash, userId: 'usr_1', createdAt: START, expiresAt: START + 10 })
      }
      expect(await users.useReset(first, 'stolen', START)).toBeNull()
      expect(await users.userOfReset(second, START + 10)).toBeNull()
      expect(await users.useReset(second, 'late', START + 10)).toBeNull()
      expect(await users.userOfReset(second, START)).toBe('usr_1')
      expect(await Promise.all([users.useReset(second, 'new', START), users.useReset(second, 'new', START)])).toEqual([
        'usr_1',
        null,
      ])
      expect([await users.passwordHash('usr_1'), await sessions.findByToken(token)]).toEqual(['new', null])
      await users.addReset({ tokenHash: first, userId: 'usr_1', createdAt: START, expiresAt: START + 10 })
      await users.update('usr_1', { disabledAt: START })
      expect(await users.userOfReset(first, START)).toBeNull()
    },
  )

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
