import { type Database, row, run, sql, type Work } from '../sql.ts'
import type { PasswordReset, Users } from '../store.ts'
import { END_RESETS, endSessionsIfMore, endSignIns, LOCK_USER, lockedUser } from './user-rows.ts'

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
export function passwordRecords(
  database: Database,
): Pick<
  Users,
  'passwordHash' | 'setPassword' | 'changePassword' | 'addResets' | 'reset' | 'useReset' | 'verify' | 'clear'
> {
  return {
    passwordHash: async (id) => (await database.row(PASSWORD, id))?.hash ?? null,
    setPassword: (id, hash, keep) =>
      database.write(function* () {
        yield* run(SET_PASSWORD, id, hash)
        yield* endAccess(id, keep)
      }),
    changePassword: (id, { from, to, sessionId }) =>
      database.write(function* () {
        yield* row(LOCK_USER, id)
        if ((yield* run(CHANGE_PASSWORD, id, from, to, sessionId)) === 0) return false
        yield* endAccess(id, sessionId)
        return true
      }),
    addResets: (resets) =>
      database.write(function* () {
        for (const { userId } of resets) yield* run(END_RESETS, userId)
        for (const { tokenHash, userId, createdAt, expiresAt, isProof } of resets)
          yield* run(ADD_RESET, tokenHash, userId, createdAt, expiresAt, isProof)
      }),
    reset: (tokenHash, now) => database.row(FIND_RESET, tokenHash, now),
    useReset: (tokenHash, { hash, removesSince, now }) =>
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
    verify: (id, now) =>
      database.write(function* () {
        const user = yield* lockedUser(id)
        yield* run(VERIFY, id, now)
        if (user !== null) yield* endSessionsIfMore(user)
      }),
    clear: (id, { proved, now }) =>
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
