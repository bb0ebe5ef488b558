import {
  FIRST_USER,
  type Grants,
  gains,
  grantsOf,
  MAX_ROLES,
  ROLES,
  type Role,
  type User,
  userAfter,
  userWith,
} from '../../model/user.ts'
import { rangeOf, toPage } from '../page.ts'
import type { PasswordReset, Users } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Queries, Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

/** Of `users u`. */
export const USER_COLUMNS = `u.id, u.email, u.email_verified_at::float8 as "emailVerifiedAt", u.invited_to as "invitedTo",
  u.name, u.operator as "isOperator", u.created_at::float8 as "createdAt", u.disabled_at::float8 as "disabledAt",
  u.last_seen_at::float8 as "lastSeenAt",
  (select json_object_agg(r.organization_id, r.role)::text from user_roles r where r.user_id = u.id) as roles`
/** Enabled, and in effect (userWith): a condition of `users`. */
export const IS_OPERATOR = `(operator and disabled_at is null and (email_verified_at is not null or id = '${FIRST_USER}'))`
const CREATE = `insert into users (id, email, name, operator, password_hash, created_at, disabled_at, last_seen_at,
    email_verified_at, invited_to)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (email) do nothing`
const GET = `select ${USER_COLUMNS} from users u where u.id = $1`
const FIND_BY_EMAIL = `select ${USER_COLUMNS} from users u where u.email = $1`
const OPERATORS = `select ${USER_COLUMNS} from users u where ${IS_OPERATOR} order by u.id limit 100`
const FIRST_TWO = `select ${USER_COLUMNS} from users u order by u.id limit 2`
const RANGE = 'u.id < $1 and u.created_at >= $2 and u.created_at < $3 order by u.id desc limit $4'
const LIST = `select ${USER_COLUMNS} from users u where ${RANGE}`
const LIST_OF_ORGANIZATION = `select ${USER_COLUMNS} from user_roles m join users u on u.id = m.user_id
  where m.organization_id = $5 and ${RANGE.replaceAll('u.id', 'm.user_id')}`
// The rows are locked, so that of two changes at once the second one sees what the first one left.
export const LOCK_USER = 'select 1 from users where id = $1 for update'
export const LOCK_OPERATORS = `select id from users where ${IS_OPERATOR} order by id for update`
const LOCK_OWNERS = `select u.id from user_roles r join users u on u.id = r.user_id
  where r.organization_id = $1 and r.role = 'owner' and u.disabled_at is null
    and (u.email_verified_at is not null or u.id = '${FIRST_USER}' or u.invited_to = r.organization_id)
  order by u.id for update`
const IS_TAKEN = 'select 1 from users where email = $1 and id <> $2'
const UPDATE = `update users set email = $2, name = $3, operator = $4, disabled_at = $5, email_verified_at = $6
  where id = $1`
const SET_ROLE = `insert into user_roles (user_id, organization_id, role) values ($1, $2, $3)
  on conflict (user_id, organization_id) do update set role = excluded.role`
const REMOVE_ROLE = 'delete from user_roles where user_id = $1 and organization_id = $2'
const MEMBERS = 'select count(*)::int as count from user_roles where organization_id = $1'
/** Those added at a time or later. */
const REMOVE_FACTORS = [
  `delete from recovery_codes where user_id = $1
    and exists (select 1 from totp where user_id = $1 and created_at >= $2)`,
  'delete from totp where user_id = $1 and created_at >= $2',
  'delete from passkeys where user_id = $1 and created_at >= $2',
]
/** Before a role or the account is removed. An operator's keys get no limit; those of a user without a role there, and no
 *  earlier one, the least. */
const NOTE_ROLE = `update api_keys set maker_role = case
    when exists (select 1 from users where id = $1 and operator and (email_verified_at is not null or id = '${FIRST_USER}'))
    then null else coalesce((select r.role from user_roles r where r.user_id = $1
      and r.organization_id = api_keys.organization_id), maker_role, '${ROLES.at(-1)}') end
  where created_by = $1`
const REMOVE = [
  'delete from totp where user_id = $1',
  'delete from recovery_codes where user_id = $1',
  'delete from passkeys where user_id = $1',
  'delete from sign_in_challenges where user_id = $1',
  'delete from password_resets where user_id = $1',
  'delete from sessions where user_id = $1',
  'delete from user_roles where user_id = $1',
  'delete from user_identities where user_id = $1',
  'delete from users where id = $1',
]
const PASSWORD = 'select password_hash as hash from users where id = $1'
const SET_PASSWORD = 'update users set password_hash = $2 where id = $1'
const CHANGE_PASSWORD = `update users set password_hash = $3 where id = $1 and password_hash is not distinct from $2
  and exists (select 1 from sessions where id = $4 and user_id = $1)`
const END_RESETS = 'delete from password_resets where user_id = $1'
const ADD_RESET = `insert into password_resets (token_hash, user_id, created_at, expires_at, is_proof)
  values ($1, $2, $3, $4, $5)`
