import {
  FIRST_USER,
  type Grants,
  gains,
  grantsOf,
  ROLES,
  type Role,
  type User,
  type UserChange,
  userAfter,
} from '../../model/user.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { type Database, row, rows, run, type Statement, sql, type Work } from '../sql.ts'
import { endAccess, passwordRecords } from './passwords.ts'
import {
  addUser,
  END_RESETS,
  END_SESSIONS,
  endSessionsIfMore,
  GET_USER,
  IS_OPERATOR,
  isFull,
  isLastOperator,
  lockedUser,
  SET_ROLE,
  toUser,
  USER_COLUMNS,
  type UserRow,
} from './user-rows.ts'

const FIND_BY_EMAIL = sql<UserRow>(`select ${USER_COLUMNS} from users u where u.email = $1`)
const OPERATORS = sql<UserRow>(`select ${USER_COLUMNS} from users u where ${IS_OPERATOR} order by u.id limit 100`)
const FIRST_TWO = sql<UserRow>(`select ${USER_COLUMNS} from users u order by u.id limit 2`)
const LIST = sql<UserRow>(`select ${USER_COLUMNS} from users u
  where u.id < $1 and u.created_at >= $2 and u.created_at < $3 order by u.id desc limit $4`)
const LIST_OF_ORGANIZATION = sql<UserRow>(`select ${USER_COLUMNS} from user_roles m join users u on u.id = m.user_id
  where m.organization_id = $5 and m.user_id < $1 and u.created_at >= $2 and u.created_at < $3
  order by m.user_id desc limit $4`)
const LOCK_OWNERS = sql<{ id: string }>(`select u.id from user_roles r join users u on u.id = r.user_id
  where r.organization_id = $1 and r.role = 'owner' and u.disabled_at is null
    and (u.email_verified_at is not null or u.id = '${FIRST_USER}' or u.invited_to = r.organization_id)
  order by r.user_id for update`)
const IS_TAKEN = sql<object>('select 1 from users where email = $1 and id <> $2')
const UPDATE = sql(`update users set email = $2, name = $3, operator = $4, disabled_at = $5, email_verified_at = $6
  where id = $1`)
const REMOVE_ROLE = sql('delete from user_roles where user_id = $1 and organization_id = $2')
/** Before a role or the account is removed. An operator's keys get no limit; those of a user without a role there, and no
 *  earlier one, the least. */
const NOTE_ROLE = sql(`update api_keys set maker_role = case
    when exists (select 1 from users
      where id = $1 and operator and (email_verified_at is not null or id = '${FIRST_USER}'))
    then null else coalesce((select r.role from user_roles r where r.user_id = $1
      and r.organization_id = api_keys.organization_id), maker_role, '${ROLES.at(-1)}') end
  where created_by = $1`)
const REMOVE = [
  sql('delete from totp where user_id = $1'),
  sql('delete from recovery_codes where user_id = $1'),
  sql('delete from passkeys where user_id = $1'),
  sql('delete from user_roles where user_id = $1'),
  sql('delete from user_identities where user_id = $1'),
  sql('delete from users where id = $1'),
]
const WAITING = sql<UserRow>(`select ${USER_COLUMNS} from users u
  where u.email_verified_at is null and u.id <> '${FIRST_USER}' and (u.operator or exists (select 1 from user_roles r
    where r.user_id = u.id and r.organization_id is distinct from u.invited_to))
  order by u.id limit 100`)
const CLEARED = sql<UserRow & { clearedAt: number }>(`select ${USER_COLUMNS}, u.cleared_at as "clearedAt" from users u
  where u.cleared_at > $1 order by u.cleared_at desc limit 100`)

/** People who sign in, with their roles and passwords. Passwords are passed as slow hashes, addresses folded. There is
 *  no cache: a change holds for the next request on every node, also one by the command line beside a server. At least one enabled operator always remains. */
