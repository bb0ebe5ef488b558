import type { Session } from '../../model/session.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Sessions } from '../store.ts'
import type { Connection } from './driver.ts'
import { proofsInside } from './sign-in-proofs.ts'
import { IS_OPERATOR } from './users.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, user_id as userId, created_at as createdAt, last_seen_at as lastSeenAt, ends_at as endsAt, ip_address as ipAddress,
  user_agent as userAgent`
const ADD_LINK = 'insert into login_links (token_hash, user_id, created_at, expires_at) values (?, ?, ?, ?)'
const USER_OF_LINK = `select u.id from login_links l join users u on u.id = coalesce(l.user_id,
    (select id from users where ${IS_OPERATOR} order by id limit 1))
  where l.token_hash = ? and l.expires_at > ? and ${IS_OPERATOR}`
const USE_LINK = 'delete from login_links where token_hash = ? and expires_at > ? and ifnull(user_id = ?, true)'
const OPEN = `insert into sessions (id, user_id, token_hash, created_at, last_seen_at, ends_at, ip_address, user_agent)
  values (?, ?, ?, ?, ?, ?, ?, ?)`
const FIND_BY_TOKEN = `select ${COLUMNS} from sessions where token_hash = ?`
const GET = `select ${COLUMNS} from sessions where id = ?`
const LIST = `select ${COLUMNS} from sessions
  where ends_at > ? and id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const LIST_OF_USER = `select ${COLUMNS} from sessions
  where user_id = ? and ends_at > ? and id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const RECORD_SEEN = `update sessions set last_seen_at = max(?, last_seen_at), ends_at = max(?, ends_at)
  where id = ? and ends_at > ?`
const END = 'delete from sessions where id = ?'
const USER_SEEN = `update users set last_seen_at = max(?, coalesce(last_seen_at, 0))
  where id = (select user_id from sessions where id = ? and ends_at > ?)`
const END_OF_USER = 'delete from sessions where user_id = ? and id is not ?'
const PRUNE_LINKS = `delete from login_links where token_hash in
  (select token_hash from login_links where expires_at < ? order by expires_at limit ?)`
const PRUNE_REQUESTS = `delete from sign_on_requests where state_hash in
  (select state_hash from sign_on_requests where expires_at < ? order by expires_at limit ?)`
const PRUNE_SESSIONS =
  'delete from sessions where id in (select id from sessions where ends_at < ? order by ends_at limit ?)'
const PRUNE_CHALLENGES = `delete from sign_in_challenges where token_hash in
  (select token_hash from sign_in_challenges where expires_at < ? order by expires_at limit ?)`

/** No cache, so that changes by the command line beside a running server apply at once. */
export function sqliteSessions(db: Connection, writer: Writer): Sessions {
  const addLink = db.prepare(ADD_LINK)
  const userOfLink = db.prepare<unknown[], string>(USER_OF_LINK).pluck()
  const takeLink = db.prepare(USE_LINK)
  const open = db.prepare(OPEN)
  const findByToken = db.prepare<unknown[], Session>(FIND_BY_TOKEN)
  const get = db.prepare<unknown[], Session>(GET)
  const list = db.prepare<unknown[], Session>(LIST)
  const listOfUser = db.prepare<unknown[], Session>(LIST_OF_USER)
  const recordSeen = db.prepare(RECORD_SEEN)
  const end = db.prepare(END)
  const userSeen = db.prepare(USER_SEEN)
  const endOf = db.prepare(END_OF_USER)
  const pruneLinks = db.prepare(PRUNE_LINKS)
  const pruneRequests = db.prepare(PRUNE_REQUESTS)
  const pruneSessions = db.prepare(PRUNE_SESSIONS)
  const pruneChallenges = db.prepare(PRUNE_CHALLENGES)
  const { useProof } = proofsInside(db)

  const insert = (
    { id, userId, createdAt, lastSeenAt, endsAt, ipAddress, userAgent }: Session,
    tokenHash: Uint8Array,
  ) => open.run(id, userId, tokenHash, createdAt, lastSeenAt, endsAt, ipAddress, userAgent)

  return {
    addLink: ({ tokenHash, userId, createdAt, expiresAt }) =>
      writer.write(() => {
        addLink.run(tokenHash, userId, createdAt, expiresAt)
      }),
    userOfLink: async (linkHash, now) => userOfLink.get(linkHash, now) ?? null,
    openByLink: (linkHash, session, tokenHash) =>
      writer.write(() => {
        if (takeLink.run(linkHash, session.createdAt, session.userId).changes === 0) return 'unknown'
        insert(session, tokenHash)
        return 'opened'
      }),
    open: (session, tokenHash) =>
      writer.write(() => {
        insert(session, tokenHash)
      }),
    openByProof: (proof, session, tokenHash) =>
      writer.write(() => {
        if (!useProof(proof, session.userId, session.createdAt)) return false
        insert(session, tokenHash)
        return true
      }),
    findByToken: async (tokenHash) => findByToken.get(tokenHash) ?? null,
    get: async (id) => get.get(id) ?? null,
    list: async (now, page, userId) => {
      const range = [now, ...rangeOf(page)]
      const rows = userId === undefined ? list.all(...range) : listOfUser.all(userId, ...range)
      return toPage(rows, page, (session) => session)
    },
    recordSeen: (seen) =>
      writer.write(() => {
        for (const { id, at, endsAt } of seen) {
          userSeen.run(at, id, at)
          recordSeen.run(at, endsAt, id, at)
        }
      }),
    end: (id) =>
      writer.write(() => {
        end.run(id)
      }),
    endOf: (userId, keep) =>
      writer.write(() => {
        endOf.run(userId, keep)
      }),
    prune: (before, limit) =>
      writer.write(() => {
        const pruned = [pruneLinks, pruneRequests, pruneSessions, pruneChallenges].map(
          (prune) => prune.run(before, limit).changes,
        )
        return pruned.reduce((sum, changes) => sum + changes, 0)
      }),
  }
}
