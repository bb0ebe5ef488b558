import { FIRST_USER } from '../../model/user.ts'
import { run, sql, type Work } from '../sql.ts'

/** Enabled, and in effect (userWith): a condition of `users`. */
export const IS_OPERATOR = `(operator and disabled_at is null and (email_verified_at is not null or id = '${FIRST_USER}'))`
const END_SESSIONS = sql('delete from sessions where user_id = $1 and id is distinct from $2::text')

/** Ends every session of a user except `keep`. */
export function* endSessions(userId: string, keep: string | null): Work<void> {
  yield* run(END_SESSIONS, userId, keep)
}