export function userRecords(database: Database) {
  const one = async (statement: Statement<UserRow>, value: string) => {
    const found = await database.row(statement, value)
    return found === null ? null : toUser(found)
  }
  return {
    create: async (user: User, passwordHash: string | null): Promise<'created' | 'email_taken'> =>
      (await database.write(() => addUser(user, passwordHash))) ? 'created' : 'email_taken',
    get: (id: string): Promise<User | null> => one(GET_USER, id),
    findByEmail: (email: string): Promise<User | null> => one(FIND_BY_EMAIL, email),
    /** Enabled operators, oldest first, at most 100. There is always one. */
    operators: async (): Promise<User[]> => (await database.rows(OPERATORS)).map(toUser),
    /** The only user of the installation; null if there are several. */
    only: async (): Promise<User | null> => {
      const [first, second] = await database.rows(FIRST_TWO)
      return first === undefined || second !== undefined ? null : toUser(first)
    },
    /** Newest first; `organizationId`: only those with a role in it. */
    list: async (organizationId: string | null, page: RecordsRequest): Promise<Page<User>> => {
      const range = rangeOf(page)
      const found =
        organizationId === null
          ? await database.rows(LIST, ...range)
          : await database.rows(LIST_OF_ORGANIZATION, ...range, organizationId)
      return toPage(found, page, toUser)
    },
    /** Changes the given fields. A changed address is not verified. Disabling ends the user's sessions and deletes password
     *  resets; the role of operator, once in effect, ends the sessions too. */
    update: (id: string, change: UserChange): Promise<'updated' | 'unknown' | 'email_taken' | 'last_operator'> =>
      database.write(() => update(id, change)),
    /** Sets the role in an organization; null removes it, and the user if no role is left. The user's keys note the role that
     *  was removed (ApiKey.makerRole). `mayRemoveLastOwner`: else the
     *  last enabled owner of the organization stays owner. `too_many` beyond MAX_ROLES. More rights in effect than before
     *  end the user's sessions. */
    setRole: (
      id: string,
      organizationId: string,
      role: Role | null,
      mayRemoveLastOwner: boolean,
    ): Promise<'updated' | 'unknown' | 'last_owner' | 'too_many'> =>
      database.write(() => setRole(id, organizationId, role, mayRemoveLastOwner)),
    /** Deletes the user with roles, sessions and password resets. The user's keys note the last role (ApiKey.makerRole). */
    remove: (id: string): Promise<'removed' | 'unknown' | 'last_operator'> =>
      database.write(function* () {
        if (yield* isLastOperator(id)) return 'last_operator'
        if ((yield* lockedUser(id)) === null) return 'unknown'
        yield* remove(id)
        return 'removed'
      }),
    ...passwordRecords(database),
    /** Users with rights that wait for a verified address, oldest first, at most 100. */
    waiting: async (): Promise<User[]> => (await database.rows(WAITING)).map(toUser),
    /** Users who had something to sign in with that was cleared after that, newest first, at most 100. */
    cleared: async (since: number): Promise<{ user: User; at: number }[]> =>
      (await database.rows(CLEARED, since)).map(({ clearedAt, ...user }) => ({ user: toUser(user), at: clearedAt })),
  }
}

function* update(id: string, change: UserChange): Work<'updated' | 'unknown' | 'email_taken' | 'last_operator'> {
  const isLast = yield* isLastOperator(id)
  const present = yield* lockedUser(id)
  if (present === null) return 'unknown'
  const user = userAfter(present, change)
  if (isLast && (!user.isOperator || user.disabledAt !== null)) return 'last_operator'
  if (user.email !== null && (yield* row(IS_TAKEN, user.email, id)) !== null) return 'email_taken'
  yield* run(UPDATE, id, user.email, user.name, grantsOf(user).isOperator, user.disabledAt, user.emailVerifiedAt)
  if (user.email !== present.email) yield* run(END_RESETS, id)
  if (user.disabledAt !== null || (present.isOperator && !user.isOperator)) yield* endAccess(id, null)
  else if (gains(present, user)) yield* run(END_SESSIONS, id, null)
  return 'updated'
}

function* setRole(
  id: string,
  organizationId: string,
  role: Role | null,
  mayRemoveLastOwner: boolean,
): Work<'updated' | 'unknown' | 'last_owner' | 'too_many'> {
  const isLast = role !== 'owner' && (yield* isLastOwner(id, organizationId))
  const user = yield* lockedUser(id)
  if (user === null) return 'unknown'
  const granted = grantsOf(user)
  if (isLast && granted.roles[organizationId] === 'owner' && !mayRemoveLastOwner) return 'last_owner'
  if (role === null) {
    yield* removeRole(id, granted, organizationId)
    return 'updated'
  }
  if (yield* isFull(granted, organizationId)) return 'too_many'
  yield* run(SET_ROLE, id, organizationId, role)
  yield* endSessionsIfMore(user)
  return 'updated'
}

/** Locks the owners in effect → true if there is no other. */
function* isLastOwner(id: string, organizationId: string): Work<boolean> {
  return (yield* rows(LOCK_OWNERS, organizationId)).every((owner) => owner.id === id)
}

/** Removes the role, and the user if nothing else was granted. */
function* removeRole(id: string, { isOperator, roles }: Grants, organizationId: string): Work<void> {
  yield* run(NOTE_ROLE, id)
  yield* run(REMOVE_ROLE, id, organizationId)
  if (!isOperator && Object.keys(roles).every((each) => each === organizationId)) yield* remove(id)
}

function* remove(id: string): Work<void> {
  yield* run(NOTE_ROLE, id)
  for (const statement of REMOVE) yield* run(statement, id)
  yield* endAccess(id, null)
}
