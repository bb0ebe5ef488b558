import { type Database, row, run, sql, type Work } from '../sql.ts'
import { END_RESETS, endSessionsIfMore, endSignIns, LOCK_USER, lockedUser } from './user-rows.ts'

/** A link that sets a password once. */
interface PasswordReset {
  tokenHash: Uint8Array
  userId: string
  /** Whoever uses it reads the mail of the address, or was given the link by the operator at the console. */
  isProof: boolean
  createdAt: number
  expiresAt: number
}

type ResetRow = Pick<PasswordReset, 'userId' | 'isProof'>

const PASSWORD = sql<{ hash: string | null }>('select password_hash as hash from users where id = $1')
const SET_PASSWORD = sql('update users set password_hash = $2 where id = $1')
const CHANGE_PASSWORD = sql(`update users set password_hash = $3
  where id = $1 and password_hash is not distinct from $2
    and exists (select 1 from sessions where id = $4 and user_id = $1)`)
const ADD_RESET = sql(`insert into password_resets (token_hash, user_id, created_at, expires_at, is_proof)
  values ($1, $2, $3, $4, $5)`)
const RESET = `select r.user_id as "userId", r.is_proof::boolean as "isProof"
  from password_resets r join users u on u.id = r.user_id
  where r.token_hash = $1 and r.expires_at > $2 and u.disabled_at is null`
const FIND_RESET = sql<ResetRow>(RESET)
const LOCK_RESET = sql<ResetRow>(`${RESET} for update`)
const VERIFY = sql('update users set email_verified_at = $2 where id = $1 and email_verified_at is null')
const CLEAR = sql(`update users set cleared_at = case when password_hash is not null
    or exists (select 1 from passkeys where user_id = users.id) or exists (select 1 from totp where user_id = users.id)
    then $2::bigint else cleared_at end, password_hash = $3
  where id = $1`)
/** Those added at a time or later. */
const REMOVE_FACTORS = [
  sql(`delete from recovery_codes where user_id = $1
    and exists (select 1 from totp where user_id = $1 and created_at >= $2)`),
  sql('delete from totp where user_id = $1 and created_at >= $2'),
  sql('delete from passkeys where user_id = $1 and created_at >= $2'),
]

/** What a user signs in with first: the password, and proofs of the address that replace it. */
export function passwordRecords(database: Database) {
  return {
    /** Null if there is none, or no such user. */
    passwordHash: async (id: string): Promise<string | null> => (await database.row(PASSWORD, id))?.hash ?? null,
    /** Sets the password hash (null: removes it), deletes password resets, and ends every session of the user except
     *  `keep`. */
    setPassword: (id: string, hash: string | null, keep: string | null): Promise<void> =>
      database.write(function* () {
        yield* run(SET_PASSWORD, id, hash)
        yield* endAccess(id, keep)
      }),
    /** Replaces the password that a session was confirmed with, as setPassword does. False, without a change, if it is not
     *  the password any more or the session has ended: between the two, the account may have got another owner. */
    changePassword: (
      id: string,
      { from, to, sessionId }: { from: string | null; to: string; sessionId: string },
    ): Promise<boolean> =>
      database.write(function* () {
        yield* row(LOCK_USER, id)
        if ((yield* run(CHANGE_PASSWORD, id, from, to, sessionId)) === 0) return false
        yield* endAccess(id, sessionId)
        return true
      }),
    /** Adds links that set the password, and deletes earlier ones of the user. Of several, one can be used. */
    addResets: (resets: readonly PasswordReset[]): Promise<void> =>
      database.write(function* () {
        for (const { userId } of resets) yield* run(END_RESETS, userId)
        for (const { tokenHash, userId, createdAt, expiresAt, isProof } of resets)
          yield* run(ADD_RESET, tokenHash, userId, createdAt, expiresAt, isProof)
      }),
    /** The link; null if it does not exist, has expired, or the user is disabled. */
    reset: (tokenHash: Uint8Array, now: number): Promise<Pick<PasswordReset, 'userId' | 'isProof'> | null> =>
      database.row(FIND_RESET, tokenHash, now),
    /** Uses the link: sets the password hash, ends every session of its user, and removes passkeys and second factors that
     *  were added at `removesSince` or later (null: none). A proof verifies the address. One transaction. Resolves with the
     *  user's ID; null for a link that is not valid. */
    useReset: (
      tokenHash: Uint8Array,
      { hash, removesSince, now }: { hash: string; removesSince: number | null; now: number },
    ): Promise<string | null> =>
      database.write(function* () {
        const found = yield* row(LOCK_RESET, tokenHash, now)
        if (found === null) return null
        const { userId, isProof } = found
        yield* run(SET_PASSWORD, userId, hash)
        if (removesSince !== null) yield* removeFactors(userId, removesSince)
        if (isProof) yield* run(VERIFY, userId, now)
        yield* endAccess(userId, null)
        return userId
      }),
    /** Marks the address as verified, unless it is. */
    verify: (id: string, now: number): Promise<void> =>
      database.write(function* () {
        const user = yield* lockedUser(id)
        yield* run(VERIFY, id, now)
        if (user !== null) yield* endSessionsIfMore(user)
      }),
    /** Before an account whose address nobody has verified gets rights beyond the organization that invited it: ends
     *  everything that somebody else may have set up to sign in with, which is password, links, second factors, passkeys and
     *  sessions. In the same transaction, `proved` marks the address as verified and sets the password of the person who
     *  proved it (null: none); without it, the rights wait. Keys stay: they belong to the organization that invited, whose
     *  owners see them. Operators get an alert (events/alerts/sources.ts). Twice is harmless. */
    clear: (
      id: string,
      { proved, now }: { proved: { passwordHash: string | null } | null; now: number },
    ): Promise<void> =>
      database.write(function* () {
        yield* row(LOCK_USER, id)
        yield* run(CLEAR, id, now, proved?.passwordHash ?? null)
        yield* removeFactors(id, 0)
        yield* endAccess(id, null)
        if (proved !== null) yield* run(VERIFY, id, now)
      }),
  }
}

/** Ends links for a new password, sign-ins that wait for an answer, and every session of the user except `keep`. */
export function* endAccess(userId: string, keep: string | null): Work<void> {
  yield* run(END_RESETS, userId)
  yield* endSignIns(userId, keep)
}

function* removeFactors(userId: string, since: number): Work<void> {
  for (const statement of REMOVE_FACTORS) yield* run(statement, userId, since)
}
