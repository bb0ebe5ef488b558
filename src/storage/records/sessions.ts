import type { SignInProof } from '../../model/factors.ts'
import type { Session } from '../../model/session.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { type Database, run, sql, type Work } from '../sql.ts'
import { useProof } from './sign-in-proofs.ts'
import { END_SESSIONS, IS_OPERATOR } from './user-rows.ts'

const COLUMNS = `id, user_id as "userId", created_at as "createdAt", last_seen_at as "lastSeenAt", ends_at as "endsAt",
  ip_address as "ipAddress", user_agent as "userAgent"`
const ADD_LINK = sql('insert into login_links (token_hash, user_id, created_at, expires_at) values ($1, $2, $3, $4)')
const USER_OF_LINK = sql<{ id: string }>(`select u.id from login_links l join users u on u.id = l.user_id
  where l.token_hash = $1 and l.expires_at > $2 and ${IS_OPERATOR}`)
const USE_LINK = sql('delete from login_links where token_hash = $1 and expires_at > $2 and user_id = $3')
const OPEN = sql(`insert into sessions (id, user_id, token_hash, created_at, last_seen_at, ends_at, ip_address,
    user_agent)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`)
const FIND_BY_TOKEN = sql<Session>(`select ${COLUMNS} from sessions where token_hash = $1`)
const GET = sql<Session>(`select ${COLUMNS} from sessions where id = $1`)
const RANGE = 'ends_at > $1 and id < $2 and created_at >= $3 and created_at < $4'
const LIST = sql<Session>(`select ${COLUMNS} from sessions where ${RANGE} order by id desc limit $5`)
const LIST_OF_USER = sql<Session>(`select ${COLUMNS} from sessions
  where user_id = $6 and ${RANGE} order by id desc limit $5`)
const RECORD_SEEN = sql(`update sessions set last_seen_at = greatest($2::bigint, last_seen_at),
    ends_at = greatest($3::bigint, ends_at)
  where id = $1 and ends_at > $2::bigint`)
const USER_SEEN = sql(`update users set last_seen_at = greatest($2::bigint, coalesce(last_seen_at, 0))
  where id = (select user_id from sessions where id = $1 and ends_at > $2::bigint)`)
const END = sql('delete from sessions where id = $1')
const PRUNE = [
  sql(`delete from login_links where token_hash = any(array(
    select token_hash from login_links where expires_at < $1 order by expires_at limit $2))`),
  sql(`delete from sign_on_requests where state_hash = any(array(
    select state_hash from sign_on_requests where expires_at < $1 order by expires_at limit $2))`),
  sql(`delete from sessions where id = any(array(
    select id from sessions where ends_at < $1 order by ends_at limit $2))`),
  sql(`delete from sign_in_challenges where token_hash = any(array(
    select token_hash from sign_in_challenges where expires_at < $1 order by expires_at limit $2))`),
]

/** Sign-in: sessions of users, and links of operators that work once. Tokens are passed as SHA-256. There is
 *  no cache: what ended on one node, or by the command line beside a server, has ended everywhere. */
export function sessionRecords(database: Database) {
  return {
    addLink: (of: { tokenHash: Uint8Array; userId: string; createdAt: number; expiresAt: number }): Promise<void> =>
      database.run(ADD_LINK, of.tokenHash, of.userId, of.createdAt, of.expiresAt),
    /** ID of the operator of a link. Null if the link does not exist or has expired, or if its user is no enabled operator any
     *  more. */
    userOfLink: async (linkHash: Uint8Array, now: number): Promise<string | null> =>
      (await database.row(USER_OF_LINK, linkHash, now))?.id ?? null,
    /** Uses the link and opens the session in one transaction. `unknown` for a link that does not exist, was used, has
     *  expired, or belongs to another user. */
    openByLink: (linkHash: Uint8Array, session: Session, tokenHash: Uint8Array): Promise<'opened' | 'unknown'> =>
      database.write(function* () {
        if ((yield* run(USE_LINK, linkHash, session.createdAt, session.userId)) === 0) return 'unknown'
        yield* open(session, tokenHash)
        return 'opened'
      }),
    open: (session: Session, tokenHash: Uint8Array): Promise<void> => database.write(() => open(session, tokenHash)),
    /** Uses up the proof and opens the session in one transaction. False, without a change, if the proof is not valid any
     *  more: it was used, the challenge has expired, the password was changed, or the user is disabled. */
    openByProof: (proof: SignInProof, session: Session, tokenHash: Uint8Array): Promise<boolean> =>
      database.write(function* () {
        if (!(yield* useProof(proof, session.userId, session.createdAt))) return false
        yield* open(session, tokenHash)
        return true
      }),
    /** Also one that has ended. */
    findByToken: (tokenHash: Uint8Array): Promise<Session | null> => database.row(FIND_BY_TOKEN, tokenHash),
    get: (id: string): Promise<Session | null> => database.row(GET, id),
    /** Sessions that have not ended, newest first; `userId`: only those of that user. */
    list: async (now: number, page: RecordsRequest, userId?: string): Promise<Page<Session>> => {
      const range = [now, ...rangeOf(page)]
      const rows =
        userId === undefined ? await database.rows(LIST, ...range) : await database.rows(LIST_OF_USER, ...range, userId)
      return toPage(rows, page, (session) => session)
    },
    /** Stores when sessions and their users were last seen, and the new expiry; sessions that have ended stay ended. */
    recordSeen: (seen: { id: string; at: number; endsAt: number }[]): Promise<void> =>
      database.write(function* () {
        for (const { id, at, endsAt } of seen) {
          yield* run(USER_SEEN, id, at)
          yield* run(RECORD_SEEN, id, at, endsAt)
        }
      }),
    /** Ends a session permanently. */
    end: (id: string): Promise<void> => database.run(END, id),
    /** Ends every session of a user except `keep`. */
    endOf: (userId: string, keep: string | null): Promise<void> => database.run(END_SESSIONS, userId, keep),
    /** Deletes at most `limit` links, as many sessions that ended before `before`, and as many sign-ins that were not
     *  completed; returns the number deleted. */
    prune: (before: number, limit: number): Promise<number> =>
      database.write(function* () {
        let pruned = 0
        for (const statement of PRUNE) pruned += yield* run(statement, before, limit)
        return pruned
      }),
  }
}

function* open(session: Session, tokenHash: Uint8Array): Work<void> {
  const { id, userId, createdAt, lastSeenAt, endsAt, ipAddress, userAgent } = session
  yield* run(OPEN, id, userId, tokenHash, createdAt, lastSeenAt, endsAt, ipAddress, userAgent)
}
