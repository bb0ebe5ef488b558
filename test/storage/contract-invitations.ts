import { expect } from 'bun:test'
import type { Invitation } from '../../src/model/invitation.ts'
import { FIRST_USER, MAX_ROLES, type User } from '../../src/model/user.ts'
import { VERIFIED } from '../support/verified.ts'
import type { Holds } from './contract.ts'
import { sessionOf } from './contract-users.ts'
import { idsByPage, START } from './records.ts'

const invitation = (number: number, change: Partial<Invitation> = {}): Invitation => ({
  id: `inv_${number}`,
  organizationId: 'org_a',
  email: `u${number}@a.example`,
  role: 'developer',
  invitedBy: FIRST_USER,
  createdAt: START,
  expiresAt: START + 100,
  ...change,
})
const user = (number: number): User => ({
  id: `usr_${number}`,
  email: `u${number}@a.example`,
  name: 'Ann',
  isOperator: false,
  roles: {},
  createdAt: START,
  disabledAt: null,
  lastSeenAt: null,
  ...VERIFIED,
})

export function invitationPromises(holds: Holds): void {
  holds('an invitation creates its user once, with the role', async ({ invitations, users }, records) => {
    const token = records.hash()
    await invitations.create(invitation(1), { shown: token, mailed: records.hash() })
    expect(await invitations.find(token, START)).toEqual({ invitation: invitation(1), isProof: false })
    expect(await invitations.find(token, START + 100)).toBeNull()
    expect(
      await Promise.all([invitations.accept(token, user(1), 'hash'), invitations.join(token, FIRST_USER, START)]),
    ).toEqual(['accepted', 'unknown'])
    expect(await users.findByEmail('u1@a.example')).toEqual({ ...user(1), roles: { org_a: 'developer' } })
    expect(await users.passwordHash('usr_1')).toBe('hash')
  })

  holds('of two links one works, once, and tells which it was', async ({ invitations }, records) => {
    for (const [number, isMailed] of [false, true].entries()) {
      const links = { shown: records.hash(), mailed: records.hash() }
      await invitations.create(invitation(number), links)
      const used = isMailed ? links.mailed : links.shown
      expect(await invitations.find(links.shown, START)).toMatchObject({ isProof: false })
      expect(await invitations.find(links.mailed, START)).toMatchObject({ isProof: true })
      expect(await invitations.accept(used, user(number), 'hash')).toBe('accepted')
      for (const hash of [links.shown, links.mailed]) {
        expect(await invitations.find(hash, START)).toBeNull()
        expect(await invitations.join(hash, FIRST_USER, START)).toBe('unknown')
      }
    }
  })

  holds(
    'a role that adds rights ends the sessions of whoever joins',
    async ({ invitations, users, sessions }, records) => {
      await users.create({ ...user(1), roles: { org_a: 'viewer', org_b: 'owner' } }, null)
      for (const [number, organizationId, isLess] of [
        [1, 'org_b', true],
        [2, 'org_a', false],
      ] as const) {
        const [link, token] = [records.hash(), records.hash()]
        await sessions.open(sessionOf(`ses_${number}`, 'usr_1'), token)
        await invitations.create(invitation(number, { organizationId, email: `u${number}@a.example` }), {
          shown: link,
          mailed: records.hash(),
        })
        expect(await invitations.join(link, 'usr_1', START)).toBe('accepted')
        expect((await sessions.findByToken(token)) !== null).toBe(isLess)
      }
    },
  )

  holds('an existing account joins, and an owner stays owner', async ({ invitations, users }, records) => {
    await users.create({ ...user(1), roles: { org_b: 'owner' } }, 'old')
    const tokens = [records.hash(), records.hash()]
    await invitations.create(invitation(1), { shown: tokens[0]!, mailed: records.hash() })
    await invitations.create(invitation(2, { organizationId: 'org_b', email: 'u1@a.example' }), {
      shown: tokens[1]!,
      mailed: records.hash(),
    })
    expect(await invitations.accept(tokens[0]!, user(1), 'new')).toBe('email_taken')
    for (const token of tokens) expect(await invitations.join(token, 'usr_1', START)).toBe('accepted')
    expect((await users.get('usr_1'))?.roles).toEqual({ org_a: 'developer', org_b: 'owner' })
    expect(await users.passwordHash('usr_1')).toBe('old')
  })

  holds(
    'a second invitation replaces the first; removed and expired ones are gone',
    async ({ invitations }, records) => {
      const [first, second] = [records.hash(), records.hash()]
      await invitations.create(invitation(1), { shown: first, mailed: records.hash() })
      await invitations.create(invitation(2, { email: 'u1@a.example' }), { shown: second, mailed: records.hash() })
      await invitations.create(invitation(3), { shown: records.hash(), mailed: records.hash() })
      await invitations.create(invitation(4, { organizationId: 'org_b' }), {
        shown: records.hash(),
        mailed: records.hash(),
      })
      expect(await invitations.find(first, START)).toBeNull()
      expect(await idsByPage((page) => invitations.list('org_a', START, page))).toEqual(['inv_3', 'inv_2'])
      expect(await idsByPage((page) => invitations.list('org_a', START + 100, page))).toEqual([])
      await invitations.remove('inv_2')
      expect([await invitations.get('inv_2'), await invitations.find(second, START)]).toEqual([null, null])
      expect(await invitations.get('inv_3')).toEqual(invitation(3))
    },
  )

  holds('nobody joins a full organization, except members', async ({ invitations, users }, records) => {
    const member = (number: number) => ({ ...user(number), roles: { org_a: 'viewer' } as const })
    for (let number = 1; number <= MAX_ROLES; number++) await users.create(member(number), null)
    await users.create({ ...user(900), roles: { org_b: 'viewer' } }, null)
    const tokens = [records.hash(), records.hash(), records.hash()] as const
    for (const [at, token] of tokens.entries())
      await invitations.create(invitation(901 + at), { shown: token, mailed: records.hash() })
    expect(await invitations.accept(tokens[0], user(901), 'hash')).toBe('too_many')
    expect(await invitations.join(tokens[1], 'usr_900', START)).toBe('too_many')
    expect(await users.get('usr_901')).toBeNull()
    expect(await invitations.find(tokens[1], START)).not.toBeNull()
    expect(await invitations.join(tokens[2], 'usr_1', START)).toBe('accepted')
    expect((await users.get('usr_1'))?.roles).toEqual({ org_a: 'developer' })
  })
}
