import { expect } from 'bun:test'
import type { Session } from '../../src/model/session.ts'
import { FIRST_USER, MAX_ROLES, type User } from '../../src/model/user.ts'
import { VERIFIED } from '../support/verified.ts'
import type { Holds } from './contract.ts'
import { START } from './records.ts'

const user = (number: number, change: Partial<User> = {}): User => ({
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
const ISSUER = 'https://sso.example'
const account = (subject: string, issuer = ISSUER) => ({ issuer, subject, createdAt: START })
const sessionOf = (userId: string): Session => ({
  id: `ses_${userId}`,
  userId,
  createdAt: START,
  lastSeenAt: START,
  endsAt: START + 10_000,
  ipAddress: null,
  userAgent: '',
})

export function singleSignOnPromises(holds: Holds): void {
  holds('a request is used once, in time, and by its own browser', async ({ singleSignOn }, records) => {
    const [state, late, browser, other] = [records.hash(), records.hash(), records.hash(), records.hash()]
    await singleSignOn.addRequest({ stateHash: state, browserHash: browser, expiresAt: START + 10 })
    await singleSignOn.addRequest({ stateHash: late, browserHash: browser, expiresAt: START + 1 })
    expect(await singleSignOn.takeRequest(state, other, START)).toBe(false)
    expect(await singleSignOn.takeRequest(late, browser, START + 1)).toBe(false)
    const both = [1, 2].map(() => singleSignOn.takeRequest(state, browser, START))
    expect((await Promise.all(both)).toSorted()).toEqual([false, true])
  })

  holds('an account belongs to one user, by issuer and subject', async ({ singleSignOn, users }) => {
    await users.create(user(1), null)
    await users.create(user(2), null)
    expect(await singleSignOn.userOf(ISSUER, 'a')).toBeNull()
    expect(await singleSignOn.link(account('a'), 'usr_none')).toBe(false)
    expect(await singleSignOn.link(account('a'), 'usr_1')).toBe(true)
    expect(await singleSignOn.link(account('a'), 'usr_2')).toBe(false)
    expect(await singleSignOn.link(account('a', 'https://other.example'), 'usr_2')).toBe(true)
    expect(await singleSignOn.userOf(ISSUER, 'a')).toEqual(user(1))
    expect((await singleSignOn.userOf('https://other.example', 'a'))?.id).toBe('usr_2')
    expect(await singleSignOn.userOf(ISSUER, 'A')).toBeNull()
    await users.remove('usr_1')
    expect(await singleSignOn.userOf(ISSUER, 'a')).toBeNull()
    expect(await singleSignOn.link(account('a'), 'usr_2')).toBe(true)
  })

  holds('a first sign-in creates a user without password, once', async ({ singleSignOn, users }) => {
    const made = user(1, { roles: { org_a: 'support' }, isOperator: true })
    expect(await singleSignOn.create(made, account('a'))).toBe('created')
    expect(await singleSignOn.userOf(ISSUER, 'a')).toEqual(made)
    expect(await users.passwordHash('usr_1')).toBeNull()
    expect(await singleSignOn.create(user(2), account('a'))).toBe('taken')
    expect(await singleSignOn.create(user(2, { email: made.email }), account('b'))).toBe('taken')
    expect([await users.get('usr_2'), await singleSignOn.userOf(ISSUER, 'b')]).toEqual([null, null])
  })

  holds(
    'access replaces all roles, and ends the sessions of those who gain or lose everything',
    async (store, records) => {
      const { singleSignOn, users, sessions } = store
      await users.create(user(1, { roles: { org_a: 'owner', org_b: 'viewer' } }), null)
      await users.create(user(2, { isOperator: true, roles: {} }), null)
      const [first, second] = [records.hash(), records.hash()]
      await sessions.open(sessionOf('usr_1'), first)
      await sessions.open(sessionOf('usr_2'), second)
      const roles = { org_b: 'admin', org_c: 'support' } as const
      expect(await singleSignOn.setAccess('usr_1', { isOperator: false, roles })).toBe('updated')
      expect((await users.get('usr_1'))?.roles).toEqual(roles)
      expect(await sessions.findByToken(first)).toBeNull()
      await sessions.open(sessionOf('usr_1'), first)
      const less = { org_b: 'viewer', org_c: 'support' } as const
      expect(await singleSignOn.setAccess('usr_1', { isOperator: false, roles: less })).toBe('updated')
      expect(await sessions.findByToken(first)).not.toBeNull()
      expect(await singleSignOn.setAccess('usr_1', { isOperator: false, roles: {} })).toBe('updated')
      expect([await sessions.findByToken(first), (await users.get('usr_1'))?.roles]).toEqual([null, {}])
      expect(await singleSignOn.setAccess('usr_2', { isOperator: false, roles })).toBe('updated')
      expect(await sessions.findByToken(second)).toBeNull()
      expect(await users.get('usr_2')).toMatchObject({ isOperator: false, roles })
      expect(await singleSignOn.setAccess('usr_none', { isOperator: false, roles: {} })).toBe('unknown')
    },
  )

  holds('a second account of a provider is not linked to the same user', async ({ singleSignOn, users }) => {
    await users.create(user(1), null)
    expect(await singleSignOn.link(account('a'), 'usr_1')).toBe(true)
    expect(await singleSignOn.link(account('b'), 'usr_1')).toBe(false)
    expect(await singleSignOn.userOf(ISSUER, 'b')).toBeNull()
    expect(await singleSignOn.link({ ...account('b'), issuer: 'https://other.example' }, 'usr_1')).toBe(true)
  })

  holds('the last operator stays operator, and a full organization stays full', async ({ singleSignOn, users }) => {
    const roles = { org_a: 'viewer' } as const
    expect(await singleSignOn.setAccess(FIRST_USER, { isOperator: false, roles })).toBe('last_operator')
    expect(await users.get(FIRST_USER)).toMatchObject({ isOperator: true, roles: {} })
    for (let number = 1; number <= MAX_ROLES; number++) await users.create(user(number), null)
    expect(await singleSignOn.setAccess(FIRST_USER, { isOperator: true, roles })).toBe('too_many')
    expect(await singleSignOn.create(user(900), account('a'))).toBe('too_many')
    expect(await users.get('usr_900')).toBeNull()
    expect(await singleSignOn.setAccess('usr_1', { isOperator: false, roles: { org_a: 'owner' } })).toBe('updated')
  })
}