const FIND_RESET = `select r.user_id as "userId", r.is_proof as "isProof" from password_resets r join users u on u.id = r.user_id
  where r.token_hash = $1 and r.expires_at > $2 and u.disabled_at is null`
const LOCK_RESET = `${FIND_RESET} for update`
const END_CHALLENGES = 'delete from sign_in_challenges where user_id = $1'
const END_SESSIONS = 'delete from sessions where user_id = $1 and id is distinct from $2::text'
const VERIFY = 'update users set email_verified_at = $2 where id = $1 and email_verified_at is null'
const CLEAR = `update users set cleared_at = case when password_hash is not null
    or exists (select 1 from passkeys where user_id = users.id) or exists (select 1 from totp where user_id = users.id)
    then $2::bigint else cleared_at end, password_hash = $3 where id = $1`
const WAITING = `select ${USER_COLUMNS} from users u
  where u.email_verified_at is null and u.id <> '${FIRST_USER}'
    and (u.operator or exists (select 1 from user_roles r where r.user_id = u.id and r.organization_id is distinct from u.invited_to))
  order by u.id limit 100`
const CLEARED = `select ${USER_COLUMNS}, u.cleared_at::float8 as "clearedAt" from users u where u.cleared_at > $1
  order by u.cleared_at desc limit 100`
/** What nodes of the version before accept. */
const END_OLD_PASSWORD = 'delete from operator_password'

