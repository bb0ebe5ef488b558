import { FIRST_USER } from '../../model/user.ts'
import { run, sql, type Work } from '../sql.ts'

/** Enabled, and in effect (userWith): a condition of `users`. */
export const IS_OPERATOR = `(operator and disabled_at is null and (email_verified_at is not null or id = '${FIRST_USER}'))`
// The row is locked, so that of two changes at once the second one sees what the first one left.
export const LOCK_USER = sql<object>('select 1 from users where id = $1 for update')
const END_CHALLENGES = sql('delete from sign_in_challenges where user_id = $1')
const END_SESSIONS = sql('delete from sessions where user_id = $1 and id is distinct from $2::text')

/** Ends every session of a user except `keep`. */
export function* endSessions(userId: string, keep: string | null): Work<void> {
  yield* run(END_SESSIONS, userId, keep)
}

/** The same, and ends sign-ins that wait for an answer. */
export function* endSignIns(userId: string, keep: string | null): Work<void> {
  yield* run(END_CHALLENGES, userId)
  yield* endSessions(userId, keep)
}
