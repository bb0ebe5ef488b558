import { expect } from 'bun:test'
import type { Session } from '../../src/model/session.ts'
import { FIRST_USER } from '../../src/model/user.ts'
import { VERIFIED } from '../support/verified.ts'
import type { Holds } from './contract.ts'
import { idsByPage, START } from './records.ts'

/** Ids sort by time. */
const session = (number: number, change: Partial<Session> = {}): Session => ({
  id: `ses_${number}`,
  userId: FIRST_USER,
  createdAt: START,
  lastSeenAt: START,
  endsAt: START + 1_000,
  ipAddress: '192.0.2.1',
  userAgent: 'Browser',
  ...change,
})

const user = {
  name: 'U',
  isOperator: false,
  roles: {},
  createdAt: START,
  disabledAt: null,
  lastSeenAt: null,
  ...VERIFIED,
}

export function sessionPromises(holds: Holds): void {
  holds('a link opens one session, once, and none when it has expired', async ({ sessions }, records) => {
    const [link, late, token] = [records.hash(), records.hash(), records.hash()]
    await sessions.addLink({ tokenHash: link, userId: FIRST_USER, createdAt: START, expiresAt: START + 10 })
    await sessions.addLink({ tokenHash: late, userId: FIRST_USER, createdAt: START, expiresAt: START })
    expect(await sessions.openByLink(records.hash(), session(1), records.hash())).toBe('unknown')
    expect(await sessions.openByLink(late, session(2), records.hash())).toBe('unknown')
    const other = records.hash()
    expect(
      await Promise.all([sessions.openByLink(link, session(3), token), sessions.openByLink(link, session(4), other)]),
    ).toEqual(['opened', 'unknown'])
    expect(await sessions.findByToken(token)).toEqual(session(3))
    expect(await sessions.findByToken(other)).toBeNull()
    expect(await sessions.get('ses_3')).toEqual(session(3))
    expect(await sessions.get('ses_4')).toBeNull()
  })

  holds(
    'a link belongs to one operator, and ends with the rights of the operator',
    async ({ sessions, users }, records) => {
      const operator = { ...user, id: 'usr_o', email: 'o@a.example', isOperator: true }
      await users.create(operator, null)
      await users.create({ ...user, id: 'usr_v', email: 'v@a.example', roles: { org_a: 'viewer' } }, null)
      const [link, other, viewers] = [records.hash(), records.hash(), records.hash()]
      const times = { createdAt: START, expiresAt: START + 10 }
      await sessions.addLink({ tokenHash: link, userId: 'usr_o', ...times })
      await sessions.addLink({ tokenHash: other, userId: FIRST_USER, ...times })
      await sessions.addLink({ tokenHash: viewers, userId: 'usr_v', ...times })
      expect(await Promise.all([link, other, viewers].map((each) => sessions.userOfLink(each, START)))).toEqual([
        'usr_o',
        FIRST_USER,
        null,
      ])
      expect(await sessions.userOfLink(link, START + 10)).toBeNull()
      expect(await sessions.openByLink(link, session(1), records.hash())).toBe('unknown')
      expect(await sessions.openByLink(link, session(2, { userId: 'usr_o' }), records.hash())).toBe('opened')
      expect(await sessions.userOfLink(link, START)).toBeNull()
      await users.update(FIRST_USER, { isOperator: false })
      expect(await sessions.userOfLink(other, START)).toBeNull()
    },
  )

  holds('sessions that have not ended are listed, newest first', async ({ sessions }, records) => {
    for (const number of [1, 2, 3]) await sessions.open(session(number), records.hash())
    await sessions.open(session(4, { endsAt: START + 5 }), records.hash())
    expect(await idsByPage((page) => sessions.list(START + 5, page))).toEqual(['ses_3', 'ses_2', 'ses_1'])
  })

  holds('use extends a session, never shortens it, and revives none that has ended', async ({ sessions }, records) => {
    const [token, over] = [records.hash(), records.hash()]
    await sessions.open(session(1), token)
    await sessions.open(session(2, { endsAt: START + 5 }), over)
    await sessions.recordSeen([
      { id: 'ses_1', at: START + 9, endsAt: START + 2_000 },
      { id: 'ses_1', at: START + 3, endsAt: START + 1_500 },
      { id: 'ses_2', at: START + 5, endsAt: START + 2_000 },
      { id: 'ses_none', at: START, endsAt: START },
    ])
    expect(await sessions.findByToken(token)).toMatchObject({ lastSeenAt: START + 9, endsAt: START + 2_000 })
    expect(await sessions.findByToken(over)).toMatchObject({ lastSeenAt: START, endsAt: START + 5 })
  })

  holds('an ended session is gone at once', async ({ sessions }, records) => {
    const token = records.hash()
    await sessions.open(session(1), token)
    await sessions.end('ses_1')
    await sessions.end('ses_1')
    expect(await sessions.findByToken(token)).toBeNull()
  })

  holds('sessions of one user are listed, and end together except one', async ({ sessions }, records) => {
    for (const number of [1, 2]) await sessions.open(session(number), records.hash())
    await sessions.open(session(3, { userId: 'usr_a' }), records.hash())
    expect(await idsByPage((page) => sessions.list(START, page, FIRST_USER))).toEqual(['ses_2', 'ses_1'])
    await sessions.endOf(FIRST_USER, 'ses_1')
    expect(await idsByPage((page) => sessions.list(START, page))).toEqual(['ses_3', 'ses_1'])
    await sessions.endOf('usr_a', null)
    expect(await idsByPage((page) => sessions.list(START, page))).toEqual(['ses_1'])
  })

  holds('ended sessions are removed, a few at a time', async ({ sessions, singleSignOn }, records) => {
    const stays = records.hash()
    for (const number of [1, 2, 3]) await sessions.open(session(number), records.hash())
    await sessions.open(session(4, { endsAt: START + 9_000 }), stays)
    await sessions.addLink({ tokenHash: records.hash(), userId: FIRST_USER, createdAt: START, expiresAt: START + 1 })
    const request = { stateHash: records.hash(), browserHash: records.hash(), expiresAt: START + 1 }
    await singleSignOn.addRequest(request)
    expect(await sessions.prune(START + 5_000, 2)).toBe(4)
    expect(await singleSignOn.takeRequest(request.stateHash, request.browserHash, START)).toBe(false)
    expect(await sessions.prune(START + 5_000, 2)).toBe(1)
    expect(await sessions.prune(START + 5_000, 2)).toBe(0)
    expect(await sessions.findByToken(stays)).not.toBeNull()
  })
}
