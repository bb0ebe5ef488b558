import { gains, MAX_ROLES, type Role, type User, userWith } from '../../model/user.ts'
import { type Database, row, run, sql, type Work } from '../sql.ts'
import {
  addUser,
  END_RESETS,
  END_SESSIONS,
  isLastOperator,
  LOCK_USER,
  lockedUser,
  setRoles,
  toUser,
  USER_COLUMNS,
  type UserRow,
} from './user-rows.ts'

interface SignOnRequest {
  stateHash: Uint8Array
  browserHash: Uint8Array
  expiresAt: number
}

/** An account of a provider, by what its ID tokens say. */
interface Identity {
  issuer: string
  subject: string
  createdAt: number
}

export interface Access {
  isOperator: boolean
  /** By organization ID. */
  roles: Readonly<Record<string, Role>>
}

const ADD_REQUEST = sql('insert into sign_on_requests (state_hash, browser_hash, expires_at) values ($1, $2, $3)')
const TAKE_REQUEST = sql(`delete from sign_on_requests
  where state_hash = $1 and browser_hash = $2 and expires_at > $3`)
const USER_OF = sql<UserRow>(`select ${USER_COLUMNS} from user_identities i join users u on u.id = i.user_id
  where i.issuer = $1 and i.subject = $2`)
const LINK = sql(`insert into user_identities (issuer, subject, user_id, created_at)
  select $1, $2, id, $3::bigint from users u where id = $4
    and not exists (select 1 from user_identities where user_id = u.id and issuer = $1) on conflict do nothing`)
const FULL = sql<object>(`select 1 from user_roles where organization_id = any($1::text[]) and user_id <> $2
  group by organization_id having count(*) >= ${MAX_ROLES}`)
const SET_OPERATOR = sql('update users set operator = $2 where id = $1')
const REMOVE_ROLES = sql('delete from user_roles where user_id = $1')

/** Sign-in with accounts of an OpenID Connect provider. */
export function singleSignOnRecords(database: Database) {
  return {
    /** Adds a sign-in that was sent to the provider; hashes are SHA-256. */
    addRequest: ({ stateHash, browserHash, expiresAt }: SignOnRequest): Promise<void> =>
      database.run(ADD_REQUEST, stateHash, browserHash, expiresAt),
    /** Uses the request up. False if it does not exist, has expired, was used, or belongs to another browser; then it stays
     *  as it is. */
    takeRequest: async (stateHash: Uint8Array, browserHash: Uint8Array, now: number): Promise<boolean> =>
      (await database.count(TAKE_REQUEST, stateHash, browserHash, now)) > 0,
    /** The user of an account; null for one that never signed in. */
    userOf: async (issuer: string, subject: string): Promise<User | null> => {
      const found = await database.row(USER_OF, issuer, subject)
      return found === null ? null : toUser(found)
    },
    /** Lets the account sign in as an existing user. False if it belongs to a user already, if another account of the
     *  provider does so, or if the user does not exist. */
    link: (identity: Identity, userId: string): Promise<boolean> =>
      database.write(function* () {
        yield* row(LOCK_USER, userId)
        return yield* link(identity, userId)
      }),
    /** Creates the user and the link to the account. */
    create: (user: User, identity: Identity): Promise<'created' | 'taken' | 'too_many'> =>
      database.write(function* () {
        if ((yield* row(USER_OF, identity.issuer, identity.subject)) !== null) return 'taken'
        if (yield* isFull(user.id, user)) return 'too_many'
        if (!(yield* addUser(user, null))) return 'taken'
        yield* link(identity, user.id)
        return 'created'
      }),
    /** Replaces all roles of the user. More rights in effect than before end the sessions. `last_operator`: the user is the
     *  last enabled operator and would not be one any more. Ends the sessions of a user who is no operator any more, or has
     *  no role left. Nothing changes but for `updated`. */
    setAccess: (userId: string, access: Access): Promise<'updated' | 'unknown' | 'last_operator' | 'too_many'> =>
      database.write(() => setAccess(userId, access)),
  }
}

function* link({ issuer, subject, createdAt }: Identity, userId: string): Work<boolean> {
  return (yield* run(LINK, issuer, subject, createdAt, userId)) > 0
}

/** True if the user cannot have all these roles: there are more than MAX_ROLES, or an organization has as many others. */
function* isFull(userId: string, { roles }: Pick<Access, 'roles'>): Work<boolean> {
  const organizationIds = Object.keys(roles)
  return organizationIds.length > MAX_ROLES || (yield* row(FULL, organizationIds, userId)) !== null
}

function* setAccess(userId: string, access: Access): Work<'updated' | 'unknown' | 'last_operator' | 'too_many'> {
  const isLast = yield* isLastOperator(userId)
  const user = yield* lockedUser(userId)
  if (user === null) return 'unknown'
  const loses = user.isOperator && !access.isOperator
  if (loses && isLast) return 'last_operator'
  if (yield* isFull(userId, access)) return 'too_many'
  yield* run(SET_OPERATOR, userId, access.isOperator)
  yield* run(REMOVE_ROLES, userId)
  yield* setRoles(userId, access.roles)
  const hasNothing = !access.isOperator && Object.keys(access.roles).length === 0
  if (loses || hasNothing) {
    yield* run(END_SESSIONS, userId, null)
    yield* run(END_RESETS, userId)
  } else if (gains(user, userWith(user, access))) yield* run(END_SESSIONS, userId, null)
  return 'updated'
}
