import { afterEach, beforeEach, expect, test } from 'bun:test'
import { openMemoryStore } from '../../../test/support/migrated-store.ts'
import type { Session } from '../../model/session.ts'
import { FIRST_USER } from '../../model/user.ts'
import type { Store } from '../../storage/store.ts'
import { createSessions, hashToken, SESSION_COOKIE } from './sessions.ts'

const START = Date.UTC(2026, 10, 21)
const TOKEN = 'T'.repeat(43)
const MINUTE = 60_000
const ownOrigin = { mayBePlaintext: () => true, requireKnownHost: () => {}, requireOwnPage: () => {} } as never

let store: Store
let isBroken = false
beforeEach(async () => {
  isBroken = false
  store = await openMemoryStore()
  const session: Session = {
    id: 'ses_1',
    userId: FIRST_USER,
    createdAt: START,
    lastSeenAt: START,
    endsAt: START + 2 * MINUTE,
    ipAddress: null,
    userAgent: '',
  }
  await store.sessions.open(session, hashToken(TOKEN))
})
afterEach(() => store.close())

/** The sessions of a store whose writes fail while `isBroken`. */
function open() {
  const recordSeen: Store['sessions']['recordSeen'] = (seen) =>
    isBroken ? Promise.reject(new Error('disk full')) : store.sessions.recordSeen(seen)
  return createSessions({ ...store, sessions: { ...store.sessions, recordSeen } }, ownOrigin)
}
const request = () => new Request('https://x.example/', { headers: { cookie: `${SESSION_COOKIE}=${TOKEN}` } })
const stored = () => store.sessions.findByToken(hashToken(TOKEN))

test('the first use after a sign-in is stored for the user', async () => {
  const sessions = open()
  expect((await store.users.get(FIRST_USER))?.lastSeenAt).toBeNull()
  await sessions.ofCookie(request(), START + 1)
  await sessions.flushSeen()
  expect((await store.users.get(FIRST_USER))?.lastSeenAt).toBe(START + 1)
})

test('a use is stored when the last one is a minute old', async () => {
  const sessions = open()
  await sessions.ofCookie(request(), START)
  await sessions.flushSeen()
  expect((await sessions.ofCookie(request(), START + MINUTE - 1))?.session.id).toBe('ses_1')
  await sessions.flushSeen()
  expect((await stored())!.lastSeenAt).toBe(START)
  await sessions.ofCookie(request(), START + MINUTE)
  await sessions.flushSeen()
  expect((await stored())!.lastSeenAt).toBe(START + MINUTE)
})

test('a use that could not be stored is stored later', async () => {
  const sessions = open()
  isBroken = true
  await sessions.ofCookie(request(), START + MINUTE)
  await sessions.flushSeen()
  expect((await stored())!.lastSeenAt).toBe(START)
  isBroken = false
  await sessions.flushSeen()
  expect((await stored())!.lastSeenAt).toBe(START + MINUTE)
})
