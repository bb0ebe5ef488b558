import {
  FIRST_USER,
  type Grants,
  gains,
  grantsOf,
  MAX_ROLES,
  type Role,
  type User,
  userWith,
} from '../../model/user.ts'
import { row, rows, run, sql, type Work } from '../sql.ts'

/** What several records read and change of users. */

/** Columns of `users u`. */
export const USER_COLUMNS = `u.id, u.email, u.email_verified_at as "emailVerifiedAt", u.invited_to as "invitedTo",
  u.name, u.operator::boolean as "isOperator", u.created_at as "createdAt", u.disabled_at as "disabledAt",
  u.last_seen_at as "lastSeenAt",
  (select json_object_agg(r.organization_id, r.role)::text from user_roles r where r.user_id = u.id) as roles`
/** Enabled, and in effect (userWith): a condition of `users`. */
export const IS_OPERATOR = `(operator and disabled_at is null and (email_verified_at is not null or id = '${FIRST_USER}'))`
export const GET_USER = sql<UserRow>(`select ${USER_COLUMNS} from users u where u.id = $1`)
// Rows are locked, so that of two changes at once the second one sees what the first one left.
export const LOCK_USER = sql<object>('select 1 from users where id = $1 for update')
const LOCK_OPERATORS = sql<{ id: string }>(`select id from users where ${IS_OPERATOR} order by id for update`)
const ADD_USER = sql(`insert into users (id, email, name, operator, password_hash, created_at, disabled_at,
    last_seen_at, email_verified_at, invited_to)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (email) do nothing`)
export const SET_ROLE = sql(`insert into user_roles (user_id, organization_id, role) values ($1, $2, $3)
  on conflict (user_id, organization_id) do update set role = excluded.role`)
const MEMBERS = sql<{ count: number }>('select count(*) as count from user_roles where organization_id = $1')
export const END_RESETS = sql('delete from password_resets where user_id = $1')
const END_CHALLENGES = sql('delete from sign_in_challenges where user_id = $1')
/** Every session of a user except one. */
export const END_SESSIONS = sql('delete from sessions where user_id = $1 and id is distinct from $2::text')

/** A row of USER_COLUMNS. */
export type UserRow = Omit<User, 'roles' | 'awaiting'> & { roles: string | null }

export function toUser({ roles, isOperator, ...account }: UserRow): User {
  return userWith(account, { isOperator, roles: JSON.parse(roles ?? '{}') as Record<string, Role> }) // of user_roles
}

/** Locks the user → the user with its roles; null if there is none. */
export function* lockedUser(id: string): Work<User | null> {
  yield* row(LOCK_USER, id)
  // A statement that waits for a lock still reads the roles as they were when it began.
  const found = yield* row(GET_USER, id)
  return found === null ? null : toUser(found)
}

/** Locks all operators → true if this is the only one. */
export function* isLastOperator(id: string): Work<boolean> {
  const operators = yield* rows(LOCK_OPERATORS)
  return operators.length === 1 && operators[0]?.id === id
}

/** Adds the user with the roles that were granted. False, without a change, if the address belongs to another. */
export function* addUser(user: User, passwordHash: string | null): Work<boolean> {
  const { id, email, name, createdAt, disabledAt, lastSeenAt, emailVerifiedAt, invitedTo } = user
  const { isOperator, roles } = grantsOf(user)
  const values = [id, email, name, isOperator, passwordHash, createdAt, disabledAt, lastSeenAt]
  if ((yield* run(ADD_USER, ...values, emailVerifiedAt, invitedTo)) === 0) return false
  yield* setRoles(id, roles)
  return true
}

export function* setRoles(userId: string, roles: Grants['roles']): Work<void> {
  for (const [organizationId, role] of Object.entries(roles)) yield* run(SET_ROLE, userId, organizationId, role)
}

/** True if a user with these grants cannot get a role in the organization: one of the two has MAX_ROLES. A role that the
 *  user has is replaced, which is always possible. */
export function* isFull({ roles }: Grants, organizationId: string): Work<boolean> {
  if (roles[organizationId] !== undefined) return false
  const members = (yield* row(MEMBERS, organizationId))?.count ?? 0
  return Object.keys(roles).length >= MAX_ROLES || members >= MAX_ROLES
}

/** After a change of a user: sessions do not get more rights without a new sign-in. */
export function* endSessionsIfMore(before: User): Work<void> {
  const after = yield* row(GET_USER, before.id)
  if (after !== null && gains(before, toUser(after))) yield* run(END_SESSIONS, before.id, null)
}

/** Ends every session of a user except `keep`, and sign-ins that wait for an answer. */
export function* endSignIns(userId: string, keep: string | null): Work<void> {
  yield* run(END_CHALLENGES, userId)
  yield* run(END_SESSIONS, userId, keep)
}
