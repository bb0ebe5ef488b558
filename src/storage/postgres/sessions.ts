import type { Session } from '../../model/session.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Sessions } from '../store.ts'
import type { Reads } from './reads.ts'
import { useProof } from './sign-in-proofs.ts'
import type { Statements } from './transactions.ts'
import { IS_OPERATOR } from './users.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, user_id as "userId", created_at::float8 as "createdAt", last_seen_at::float8 as "lastSeenAt",
  ends_at::float8 as "endsAt", ip_address as "ipAddress", user_agent as "userAgent"`
const ADD_LINK = 'insert into login_links (token_hash, user_id, created_at, expires_at) values ($1, $2, $3, $4)'
const USER_OF_LINK = `select u.id from login_links l join users u on u.id = coalesce(l.user_id,
    (select id from users where ${IS_OPERATOR} order by id limit 1))
  where l.token_hash = $1 and l.expires_at > $2 and ${IS_OPERATOR}`
const USE_LINK = `delete from login_links
  where token_hash = $1 and expires_at > $2 and coalesce(user_id = $3, true)`
const OPEN = `insert into sessions (id, user_id, token_hash, created_at, last_seen_at, ends_at, ip_address, user_agent)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`
const FIND_BY_TOKEN = `select ${COLUMNS} from sessions where token_hash = $1`
const GET = `select ${COLUMNS} from sessions where id = $1`
const LIST = `select ${COLUMNS} from sessions
  where ends_at > $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`
const LIST_OF_USER = `select ${COLUMNS} from sessions
  where ends_at > $1 and id < $2 and created_at >= $3 and created_at < $4 and user_id = $6 order by id desc limit $5`
const RECORD_SEEN = `update sessions set last_seen_at = greatest($2::bigint, last_seen_at),
  ends_at = greatest($3::bigint, ends_at) where id = $1 and ends_at > $2::bigint`
const END = 'delete from sessions where id = $1'
const USER_SEEN = `update users set last_seen_at = greatest($2::bigint, last_seen_at)
  where id = (select user_id from sessions where id = $1 and ends_at > $2::bigint)`
const END_OF_USER = 'delete from sessions where user_id = $1 and id is distinct from $2::text'
const PRUNE_LINKS = `delete from login_links where token_hash = any(array(
  select token_hash from login_links where expires_at < $1 order by expires_at limit $2))`
const PRUNE_REQUESTS = `delete from sign_on_requests where state_hash = any(array(
  select state_hash from sign_on_requests where expires_at < $1 order by expires_at limit $2))`
const PRUNE_SESSIONS = `delete from sessions where id = any(array(
  select id from sessions where ends_at < $1 order by ends_at limit $2))`
const PRUNE_CHALLENGES = `delete from sign_in_challenges where token_hash = any(array(
  select token_hash from sign_in_challenges where expires_at < $1 order by expires_at limit $2))`

/** Without a cache: a session that ended on one node has ended on all of them. */
export function postgresSessions(reads: Reads, writer: Writer): Sessions {
  const insert = async ({ run }: Statements, session: Session, tokenHash: Uint8Array) => {
    const { id, userId, createdAt, lastSeenAt, endsAt, ipAddress, userAgent } = session
    await run(OPEN, [id, userId, tokenHash, createdAt, lastSeenAt, endsAt, ipAddress, userAgent])
  }
  const first = async (text: string, value: unknown) => (await reads.query<Session>(text, [value]))[0] ?? null

  return {
    addLink: ({ tokenHash, userId, createdAt, expiresAt }) =>
      writer.write(async ({ run }) => {
        await run(ADD_LINK, [tokenHash, userId, createdAt, expiresAt])
      }),
    userOfLink: async (linkHash, now) =>
      (await reads.query<{ id: string }>(USER_OF_LINK, [linkHash, now]))[0]?.id ?? null,
    openByLink: (linkHash, session, tokenHash) =>
      writer.write(async (statements) => {
        if ((await statements.run(USE_LINK, [linkHash, session.createdAt, session.userId])) === 0) return 'unknown'
        await insert(statements, session, tokenHash)
        return 'opened'
      }),
    open: (session, tokenHash) => writer.write((statements) => insert(statements, session, tokenHash)),
    openByProof: (proof, session, tokenHash) =>
      writer.write(async (statements) => {
        if (!(await useProof(statements, proof, session.userId, session.createdAt))) return false
        await insert(statements, session, tokenHash)
        return true
      }),
    findByToken: (tokenHash) => first(FIND_BY_TOKEN, tokenHash),
    get: (id) => first(GET, id),
    list: async (now, page, userId) => {
      const range = [now, ...rangeOf(page)]
      const rows =
        userId === undefined
          ? await reads.query<Session>(LIST, range)
          : await reads.query<Session>(LIST_OF_USER, [...range, userId])
      return toPage(rows, page, (session) => session)
    },
    recordSeen: (seen) =>
      writer.write(async ({ run }) => {
        for (const { id, at, endsAt } of seen) {
          await run(USER_SEEN, [id, at])
          await run(RECORD_SEEN, [id, at, endsAt])
        }
      }),
    end: (id) =>
      writer.write(async ({ run }) => {
        await run(END, [id])
      }),
    endOf: (userId, keep) =>
      writer.write(async ({ run }) => {
        await run(END_OF_USER, [userId, keep])
      }),
    prune: (before, limit) =>
      writer.write(async ({ run }) => {
        let pruned = 0
        for (const text of [PRUNE_LINKS, PRUNE_REQUESTS, PRUNE_SESSIONS, PRUNE_CHALLENGES])
          pruned += await run(text, [before, limit])
        return pruned
      }),
  }
}