/** Without a cache or mirror: a change holds on every node at once. */
export function postgresUsers(reads: Reads, writer: Writer): Users {
  const first = async (queries: Queries, text: string, values: unknown[] = []) => {
    const [row] = await queries.query<UserRow>(text, values)
    return row === undefined ? null : toUser(row)
  }
  const locked = async (statements: Statements, id: string) => {
    await statements.query(LOCK_USER, [id])
    return first(statements, GET, [id])
  }
  const end = async ({ run }: Statements, id: string, keep: string | null) => {
    await run(END_RESETS, [id])
    await run(END_CHALLENGES, [id])
    await run(END_SESSIONS, [id, keep])
    if (id === FIRST_USER) await run(END_OLD_PASSWORD)
  }
  const remove = async (statements: Statements, id: string) => {
    await statements.run(NOTE_ROLE, [id])
    for (const text of REMOVE) await statements.run(text, [id])
    await end(statements, id, null)
  }
  const removeFactors = async ({ run }: Statements, id: string, since: number) => {
    for (const text of REMOVE_FACTORS) await run(text, [id, since])
  }
  /** After a change of roles: sessions do not get more rights without a new sign-in. */
  const endIfMore = async (statements: Statements, before: User) => {
    const after = await first(statements, GET, [before.id])
    if (after !== null && gains(before, after)) await statements.run(END_SESSIONS, [before.id, null])
  }
  const isLastOperator = async ({ query }: Statements, id: string) => {
    const operators = await query<{ id: string }>(LOCK_OPERATORS)
    return operators.length === 1 && operators[0]?.id === id
  }
  const isLastOwner = async ({ query }: Statements, organizationId: string, id: string) =>
    (await query<{ id: string }>(LOCK_OWNERS, [organizationId])).every((owner) => owner.id === id)
  const isFull = async ({ query }: Statements, { roles }: Grants, organizationId: string) => {
    const [row] = await query<{ count: number }>(MEMBERS, [organizationId])
    return Object.keys(roles).length >= MAX_ROLES || (row?.count ?? 0) >= MAX_ROLES
  }

  return {
    create: (user, passwordHash) =>
      writer.write(async ({ run }) => {
        const { id, email, name, createdAt, disabledAt, lastSeenAt, emailVerifiedAt, invitedTo } = user
        const { isOperator, roles } = grantsOf(user)
        const values = [id, email, name, isOperator, passwordHash, createdAt, disabledAt, lastSeenAt]
        if ((await run(CREATE, [...values, emailVerifiedAt, invitedTo])) === 0) return 'email_taken'
        for (const [organizationId, role] of Object.entries(roles)) await run(SET_ROLE, [id, organizationId, role])
        return 'created'
      }),
    get: (id) => first(reads, GET, [id]),
    findByEmail: (email) => first(reads, FIND_BY_EMAIL, [email]),
    operators: async () => (await reads.query<UserRow>(OPERATORS)).map(toUser),
    only: async () => {
      const [one, other] = await reads.query<UserRow>(FIRST_TWO)
      return one === undefined || other !== undefined ? null : toUser(one)
    },
    list: async (organizationId, page) => {
      const range = rangeOf(page)
      const rows =
        organizationId === null
          ? await reads.query<UserRow>(LIST, range)
          : await reads.query<UserRow>(LIST_OF_ORGANIZATION, [...range, organizationId])
      return toPage(rows, page, toUser)
    },
    update: (id, change) =>
      writer.write(async (statements) => {
        const isLast = await isLastOperator(statements, id)
        const present = await locked(statements, id)
        if (present === null) return 'unknown'
        const user = userAfter(present, change)
        if (isLast && (!user.isOperator || user.disabledAt !== null)) return 'last_operator'
        if (user.email !== null && (await statements.query(IS_TAKEN, [user.email, id])).length > 0) return 'email_taken'
        const { isOperator } = grantsOf(user)
        const values = [id, user.email, user.name, isOperator, user.disabledAt, user.emailVerifiedAt]
        await statements.run(UPDATE, values)
        if (user.email !== present.email) await statements.run(END_RESETS, [id])
        if (user.disabledAt !== null || (present.isOperator && !user.isOperator)) await end(statements, id, null)
        else if (gains(present, user)) await statements.run(END_SESSIONS, [id, null])
        return 'updated'
      }),
    setRole: (id, organizationId, role, mayRemoveLastOwner) =>
      writer.write(async (statements) => {
        const isLast = role !== 'owner' && (await isLastOwner(statements, organizationId, id))
        const user = await locked(statements, id)
        if (user === null) return 'unknown'
        const granted = grantsOf(user)
        const held = granted.roles[organizationId]
        if (held === 'owner' && isLast && !mayRemoveLastOwner) return 'last_owner'
        if (role === null) {
          await statements.run(NOTE_ROLE, [id])
          await statements.run(REMOVE_ROLE, [id, organizationId])
          const isLeft = granted.isOperator || Object.keys(granted.roles).some((each) => each !== organizationId)
          if (!isLeft) await remove(statements, id)
          return 'updated'
        }
        if (held === undefined && (await isFull(statements, granted, organizationId))) return 'too_many'
        await statements.run(SET_ROLE, [id, organizationId, role])
        await endIfMore(statements, user)
        return 'updated'
      }),
    remove: (id) =>
      writer.write(async (statements) => {
        if (await isLastOperator(statements, id)) return 'last_operator'
        if ((await locked(statements, id)) === null) return 'unknown'
        await remove(statements, id)
        return 'removed'
      }),
    passwordHash: async (id) => (await reads.query<{ hash: string | null }>(PASSWORD, [id]))[0]?.hash ?? null,
    setPassword: (id, hash, keep) =>
      writer.write(async (statements) => {
        await statements.run(SET_PASSWORD, [id, hash])
        await end(statements, id, keep)
      }),
    changePassword: (id, { from, to, sessionId }) =>
      writer.write(async (statements) => {
        await locked(statements, id)
        if ((await statements.run(CHANGE_PASSWORD, [id, from, to, sessionId])) === 0) return false
        await end(statements, id, sessionId)
        return true
      }),
    addResets: (resets) =>
      writer.write(async ({ run }) => {
        for (const { userId } of resets) await run(END_RESETS, [userId])
        for (const { tokenHash, userId, createdAt, expiresAt, isProof } of resets)
          await run(ADD_RESET, [tokenHash, userId, createdAt, expiresAt, isProof])
      }),
    reset: async (tokenHash, now) => (await reads.query<ResetRow>(FIND_RESET, [tokenHash, now]))[0] ?? null,
    useReset: (tokenHash, { hash, removesSince, now }) =>
      writer.write(async (statements) => {
        const [found] = await statements.query<ResetRow>(LOCK_RESET, [tokenHash, now])
        if (found === undefined) return null
        const { userId, isProof } = found
        await statements.run(SET_PASSWORD, [userId, hash])
        if (removesSince !== null) await removeFactors(statements, userId, removesSince)
        if (isProof) await statements.run(VERIFY, [userId, now])
        await end(statements, userId, null)
        return userId
      }),
    verify: (id, now) =>
      writer.write(async (statements) => {
        const user = await locked(statements, id)
        await statements.run(VERIFY, [id, now])
        if (user !== null) await endIfMore(statements, user)
      }),
    clear: (id, { proved, now }) =>
      writer.write(async (statements) => {
        await locked(statements, id)
        await statements.run(CLEAR, [id, now, proved?.passwordHash ?? null])
        await removeFactors(statements, id, 0)
        await end(statements, id, null)
        if (proved !== null) await statements.run(VERIFY, [id, now])
      }),
    waiting: async () => (await reads.query<UserRow>(WAITING)).map(toUser),
    cleared: async (since) =>
      (await reads.query<UserRow & { clearedAt: number }>(CLEARED, [since])).map(({ clearedAt, ...row }) => ({
        user: toUser(row),
        at: clearedAt,
      })),
  }
}

/** A row of USER_COLUMNS. */
export type UserRow = Omit<User, 'roles' | 'awaiting'> & { roles: string | null }

type ResetRow = Pick<PasswordReset, 'userId' | 'isProof'>

export function toUser({ roles, isOperator, ...row }: UserRow): User {
  return userWith(row, { isOperator, roles: JSON.parse(roles ?? '{}') as Record<string, Role> })
}
