import {
  FIRST_USER,
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
import type { Users } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { Writer } from './writer.ts'

/** Of `users u`. */
export const USER_COLUMNS = `u.id, u.email, u.email_verified_at as emailVerifiedAt, u.invited_to as invitedTo, u.name,
  u.operator as isOperator, u.created_at as createdAt, u.disabled_at as disabledAt, u.last_seen_at as lastSeenAt,
  (select json_group_object(r.organization_id, r.role) from user_roles r where r.user_id = u.id) as roles`
/** Enabled, and in effect (userWith): a condition of `users`. */
export const IS_OPERATOR = `(operator and disabled_at is null and (email_verified_at is not null or id = '${FIRST_USER}'))`
const CREATE = `insert into users (id, email, name, operator, password_hash, created_at, disabled_at, last_seen_at,
    email_verified_at, invited_to)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (email) do nothing`
const GET = `select ${USER_COLUMNS} from users u where u.id = ?`
const FIND_BY_EMAIL = `select ${USER_COLUMNS} from users u where u.email = ?`
const OPERATORS = `select ${USER_COLUMNS} from users u where ${IS_OPERATOR} order by u.id limit 100`
const FIRST_TWO = `select ${USER_COLUMNS} from users u order by u.id limit 2`
const RANGE = 'u.id < ? and u.created_at >= ? and u.created_at < ? order by u.id desc limit ?'
const LIST = `select ${USER_COLUMNS} from users u where ${RANGE}`
const LIST_OF_ORGANIZATION = `select ${USER_COLUMNS} from user_roles m join users u on u.id = m.user_id
  where m.organization_id = ? and ${RANGE.replaceAll('u.id', 'm.user_id')}`
const IS_TAKEN = 'select count(*) from users where email = ? and id <> ?'
const UPDATE = 'update users set email = ?, email_verified_at = ?, name = ?, operator = ?, disabled_at = ? where id = ?'
export const OTHER_OPERATORS = `select count(*) from users where ${IS_OPERATOR} and id <> ?`
const SET_ROLE = `insert into user_roles (user_id, organization_id, role) values (?, ?, ?)
  on conflict (user_id, organization_id) do update set role = excluded.role`
const REMOVE_ROLE = 'delete from user_roles where user_id = ? and organization_id = ?'
const OTHER_OWNERS = `select count(*) from user_roles r join users u on u.id = r.user_id
  where r.organization_id = ? and r.role = 'owner' and u.disabled_at is null and u.id <> ?
    and (u.email_verified_at is not null or u.id = '${FIRST_USER}' or u.invited_to = r.organization_id)`
const MEMBERS = 'select count(*) from user_roles where organization_id = ?'
/** Those added at a time or later. */
const REMOVE_FACTORS = [
  `delete from recovery_codes where user_id = @id
    and exists (select 1 from totp where user_id = @id and created_at >= @since)`,
  'delete from totp where user_id = @id and created_at >= @since',
  'delete from passkeys where user_id = @id and created_at >= @since',
]
/** Before a role or the account is removed. An operator's keys get no limit; those of a user without a role there, and no
 *  earlier one, the least. */
const NOTE_ROLE = `update api_keys set maker_role = case
    when exists (select 1 from users where id = @id and operator and (email_verified_at is not null or id = '${FIRST_USER}'))
    then null else coalesce((select r.role from user_roles r where r.user_id = @id
      and r.organization_id = api_keys.organization_id), maker_role, '${ROLES.at(-1)}') end
  where created_by = @id`
const REMOVE = [
  'delete from totp where user_id = ?',
  'delete from recovery_codes where user_id = ?',
  'delete from passkeys where user_id = ?',
  'delete from sign_in_challenges where user_id = ?',
  'delete from password_resets where user_id = ?',
  'delete from sessions where user_id = ?',
  'delete from user_roles where user_id = ?',
  'delete from user_identities where user_id = ?',
  'delete from users where id = ?',
]
const PASSWORD = 'select password_hash from users where id = ?'
const SET_PASSWORD = 'update users set password_hash = ? where id = ?'
const CHANGE_PASSWORD = `update users set password_hash = @to where id = @id and password_hash is @from
  and exists (select 1 from sessions where id = @sessionId and user_id = @id)`
const END_RESETS = 'delete from password_resets where user_id = ?'
const ADD_RESET = `insert into password_resets (token_hash, user_id, is_proof, created_at, expires_at)
  values (?, ?, ?, ?, ?)`
const FIND_RESET = `select r.user_id as userId, r.is_proof as isProof from password_resets r join users u on u.id = r.user_id
  where r.token_hash = ? and r.expires_at > ? and u.disabled_at is null`
const END_CHALLENGES = 'delete from sign_in_challenges where user_id = ?'
const END_SESSIONS = 'delete from sessions where user_id = ? and id is not ?'
const VERIFY = 'update users set email_verified_at = ? where id = ? and email_verified_at is null'
const CLEAR = `update users set cleared_at = case when password_hash is not null
    or exists (select 1 from passkeys where user_id = users.id) or exists (select 1 from totp where user_id = users.id)
    then @now else cleared_at end, password_hash = @passwordHash where id = @id`
const WAITING = `select ${USER_COLUMNS} from users u
  where u.email_verified_at is null and u.id <> '${FIRST_USER}'
    and (u.operator or exists (select 1 from user_roles r where r.user_id = u.id and r.organization_id is not u.invited_to))
  order by u.id limit 100`
const CLEARED = `select ${USER_COLUMNS}, u.cleared_at as clearedAt from users u where u.cleared_at > ?
  order by u.cleared_at desc limit 100`

export function sqliteUsers(db: Connection, writer: Writer): Users {
  const create = db.prepare(CREATE)
  const get = db.prepare<unknown[], UserRow>(GET)
  const findByEmail = db.prepare<unknown[], UserRow>(FIND_BY_EMAIL)
  const operators = db.prepare<unknown[], UserRow>(OPERATORS)
  const firstTwo = db.prepare<unknown[], UserRow>(FIRST_TWO)
  const list = db.prepare<unknown[], UserRow>(LIST)
  const listOfOrganization = db.prepare<unknown[], UserRow>(LIST_OF_ORGANIZATION)
  const isTaken = db.prepare<unknown[], number>(IS_TAKEN).pluck()
  const update = db.prepare(UPDATE)
  const otherOperators = db.prepare<unknown[], number>(OTHER_OPERATORS).pluck()
  const setRole = db.prepare(SET_ROLE)
  const removeRole = db.prepare(REMOVE_ROLE)
  const otherOwners = db.prepare<unknown[], number>(OTHER_OWNERS).pluck()
  const members = db.prepare<unknown[], number>(MEMBERS).pluck()
  const noteRole = db.prepare(NOTE_ROLE)
  const removes = REMOVE.map((sql) => db.prepare(sql))
  const removeFactors = REMOVE_FACTORS.map((sql) => db.prepare(sql))
  const password = db.prepare<unknown[], string | null>(PASSWORD).pluck()
  const setPassword = db.prepare(SET_PASSWORD)
  const changePassword = db.prepare(CHANGE_PASSWORD)
  const endResets = db.prepare(END_RESETS)
  const addReset = db.prepare(ADD_RESET)
  const findReset = db.prepare<unknown[], { userId: string; isProof: number }>(FIND_RESET)
  const endChallenges = db.prepare(END_CHALLENGES)
  const endSessions = db.prepare(END_SESSIONS)
  const verify = db.prepare(VERIFY)
  const clear = db.prepare(CLEAR)
  const waiting = db.prepare<unknown[], UserRow>(WAITING)
  const cleared = db.prepare<unknown[], UserRow & { clearedAt: number }>(CLEARED)

  const read = (row: UserRow | undefined) => (row === undefined ? null : toUser(row))
  const remove = (id: string) => {
    noteRole.run({ id })
    for (const statement of removes) statement.run(id)
  }
  const end = (id: string, keep: string | null) => {
    endResets.run(id)
    endChallenges.run(id)
    endSessions.run(id, keep)
  }
  const removeFactorsOf = (id: string, since: number) => {
    for (const statement of removeFactors) statement.run({ id, since })
  }
  /** After a change of roles: sessions do not get more rights without a new sign-in. */
  const endIfMore = (before: User) => {
    const after = read(get.get(before.id))
    if (after !== null && gains(before, after)) endSessions.run(before.id, null)
  }
  const isLastOperator = ({ id, isOperator, disabledAt }: User) =>
    isOperator && disabledAt === null && one(otherOperators, id) === 0

  return {
    create: (user, passwordHash) =>
      writer.write(() => {
        const { id, email, name, createdAt, disabledAt, lastSeenAt, emailVerifiedAt, invitedTo } = user
        const { isOperator, roles } = grantsOf(user)
        const values = [id, email, name, Number(isOperator), passwordHash, createdAt, disabledAt, lastSeenAt]
        if (create.run(...values, emailVerifiedAt, invitedTo).changes === 0) return 'email_taken'
        for (const [organizationId, role] of Object.entries(roles)) setRole.run(id, organizationId, role)
        return 'created'
      }),
    get: async (id) => read(get.get(id)),
    findByEmail: async (email) => read(findByEmail.get(email)),
    operators: async () => operators.all().map(toUser),
    only: async () => {
      const [first, second] = firstTwo.all()
      return first === undefined || second !== undefined ? null : toUser(first)
    },
    list: async (organizationId, page) => {
      const range = rangeOf(page)
      const rows = organizationId === null ? list.all(...range) : listOfOrganization.all(organizationId, ...range)
      return toPage(rows, page, toUser)
    },
    update: (id, change) =>
      writer.write(() => {
        const present = read(get.get(id))
        if (present === null) return 'unknown'
        const user = userAfter(present, change)
        const isLess = !user.isOperator || user.disabledAt !== null
        if (isLess && isLastOperator(present)) return 'last_operator'
        if (user.email !== null && one(isTaken, user.email, id) > 0) return 'email_taken'
        const isOperator = Number(grantsOf(user).isOperator)
        update.run(user.email, user.emailVerifiedAt, user.name, isOperator, user.disabledAt, id)
        if (user.email !== present.email) endResets.run(id)
        if (user.disabledAt !== null || (present.isOperator && !user.isOperator)) end(id, null)
        else if (gains(present, user)) endSessions.run(id, null)
        return 'updated'
      }),
    setRole: (id, organizationId, role, mayRemoveLastOwner) =>
      writer.write(() => {
        const user = read(get.get(id))
        if (user === null) return 'unknown'
        const granted = grantsOf(user)
        const held = granted.roles[organizationId]
        const isLast = held === 'owner' && role !== 'owner' && one(otherOwners, organizationId, id) === 0
        if (isLast && !mayRemoveLastOwner) return 'last_owner'
        if (role === null) {
          noteRole.run({ id })
          removeRole.run(id, organizationId)
          if (!granted.isOperator && Object.keys(granted.roles).every((each) => each === organizationId)) remove(id)
          return 'updated'
        }
        const isFull = Object.keys(granted.roles).length >= MAX_ROLES || one(members, organizationId) >= MAX_ROLES
        if (held === undefined && isFull) return 'too_many'
        setRole.run(id, organizationId, role)
        endIfMore(user)
        return 'updated'
      }),
    remove: (id) =>
      writer.write(() => {
        const user = read(get.get(id))
        if (user === null) return 'unknown'
        if (isLastOperator(user)) return 'last_operator'
        remove(id)
        return 'removed'
      }),
    passwordHash: async (id) => password.get(id) ?? null,
    setPassword: (id, hash, keep) =>
      writer.write(() => {
        setPassword.run(hash, id)
        end(id, keep)
      }),
    changePassword: (id, { from, to, sessionId }) =>
      writer.write(() => {
        if (changePassword.run({ id, from, to, sessionId }).changes === 0) return false
        end(id, sessionId)
        return true
      }),
    addResets: (resets) =>
      writer.write(() => {
        for (const { userId } of resets) endResets.run(userId)
        for (const { tokenHash, userId, isProof, createdAt, expiresAt } of resets)
          addReset.run(tokenHash, userId, Number(isProof), createdAt, expiresAt)
      }),
    reset: async (tokenHash, now) => {
      const row = findReset.get(tokenHash, now)
      return row === undefined ? null : { userId: row.userId, isProof: row.isProof === 1 }
    },
    useReset: (tokenHash, { hash, removesSince, now }) =>
      writer.write(() => {
        const row = findReset.get(tokenHash, now)
        if (row === undefined) return null
        setPassword.run(hash, row.userId)
        if (removesSince !== null) removeFactorsOf(row.userId, removesSince)
        if (row.isProof === 1) verify.run(now, row.userId)
        end(row.userId, null)
        return row.userId
      }),
    verify: (id, now) =>
      writer.write(() => {
        const user = read(get.get(id))
        verify.run(now, id)
        if (user !== null) endIfMore(user)
      }),
    clear: (id, { proved, now }) =>
      writer.write(() => {
        clear.run({ id, now, passwordHash: proved?.passwordHash ?? null })
        removeFactorsOf(id, 0)
        end(id, null)
        if (proved !== null) verify.run(now, id)
      }),
    waiting: async () => waiting.all().map(toUser),
    cleared: async (since) => cleared.all(since).map(({ clearedAt, ...row }) => ({ user: toUser(row), at: clearedAt })),
  }
}

/** A row of USER_COLUMNS. */
export type UserRow = Omit<User, 'isOperator' | 'roles' | 'awaiting'> & { isOperator: number; roles: string }

export function toUser({ isOperator, roles, ...row }: UserRow): User {
  return userWith(row, { isOperator: isOperator === 1, roles: JSON.parse(roles) as Record<string, Role> })
}
