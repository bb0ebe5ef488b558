import { FIRST_USER, MAX_ROLES, type Role, type User } from '../../model/user.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Users } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Queries, Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

/** Of `users u`. */
export const USER_COLUMNS = `u.id, u.email, u.name, u.operator as "isOperator", u.created_at::float8 as "createdAt",
  u.disabled_at::float8 as "disabledAt", u.last_seen_at::float8 as "lastSeenAt",
  (select json_object_agg(r.organization_id, r.role)::text from user_roles r where r.user_id = u.id) as roles`
const CREATE = `insert into users (id, email, name, operator, password_hash, created_at, disabled_at, last_seen_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (email) do nothing`
const GET = `select ${USER_COLUMNS} from users u where u.id = $1`
const FIND_BY_EMAIL = `select ${USER_COLUMNS} from users u where u.email = $1`
const OPERATORS = `select ${USER_COLUMNS} from users u where u.operator and u.disabled_at is null order by u.id limit 100`
const FIRST_TWO = `select ${USER_COLUMNS} from users u order by u.id limit 2`
const RANGE = 'u.id < $1 and u.created_at >= $2 and u.created_at < $3 order by u.id desc limit $4'
const LIST = `select ${USER_COLUMNS} from users u where ${RANGE}`
const LIST_OF_ORGANIZATION = `select ${USER_COLUMNS} from user_roles m join users u on u.id = m.user_id
  where m.organization_id = $5 and ${RANGE.replaceAll('u.id', 'm.user_id')}`
// The rows are locked, so that of two changes at once the second one sees what the first one left.
export const LOCK_USER = 'select 1 from users where id = $1 for update'
export const LOCK_OPERATORS = 'select id from users where operator and disabled_at is null order by id for update'
const LOCK_OWNERS = `select u.id from user_roles r join users u on u.id = r.user_id
  where r.organization_id = $1 and r.role = 'owner' and u.disabled_at is null order by u.id for update`
const IS_TAKEN = 'select 1 from users where email = $1 and id <> $2'
const UPDATE = 'update users set email = $2, name = $3, operator = $4, disabled_at = $5 where id = $1'
const SET_ROLE = `insert into user_roles (user_id, organization_id, role) values ($1, $2, $3)
  on conflict (user_id, organization_id) do update set role = excluded.role`
const REMOVE_ROLE = 'delete from user_roles where user_id = $1 and organization_id = $2'
const MEMBERS = 'select count(*)::int as count from user_roles where organization_id = $1'
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
const END_RESETS = 'delete from password_resets where user_id = $1'
const ADD_RESET = 'insert into password_resets (token_hash, user_id, created_at, expires_at) values ($1, $2, $3, $4)'
const FIND_RESET = `select r.user_id as "userId" from password_resets r join users u on u.id = r.user_id
  where r.token_hash = $1 and r.expires_at > $2 and u.disabled_at is null`
const LOCK_RESET = `${FIND_RESET} for update`
const END_CHALLENGES = 'delete from sign_in_challenges where user_id = $1'
const END_SESSIONS = 'delete from sessions where user_id = $1 and id is distinct from $2::text'
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
    for (const text of REMOVE) await statements.run(text, [id])
    await end(statements, id, null)
  }
  const isLastOperator = async ({ query }: Statements, id: string) => {
    const operators = await query<{ id: string }>(LOCK_OPERATORS)
    return operators.length === 1 && operators[0]?.id === id
  }
  const isLastOwner = async ({ query }: Statements, organizationId: string, id: string) =>
    (await query<{ id: string }>(LOCK_OWNERS, [organizationId])).every((owner) => owner.id === id)
  const isFull = async ({ query }: Statements, { roles }: User, organizationId: string) => {
    const [row] = await query<{ count: number }>(MEMBERS, [organizationId])
    return Object.keys(roles).length >= MAX_ROLES || (row?.count ?? 0) >= MAX_ROLES
  }

  return {
    create: (user, passwordHash) =>
      writer.write(async ({ run }) => {
        const { id, email, name, isOperator, createdAt, disabledAt, lastSeenAt } = user
        const values = [id, email, name, isOperator, passwordHash, createdAt, disabledAt, lastSeenAt]
        if ((await run(CREATE, values)) === 0) return 'email_taken'
        for (const [organizationId, role] of Object.entries(user.roles)) await run(SET_ROLE, [id, organizationId, role])
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
        const isLess = change.isOperator === false || (change.disabledAt ?? null) !== null
        if (isLess && (await isLastOperator(statements, id))) return 'last_operator'
        const present = await locked(statements, id)
        if (present === null) return 'unknown'
        const user = { ...present, ...change }
        if (user.email !== null && (await statements.query(IS_TAKEN, [user.email, id])).length > 0) return 'email_taken'
        await statements.run(UPDATE, [id, user.email, user.name, user.isOperator, user.disabledAt])
        if (user.disabledAt !== null || (present.isOperator && !user.isOperator)) await end(statements, id, null)
        return 'updated'
      }),
    setRole: (id, organizationId, role, mayRemoveLastOwner) =>
      writer.write(async (statements) => {
        const isLast = role !== 'owner' && (await isLastOwner(statements, organizationId, id))
        const user = await locked(statements, id)
        if (user === null) return 'unknown'
        const held = user.roles[organizationId]
        if (held === 'owner' && isLast && !mayRemoveLastOwner) return 'last_owner'
        if (role === null) {
          await statements.run(REMOVE_ROLE, [id, organizationId])
          const isLeft = user.isOperator || Object.keys(user.roles).some((each) => each !== organizationId)
          if (!isLeft) await remove(statements, id)
          return 'updated'
        }
        if (held === undefined && (await isFull(statements, user, organizationId))) return 'too_many'
        await statements.run(SET_ROLE, [id, organizationId, role])
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
    addReset: ({ tokenHash, userId, createdAt, expiresAt }) =>
      writer.write(async ({ run }) => {
        await run(END_RESETS, [userId])
        await run(ADD_RESET, [tokenHash, userId, createdAt, expiresAt])
      }),
    userOfReset: async (tokenHash, now) =>
      (await reads.query<{ userId: string }>(FIND_RESET, [tokenHash, now]))[0]?.userId ?? null,
    useReset: (tokenHash, hash, now) =>
      writer.write(async (statements) => {
        const [found] = await statements.query<{ userId: string }>(LOCK_RESET, [tokenHash, now])
        if (found === undefined) return null
        await statements.run(SET_PASSWORD, [found.userId, hash])
        await end(statements, found.userId, null)
        return found.userId
      }),
  }
}

/** A row of USER_COLUMNS. */
export type UserRow = Omit<User, 'roles'> & { roles: string | null }

export function toUser({ roles, ...row }: UserRow): User {
  return { ...row, roles: JSON.parse(roles ?? '{}') as Record<string, Role> }
}
